# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-50 what a pattern denies is denied in a tree that is granted inside of a hidden or closed directory
# layers: mount
source "$ESCAPE/lib.bash"

plant "$WS/apart/shown/key.pem" private
plant "$WS/apart/shown/deep/apart/again/key.pem" private
plant "$WS/apart/shown/plain" original
plant "$WS/apart/rest" private
plant "$WS/unlisted/shown/key.pem" private
plant "$WS/unlisted/shown/plain" original
# From inside, as an earlier command would: its names cannot be listed, but used.
sandbox -- chmod 311 unlisted
sandbox_ran
before=$(witness "$WS/apart")
options=(--deny 'apart' --deny '*.pem' --ro "$WS/apart/shown" --ro "$WS/apart/shown/deep/apart/again"
    --rw "$WS/unlisted/shown")
attempts "${options[@]}" <<END
EACCES read $WS/apart/shown/key.pem
EACCES read $WS/apart/shown/deep/apart/again/key.pem
EACCES|ENOENT read $WS/apart/rest
ok     read $WS/apart/shown/plain original
EACCES read $WS/unlisted/shown/key.pem
ok     append $WS/unlisted/shown/plain
END
unchanged "$before" "$WS/apart"
