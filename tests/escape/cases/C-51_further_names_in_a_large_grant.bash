# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-51 further names of something hidden are held in the workspace although all of the disk is granted
# layers: mount
# seconds: 60
source "$ESCAPE/lib.bash"

plant "$WS/secret" private
plant "$WS/plain" original
ln "$WS/secret" "$WS/zz"
before=$(witness "$WS/secret")
attempts --ro / --deny "$WS/secret" <<END
EACCES read $WS/secret
EACCES read $WS/zz
ok     read $WS/plain original
ok     append $WS/plain
END
unchanged "$before" "$WS/secret"
