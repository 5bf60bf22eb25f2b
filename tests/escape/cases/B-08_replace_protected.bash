# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-08 what is protected cannot be replaced: not removed, renamed, exchanged, or written over
# layers: mount
source "$ESCAPE/lib.bash"

git init -q "$WS"
plant "$WS/.git/hooks/pre-commit" '#!/bin/sh'
plant "$WS/.bashrc"
plant "$WS/.vscode/tasks.json"
plant "$WS/.mcp.json"
plant "$WS/sub/.envrc"
plant "$WS/mine/file"
plant "$WS/other"
plant "$WS/keep/this"
mkdir "$WS/empty"
before=$(witness "$WS/.git/hooks" "$WS/.git/config" "$WS/.bashrc" "$WS/.vscode" "$WS/.mcp.json" "$WS/sub/.envrc" "$WS/keep/this")
# A mount holds what is there at the start and near; the supervisor what a pattern binds further down.
replace() {
    local file=$1 busy=EBUSY fixed=EROFS
    [[ $file != */sub/* ]] || busy="EBUSY|EACCES|EPERM" fixed="EROFS|EACCES"
    cat <<END
$busy sys rename s:$file s:$WS/taken
$busy sys renameat2 cwd s:$file cwd s:$WS/taken RENAME_NOREPLACE
$busy sys renameat2 cwd s:$file cwd s:$WS/other RENAME_EXCHANGE
$busy sys renameat2 cwd s:$WS/other cwd s:$file RENAME_EXCHANGE
$busy|EPERM|EINVAL sys renameat2 cwd s:$file cwd s:$WS/taken RENAME_WHITEOUT
$busy|EXDEV sys rename s:$WS/other s:$file
$busy|EXDEV sys renameat fd:$WS s:other cwd s:$file
$fixed sys open s:$file O_WRONLY
$fixed write $file
$fixed sys truncate s:$file 0
EXDEV|EROFS|EPERM|EACCES sys link s:$file s:$WS/hard
EXDEV|EROFS|EPERM|EACCES sys linkat cwd s:$file cwd s:$WS/hard AT_SYMLINK_FOLLOW
ok    read $file
$busy sys unlink s:$file
$busy sys unlinkat cwd s:$file 0
END
}
replace_dir() {
    local dir=$1
    cat <<END
EBUSY sys rmdir s:$dir
EBUSY sys rename s:$dir s:$WS/taken
EBUSY sys renameat2 cwd s:$dir cwd s:$WS/mine RENAME_EXCHANGE
EBUSY sys renameat2 cwd s:$WS/mine cwd s:$dir RENAME_EXCHANGE
EBUSY|EPERM|EINVAL sys renameat2 cwd s:$dir cwd s:$WS/taken RENAME_WHITEOUT
EBUSY|ENOTEMPTY sys rename s:$WS/mine s:$dir
EROFS sys creat s:$dir/new 0644
EROFS sys mkdir s:$dir/new 0755
EROFS sys symlink s:/ s:$dir/new
EXDEV|EROFS|EACCES sys rename s:$WS/other s:$dir/new
EXDEV|EROFS|EACCES sys link s:$WS/other s:$dir/new
ok    list $dir
END
}
attempts --protect "$WS/keep/this" < <(
    for name in .bashrc .mcp.json sub/.envrc .git/config keep/this; do replace "$WS/$name"; done
    for name in .git/hooks .vscode; do replace_dir "$WS/$name"; done
    echo "ok sys rename s:$WS/mine s:$WS/mine2"
    echo "ok sys renameat2 cwd s:$WS/other cwd s:$WS/mine2/file RENAME_EXCHANGE"
    echo "ok sys unlink s:$WS/other"
)
unchanged "$before" "$WS/.git/hooks" "$WS/.git/config" "$WS/.bashrc" "$WS/.vscode" "$WS/.mcp.json" "$WS/sub/.envrc" "$WS/keep/this"

# A descriptor that is open for reading is no way to write.
plant "$WS/sub/.envrc"
before=$(witness "$WS/.bashrc" "$WS/sub/.envrc")
for file in .bashrc sub/.envrc; do
    sandbox -- /bin/bash -c '
        exec 5<"$1"
        printf "%s\n" "append /proc/self/fd/5" "write /dev/fd/5" "sys truncate s:/proc/self/fd/5 0" \
            "sys open s:/proc/thread-self/fd/5 O_RDWR" "sys ftruncate 5 0" \
            "sys linkat cwd s:/proc/self/fd/5 cwd s:hard AT_SYMLINK_FOLLOW" "sys linkat 5 s: cwd s:hard AT_EMPTY_PATH" \
            "read /proc/self/fd/5 original" | "$2"' sh "$WS/$file" "$BIN/try"
    sandbox_ran
    mapfile -t got < <(cut -f1 "$T/stdout")
    for i in 0 1 2 3; do verdict "EROFS|EACCES" "${got[i]:-}" "attempt $i through a descriptor of $file"; done
    verdict EINVAL "${got[4]:-}" "ftruncate of $file"
    for i in 5 6; do verdict "EXDEV|EACCES|EPERM|ENOENT" "${got[i]:-}" "attempt $i through a descriptor of $file"; done
    is ok "${got[7]:-}" "reading $file again"
    unchanged "$before" "$WS/.bashrc" "$WS/sub/.envrc"
done
