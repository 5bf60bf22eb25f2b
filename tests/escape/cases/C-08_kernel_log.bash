# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-08 the kernel's log is out of reach
# layers: seccomp mount
source "$ESCAPE/lib.bash"

attempts <<END
EPERM  sys syslog 2 buf 0
EPERM  sys syslog 3 buf 100
EPERM  sys syslog 10 null 0
EPERM  sys syslog 8 null 99
ENOENT sys open s:/dev/kmsg O_RDONLY|O_NONBLOCK
ENOENT sys open s:/dev/kmsg O_WRONLY
ENOENT|EACCES sys open s:/proc/kmsg O_RDONLY|O_NONBLOCK
ok     sys open s:/dev/null O_WRONLY
END
