# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-81 where a file system gives .git a short name as well, that name is no way to what is protected
# layers: notify
# only: root
# when: test -w /dev/fuse && command -v python3 >/dev/null
# not: nested, mounts of its own are needed
source "$ESCAPE/lib.bash"
own_mounts "$0"

for name in .git/config .git/hooks/pre-commit sub/.git/config sub/.git/hooks/pre-commit sub/.envrc file; do
    plant "$T/real/$name"
done
mkdir "$T/shown"
python3 "$ESCAPE/shim/shortnames" "$T/real" "$T/shown" || skip "no FUSE here"
at_end "umount -l '$T/shown'"
WS=$T/shown
is original "$(cat "$WS/sub/GIT~1/config")" "the short name leads there"
before=$(witness "$T/real/.git" "$T/real/sub")
# The file system cannot map ids.
attempts --as-root <<END
EACCES|EROFS append $WS/sub/.git/config
EACCES append $WS/sub/GIT~1/config
EACCES append $WS/sub/GIT~1/hooks/pre-commit
EACCES sys creat s:$WS/sub/GIT~1/hooks/new 0755
EACCES sys truncate s:$WS/sub/GIT~1/config 0
EACCES append $WS/sub/ENVRC~1
EACCES append $WS/GIT~1/config
EACCES sys mkdir s:$WS/GIT~1/hooks/new 0755
EBUSY|EACCES sys unlink s:$WS/sub/GIT~1/config
EACCES sys openat fd:$WS/sub/GIT~1 s:config O_WRONLY 0
ok append $WS/file
ok sys creat s:$WS/file.~1~ 0644
ok sys creat s:$WS/a_1.0~1.deb 0644
END
unchanged "$before" "$T/real/.git" "$T/real/sub"
# Elsewhere such a name is like any other.
WS=$T/ws
attempts <<<"ok sys mkdir s:$WS/GIT~1 0755"
