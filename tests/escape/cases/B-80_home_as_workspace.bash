# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-80 where the home is the workspace, what common programs load at each start stays unwritable
# layers: mount+notify notify
# seconds: 60
# not: nested, mounts of its own are needed
source "$ESCAPE/lib.bash"
own_mounts "$0"

own_passwd "$WS"
export HOME=$WS
unset XDG_CACHE_HOME XDG_STATE_HOME
names=(.local/lib/python3.13/site-packages/x.pth .direnvrc .selected_editor .config/bash_completion
    .config/hg/hgrc .jjconfig.toml .zinit/x .p10k.zsh .bash_it/x .local/share/nvim/lazy/x .gvimrc
    .vscode-server/cli/x .config/alacritty/x .config/containers/x .config/awesome/rc.lua
    .rustup/toolchains/x .nvm/versions/x .local/share/pnpm/x .forward .bashrc .ssh/rc .local/bin/x
    .config/systemd/user/x .config/autostart/x .config/git/config .local/state/bawn/x)
# By other spellings too: a link to the home, another name of the directory.
ln -s . "$WS/here"
plant "$WS/file"
for there in absent present; do
    for name in "${names[@]}"; do
        [[ $there == absent ]] || plant "$WS/$name"
        # What is asked and what happens are the same.
        "$BAWN" check -C "$WS" write "$WS/$name" >/dev/null 2>&1 && escaped "check says that $name may be written"
    done
    # shellcheck disable=SC2016
    sandbox -- bash -c '
        for name; do
            for way in "$name" "here/$name" "/proc/self/cwd/$name" "/proc/self/root$PWD/$name" "./here/../${PWD##*/}/here/$name"; do
                mkdir -p "${way%/*}"
                echo escaped >"$way" && echo "$way"
                mv -T file "$way" && echo "$way (moved)"
                ln -sT "$PWD/file" "$way" && echo "$way (link)"
            done 2>/dev/null
        done; echo tried' - "${names[@]}"
    sandbox_ran
    equal tried "$(cat "$T/stdout")" "what could be written ($there)"
    equal "" "$(cd "$WS" && grep -rlx escaped "${names[@]}" 2>/dev/null)" "what was written ($there)"
    [[ $there == absent ]] ||
        equal "" "$(cd "$WS" && grep -Lx original "${names[@]}" 2>&1)" "what is not as it was"
done
attempts <<<"ok append $WS/file"
