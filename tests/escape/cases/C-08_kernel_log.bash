# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-08 the kernel's log is out of reach
# layers: mount
source "$ESCAPE/lib.bash"

# Where dmesg_restrict is set the kernel says of syslog what the filter says, so its loss goes unseen.
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

# The same device in the workspace, where only root can put it.
if mknod "$WS/log" c 1 11 2>/dev/null; then
    chmod 666 "$WS/log"
    attempts <<END
EACCES sys open s:$WS/log O_RDONLY|O_NONBLOCK
EACCES sys open s:$WS/log O_WRONLY
END
fi
