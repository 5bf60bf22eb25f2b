# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-01 nothing outside the writable roots can be made, changed or removed, by any system call
# layers: mount
source "$ESCAPE/lib.bash"

changes_plant "$OUT/tree"
changes_plant "$WS/tree"
before=$(witness "$OUT" "$HOME")

# A tree that is granted for reading: by name, through /proc, through descriptors.
attempts --ro "$OUT" < <(changes "$OUT/tree" | wanted EROFS)
attempts --ro "$OUT" < <(changes "/proc/self/root$OUT/tree" | wanted EROFS)
# The other side.
attempts --ro "$OUT" < <(changes "$WS/tree" | wanted ok)
unchanged "$before" "$OUT" "$HOME"

# The system, the home, the root itself.
# Names and contents; others on the machine may touch times.
system() {
    witness /etc/passwd /etc/hostname "$HOME"
    find / /etc /usr /usr/bin -maxdepth 1 | sort | sha256sum
}
before=$(system)
attempts <<END
EROFS|EACCES sys open s:/etc/passwd O_WRONLY|O_TRUNC
EROFS sys creat s:/etc/bawn-escape 0644
EROFS sys mkdir s:/etc/bawn-escape 0755
EROFS sys unlink s:/etc/hostname
EROFS sys rename s:/etc/hostname s:/etc/bawn-escape
EROFS sys symlink s:/ s:/etc/bawn-escape
EROFS sys mknod s:/etc/bawn-escape S_IFIFO|0644 0
EROFS sys creat s:/usr/bin/bawn-escape 0755
EROFS sys creat s:/bawn-escape 0644
EROFS sys mkdir s:/bawn-escape 0755
EROFS|EBUSY sys rename s:/etc s:/bawn-escape
any sys creat s:$HOME/bawn-escape 0644
any sys mkdir s:$HOME/.ssh 0755
any sys creat s:$T/bawn-escape 0644
END
equal "$before" "$(system)" "the system's own files"
