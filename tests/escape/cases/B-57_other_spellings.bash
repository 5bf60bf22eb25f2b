# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-57 a protected name in other letters is protected too: where names fold it is the same one
# layers: notify
source "$ESCAPE/lib.bash"

mkdir -p "$WS/sub" "$WS/stage"
plant "$WS/stage/file"
plant "$WS/stage/repo/config" '[core]'
before=$(names "$WS")
make() {
    local at=$1
    cat <<END
EACCES sys creat s:$at 0644
EACCES sys openat2 cwd s:$at how:O_WRONLY|O_CREAT,0644,0 24
EACCES sys symlink s:stage s:$at
EACCES sys link s:$WS/stage/file s:$at
EACCES sys mknod s:$at S_IFIFO|0644 0
EACCES|EXDEV sys rename s:$WS/stage/file s:$at
END
}
attempts < <(
    for name in .Bashrc .MCP.json .VSCode sub/.ENVRC sub/.GIT .GiT $'.v\u017fcode' $'sub/.g\u200cit' sub/X.CODE-workspace; do
        make "$WS/$name"
    done
    cat <<END
EXDEV  sys rename s:$WS/stage/repo s:$WS/sub/.GIT
EXDEV  sys rename s:$WS/stage/repo s:$WS/sub/.Cargo
EXDEV  sys rename s:$WS/stage/repo s:$WS/sub/X.Git
EACCES sys symlink s:../stage/repo s:$WS/sub/.Cargo
ok     sys mkdir s:$WS/sub/.GIT 0755
EACCES sys creat s:$WS/sub/.GIT/Config 0644
EACCES sys mkdir s:$WS/sub/.GIT/HOOKS 0755
ok     sys creat s:$WS/sub/.GIT/HEAD 0644
ok     sys unlink s:$WS/sub/.GIT/HEAD
ok     sys rmdir s:$WS/sub/.GIT
ok     sys creat s:$WS/README 0644
ok     sys unlink s:$WS/README
END
)
equal "$before" "$(names "$WS")" "names in the workspace"
for name in .Bashrc sub/.GIT/config; do
    (cd "$WS" && "$BAWN" check write "$name" >/dev/null 2>&1) && escaped "check allows writing $name"
done
CHECKED=$((CHECKED + 1))
