# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-31 every entry of the built-in list is unwritable in a workspace, there or not, at any depth
# layers: mount notify
# seconds: 60
source "$ESCAPE/lib.bash"

mapfile -t list < <(protected_names)
((${#list[@]} > 80)) || broken "only ${#list[@]} entries were found in the list"
for name in .bashrc .profile .zshrc .gitconfig .gitmodules .mcp.json .vscode .idea .claude .codex \
    .cursor .envrc .ripgreprc; do
    [[ " ${list[*]} " == *" $name "* ]] || broken "$name is not in the list"
done

# Not there: at the top and further down. Their parents are.
for name in "${list[@]}"; do
    mkdir -p "$WS/$(dirname "$name")" "$WS/sub/$(dirname "$name")"
done
before=$(names "$WS")
attempts < <(
    for name in "${list[@]}"; do
        echo "EROFS|EACCES sys creat s:$WS/$name 0644"
        echo "EROFS|EACCES sys mkdir s:$WS/sub/$name 0755"
    done
    echo "ok sys creat s:$WS/free 0644"
)
rm -f "$WS/free"
equal "$before" "$(names "$WS")" "names in the workspace"

# There, as a file and as a directory. A policy must be one: .bawn is tried elsewhere.
for name in "${list[@]}"; do
    [[ $name != .bawn ]] || continue
    plant "$WS/$name"
    plant "$WS/sub/$name/inner"
done
before=$(witness "$WS")
attempts < <(
    for name in "${list[@]}"; do
        [[ $name != .bawn ]] || continue
        echo "EROFS|EACCES append $WS/$name"
        echo "EROFS|EACCES sys creat s:$WS/sub/$name/new 0644"
        echo "EROFS|EACCES append $WS/sub/$name/inner"
        echo "EBUSY|EACCES|EPERM sys unlink s:$WS/$name"
        echo "EBUSY|EACCES|EPERM sys rename s:$WS/sub/$name s:$WS/sub/gone"
        # What the list names without a pattern is a mount: not even its mode changes.
        case $name in
        */one/* | */deep/* | bare* | any* | .bawn-*) ;;
        *) echo "EROFS sys chmod s:$WS/$name 0777" ;;
        esac
    done
)
unchanged "$before" "$WS"
attempts <<<"ok write $WS/free"
