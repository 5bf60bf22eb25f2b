# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-62 a listed secret that appears while a command runs is masked in a home that is granted, or is the workspace
# layers: mount
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/late.bash"

# appear OPTION...
appear() {
    begin "$@"
    mkdir "$HOME/.aws" && plant "$HOME/.aws/credentials" private
    plant "$HOME/.config/gcloud/credentials.db" private
    mkdir -p "$T/ssh" && plant "$T/ssh/id_ed25519" private && mv "$T/ssh" "$HOME/.ssh"
    plant "$HOME/plain"
    soon
    ask EACCES "read $HOME/.aws/credentials"
    ask EACCES "list $HOME/.aws"
    ask EACCES "read $HOME/.config/gcloud/credentials.db"
    ask EACCES "read $HOME/.ssh/id_ed25519"
    ask ok "read $HOME/plain original"
    over
    rm -rf "$HOME/.aws" "$HOME/.config" "$HOME/.ssh" "$HOME/plain"
}
appear --rw "$HOME"
appear --ro "$HOME"
WS=$HOME
cd "$WS" || exit 1
appear

# The workspace somewhere else inside.
begin --workspace-mount /workspace --deny "$WS/key" --deny '*.pem'
plant "$WS/key" private
plant "$WS/new/key.pem" private
soon
ask EACCES "read /workspace/key"
ask EACCES "read /workspace/new/key.pem"
over

plant "$OUT/shown/plain"
begin --ro "$OUT/shown" --deny "$OUT/shown/key"
plant "$OUT/shown/key" private
soon
ask EACCES "read $OUT/shown/key"
ask ok "read $OUT/shown/plain original"
over
