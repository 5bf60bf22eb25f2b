# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-33 no file with a set-id bit is left for others to run with the caller's rights
# layers: seccomp notify
source "$ESCAPE/lib.bash"

plant "$WS/program"
attempts <<END
EPERM sys chmod s:$WS/program 04755
EPERM sys chmod s:$WS/program 02755
EPERM sys fchmod rd:$WS/program 04755
EPERM sys fchmodat cwd s:$WS/program 06755 0
EPERM sys 452 cwd s:$WS/program 04755 0
EPERM sys open s:$WS/new O_WRONLY|O_CREAT 04755
EPERM sys creat s:$WS/new 02755
EPERM sys openat cwd s:$WS/new O_RDWR|O_CREAT|O_EXCL 06755
EPERM sys openat2 cwd s:$WS/new how:O_WRONLY|O_CREAT,04755,0 24
EPERM sys mknod s:$WS/new 0104755 0
ok    sys chmod s:$WS/program 0755
ok    sys chmod s:$WS/program 01755
END
equal "" "$(find "$WS" -perm /06000)" "files with a set-id bit"
[ -e "$WS/new" ] && escaped "a file was made"
true
