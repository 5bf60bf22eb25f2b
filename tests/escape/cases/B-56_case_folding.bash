# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-56 no directory is made to fold case, in which .GIT would be .git; other flags are set as ever
# layers: notify
source "$ESCAPE/lib.bash"

mkdir "$WS/dir"
plant "$WS/file"
plant "$WS/native"
before=$(lsattr -d "$WS/dir" | cut -d' ' -f1)
# FS_IOC_SETFLAGS with all of the bits 0x40, and with the one for case folding alone.
attempts <<END
EPERM sys ioctl rd:$WS/dir 0x40086602 s:@@@@
EPERM sys ioctl rd:$WS/file 0x40086602 s:@@@@
EPERM sys ioctl rd:$WS/dir 0xdeadbeef40086602 s:@@@@
EFAULT sys ioctl rd:$WS/dir 0x40086602 8
EBADF sys ioctl fd:$WS/dir 0x40086602 s:@@@@
ok    sys ioctl rd:$WS/dir 0x80086601 buf
END
equal "$before" "$(lsattr -d "$WS/dir" | cut -d' ' -f1)" "the flags of the directory"
sandbox -- chattr +F dir
equal 1 "$STATUS" "chattr +F"
is yes "$(grep -q 'not permitted' "$T/stderr" && echo yes)" "what chattr says: $(head -n1 "$T/stderr")"
# The other side, where the file system has a flag to set.
if chattr +d "$WS/native" 2>/dev/null; then
    sandbox -- chattr +d file dir
    sandbox_ran
    is "$(lsattr "$WS/native" | cut -d' ' -f1)" "$(lsattr "$WS/file" | cut -d' ' -f1)" "a flag that may be set"
fi
