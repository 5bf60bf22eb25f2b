# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-33 root's command owns root's files in an overlay: what is secret there is masked, whatever its mode
# layers: launch
# no mutant: there the tree is an overlay itself, whose ids cannot be mapped
# only: root
# not: nested, no layer is kept in another sandbox
source "$ESCAPE/lib.bash"

at_end '"$BAWN" discard "C-33-$$"'
before=$(witness /etc/shadow /etc/gshadow)
attempts --overlay /etc --session "C-33-$$" <<END
EACCES read /etc/shadow
EROFS  write /etc/shadow
EACCES read /etc/gshadow
EACCES list /etc/ssl/private
EBUSY  sys rename s:/etc/shadow s:/etc/moved
ok     write /etc/C-33
ok     read /etc/services
END
unchanged "$before" /etc/shadow /etc/gshadow
[[ ! -e /etc/C-33 ]] || escaped "what was written to the overlay is in the tree"
