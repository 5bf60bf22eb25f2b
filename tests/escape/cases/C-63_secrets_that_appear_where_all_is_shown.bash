# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-63 a secret that appears while a command runs is masked where all that is not denied is shown
# layers: mount
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/late.bash"

# /tmp is private: so the home is elsewhere, where everybody may pass.
for place in "$(getent passwd "$(id -u)" | cut -d: -f6)" /home /mnt; do
    [[ -w $place && $(stat -c %a "$place") == *[1357] ]] || continue
    HOME=$(mktemp -d "$place/bawn-escape.XXXXXX") && break
done
[[ $HOME != "$T/home" ]] || skip "no directory outside of /tmp that everybody may pass"
at_end "rm -rf '$HOME'"
chmod 755 "$HOME"
begin --set sandbox.reads=static --deny "$HOME/work/**/*.pem" --deny "$HOME/named"
mkdir "$HOME/.aws" && plant "$HOME/.aws/credentials" private
plant "$HOME/.config/gcloud/credentials.db" private
plant "$HOME/work/deep/key.pem" private
plant "$HOME/named" private
plant "$HOME/plain"
soon
ask EACCES "read $HOME/.aws/credentials"
ask EACCES "read $HOME/.config/gcloud/credentials.db"
ask EACCES "read $HOME/work/deep/key.pem"
ask EACCES "read $HOME/named"
ask ok "read $HOME/plain original"
over
