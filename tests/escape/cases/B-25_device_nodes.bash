# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-25 no device can be made, and one that lies in the workspace cannot be opened
# layers: mount seccomp
source "$ESCAPE/lib.bash"

plant "$WS/file"
attempts <<END
EPERM sys mknod s:$WS/chr S_IFCHR|0666 0x103
EPERM sys mknod s:$WS/blk S_IFBLK|0666 0x700
EPERM sys mknodat cwd s:$WS/chr S_IFCHR|0666 0x103
EPERM sys mknodat fd:$WS s:white S_IFCHR 0
EPERM sys mknod s:$WS/white S_IFCHR 0
EPERM sys mknod s:/tmp/chr S_IFCHR|0666 0x103
EPERM|EROFS sys mknod s:/dev/chr S_IFCHR|0666 0x103
EPERM|EINVAL sys renameat2 cwd s:$WS/file cwd s:$WS/file2 RENAME_WHITEOUT
ok    sys mknod s:$WS/fifo S_IFIFO|0666 0
ok    sys open s:/dev/null O_RDWR
ok    sys open s:/dev/zero O_RDONLY
END
equal "fifo file" "$(find "$WS" -mindepth 1 -printf '%f\n' | sort | xargs)" "names in the workspace"

# Only root can put one there.
if mknod "$WS/null" c 1 3 2>/dev/null; then
    chmod 666 "$WS/null"
    attempts <<END
EACCES sys open s:$WS/null O_RDONLY
EACCES sys open s:$WS/null O_WRONLY
EACCES sys open s:/proc/self/cwd/null O_RDWR
EACCES sys openat fd:$WS s:null O_RDWR|O_CREAT 0666
END
fi
