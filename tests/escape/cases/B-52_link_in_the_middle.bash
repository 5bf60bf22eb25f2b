# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-52 nothing is written under a protected name through a link in the middle of a path, and check says so
# layers: notify
source "$ESCAPE/lib.bash"

mkdir -p "$WS/real" "$WS/gd/hooks" "$WS/gd/info" "$WS/sub" "$WS/deep/er" "$WS/plain" "$WS/bare/hooks"
plant "$WS/real/settings.json"
plant "$WS/gd/config"
plant "$WS/gd/hooks/old"
plant "$WS/free"
ln -s ../real "$WS/sub/.claude"
ln -s ../gd "$WS/sub/.git"
ln -s "$WS/bare" "$WS/sub/x.git"
ln -s sub/.git "$WS/chain"
ln -s ../chain "$WS/plain/chain2"
ln -s sub/.git/config "$WS/last"
ln -s ../deep/er "$WS/gd/up"
before=$(witness "$WS/real" "$WS/gd/config" "$WS/gd/hooks" "$WS/gd/info" "$WS/bare")

# Every call that takes a path, by every way there. A line: VERDICT, whether check allows it too.
ways=(sub/.git/config sub/.git/hooks/old sub/.claude/settings.json chain/config plain/chain2/hooks/old last
    sub/./.git/hooks/../config plain/../sub/.git/config)
attempts < <(
    for way in "${ways[@]}"; do
        for path in "$WS/$way" "/proc/self/cwd/$way" "$way"; do
            cat <<END
EACCES sys open s:$path O_WRONLY
EACCES sys open s:$path O_RDONLY|O_TRUNC
EACCES sys open s:$path O_RDWR|O_CREAT 0644
EACCES sys openat2 cwd s:$path how:O_WRONLY,0,0 24
EACCES sys truncate s:$path 0
EACCES sys chmod s:$path 0600
EACCES sys setxattr s:$path s:user.x s:y 1 0
ok     read $path
END
        done
        [[ $way == last ]] || cat <<END
EACCES|EXDEV sys openat2 fd:$WS s:$way how:O_WRONLY,0,RESOLVE_BENEATH 24
EACCES sys openat2 fd:$WS s:/$way how:O_WRONLY,0,RESOLVE_IN_ROOT 24
EACCES sys openat2 fd:$WS s:$way how:O_WRONLY,0,RESOLVE_NO_XDEV 24
EACCES sys link s:$WS/$way s:$WS/stolen
EBUSY  sys unlink s:$WS/$way
EBUSY  sys rename s:$WS/$way s:$WS/stolen
EBUSY  sys rename s:$WS/free s:$WS/$way
EBUSY  sys renameat2 cwd s:$WS/free cwd s:$WS/$way RENAME_EXCHANGE
END
    done
    for path in "$WS/sub/.git/hooks/new" "$WS/chain/hooks/new" "$WS/sub/.git/info/attributes" \
        "$WS/sub/.claude/new" "$WS/sub/x.git/hooks/new" "$WS/sub/x.git/config" sub/.git/commondir; do
        cat <<END
EACCES sys creat s:$path 0644
EACCES sys openat fd:$WS s:$path O_WRONLY|O_CREAT|O_EXCL 0644
EACCES sys openat2 cwd s:$path how:O_WRONLY|O_CREAT,0644,0 24
EACCES|EXDEV sys openat2 cwd s:$path how:O_WRONLY|O_CREAT,0644,RESOLVE_NO_XDEV 24
EACCES sys mkdir s:$path 0755
EACCES sys mknod s:$path S_IFIFO|0644 0
EACCES sys symlink s:x s:$path
EACCES sys link s:$WS/free s:$path
EACCES sys rename s:$WS/free s:$path
END
    done
    cat <<END
ok     sys symlink s:../sub/.git s:$WS/plain/late
EACCES sys creat s:$WS/plain/late/hooks/new 0644
EACCES sys creat s:$WS/plain/late/config.worktree 0644
ok     sys creat s:$WS/plain/late/HEAD 0644
ok     sys creat s:$WS/sub/.git/description 0644
ok     sys creat s:$WS/sub/.git/../made 0644
ok     sys creat s:$WS/sub/.git/up/made 0644
ok     sys openat2 fd:$WS s:/sub/.git/packed-refs how:O_WRONLY|O_CREAT,0644,RESOLVE_IN_ROOT 24
END
)
unchanged "$before" "$WS/real" "$WS/gd/config" "$WS/gd/hooks" "$WS/gd/info" "$WS/bare"

# One truth: what was tried above, asked.
for way in "${ways[@]}" sub/.git/hooks/new sub/.git/info/attributes sub/x.git/config sub/.git/description \
    sub/.git/../made chain/HEAD; do
    answer=allow
    (cd "$WS" && "$BAWN" check write "$way" >/dev/null 2>&1) || answer=deny
    case $way in
        *description | *made | *HEAD) is allow "$answer" "check write $way" ;;
        *) equal deny "$answer" "check write $way" ;;
    esac
done
