# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-65 what a command is lent while it is observed has no secret in it, and cannot be written
# layers: mount
source "$ESCAPE/lib.bash"

plant "$HOME/.ssh/id" hunter2
plant "$HOME/.aws/credentials" hunter2
plant "$HOME/.config/gh/hosts.yml" hunter2
plant "$HOME/dir/closed" hunter2
plant "$HOME/dir/fine" hunter2
plant "$HOME/lent" hunter2
plant "$WS/.env" hunter2
ln -s .ssh/id "$HOME/link"
ln -s "$HOME/.aws" "$HOME/dir/way"
before=$(witness "$HOME")
attempts --set sandbox.process.observe=true --deny .env --deny "$HOME/dir/closed" <<END
EACCES|ENOENT read $HOME/.ssh/id
EACCES|ENOENT read $HOME/.aws/credentials
EACCES|ENOENT read $HOME/.config/gh/hosts.yml
EACCES|ENOENT read $HOME/link
EACCES|ENOENT read $HOME/dir/way/credentials
EACCES|ENOENT read /proc/self/root$HOME/.ssh/id
EACCES|ENOENT in $HOME read .ssh/id
EACCES|ENOENT in $HOME/dir read ../.ssh/id
EACCES|ENOENT list $HOME/.ssh
EACCES        read $HOME/dir/closed
EACCES        read $WS/.env
EACCES        read /etc/shadow
EROFS|EACCES  sys open s:$HOME/lent O_WRONLY|O_TRUNC
EROFS|EACCES|EBUSY sys unlink s:$HOME/lent
EROFS|EACCES|EBUSY sys rename s:$HOME/dir/fine s:$HOME/dir/moved
EROFS|EACCES|EXDEV sys link s:$HOME/dir/fine s:$WS/hard
ok            read $HOME/lent hunter2
ok            read $HOME/dir/fine hunter2
ok            write $HOME/own
ok            write $WS/allowed
END
unchanged "$before" "$HOME"
# A project's policy cannot bring it about.
mkdir -p "$WS/.bawn"
printf 'version: 1\nsandbox:\n  process: {observe: true}\n' >"$WS/.bawn/policy.yaml"
attempts <<END
EACCES|ENOENT read $HOME/lent
ok            write $WS/allowed
END
