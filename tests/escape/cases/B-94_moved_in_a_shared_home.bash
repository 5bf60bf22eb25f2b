# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2088 # the shells inside expand the tilde
# B-94 a sandbox that shares the kept home moves a grant of another's: what is protected in it stays so
# layers: notify
# not: nested, where no home is kept
source "$ESCAPE/lib.bash"

keep=(--set sandbox.home=keep)
mine=$("$BAWN" plan -C "$WS" "${keep[@]}" 2>/dev/null | sed -n 's/.* kept .*, which is //p')
at_end "rm -rf '${mine:-$T/none}'"
mkdir -p "$HOME/tool/deep/.git/hooks"
plant "$HOME/tool/deep/file"
plant "$HOME/tool/deep/.git/config"
plant "$HOME/.claude.json"
mkfifo "$WS/ready" "$WS/go"

# The first one has no grant below the home, so nothing keeps it from moving the way to one.
move() { # TO
    read -r _ <"$WS/ready"
    "$BAWN" run -C "$WS" "${keep[@]}" -- bash -c "mkdir -p ~/.config; mv ~/tool $1"
    echo >"$WS/go"
}
before=$(witness "$HOME/tool/deep/.git")
for to in '~/moved' '~/.claude.json' '~/.config/moved'; do
    move "$to" &
    sandbox "${keep[@]}" --rw "$HOME/tool/deep" --copy "$HOME/.claude.json" -- bash -c "
        cd ~/tool/deep; echo >$WS/ready; read -r _ <$WS/go
        for there in . $to/deep ~/tool/deep /proc/self/cwd; do
            [[ -e \$there/file ]] && echo reached
            mkdir -p \$there/.vscode; echo x >\$there/.vscode/tasks.json; echo x >>\$there/.git/config; echo x >\$there/.git/hooks/x
            echo x >\$there/.bashrc; mv \$there/file \$there/.gitmodules; ln \$there/file \$there/.envrc; mkdir \$there/.claude
        done 2>/dev/null; true"
    wait
    is reached "$(sort -u "$T/stdout")" "whether the moved grant was there"
    equal "" "$(cd "$HOME/tool/deep" && find . -newer "$WS/ready" \( -path './.vscode/*' -o -name .bashrc -o -name .gitmodules -o -name .envrc -o -name .claude -o -path './.git/*' \))" "what was made ($to)"
    unchanged "$before" "$HOME/tool/deep/.git"
    rm -rf "$mine"
done
