# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-61 what a pattern denies and is made outside while a command runs is masked, in new directories too
# layers: mount
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/late.bash"

plant "$WS/old/deep/plain"
begin --deny .env --deny '*.pem'
plant "$WS/old/deep/.env" private
plant "$WS/new/deeper/still/.env" private
mkdir -p "$T/tree/a/b" && plant "$T/tree/a/b/key.pem" private && plant "$T/tree/a/plain"
mv "$T/tree" "$WS/tree"
mkdir "$WS/empty"
ln -s old/deep/plain "$WS/.env"
soon
plant "$WS/empty/key.pem" private
soon
for name in old/deep/.env new/deeper/still/.env tree/a/b/key.pem .env empty/key.pem; do
    ask EACCES "read $WS/$name"
done
ask ok "read $WS/tree/a/plain original"

# Made inside, filled outside.
ask ok "sys mkdir s:$WS/inside 0755"
soon
plant "$WS/inside/.env" private
soon
ask EACCES "read $WS/inside/.env"

# Many at once.
mkdir "$WS/many"
for i in {1..100}; do
    mkdir "$WS/many/$i"
    for j in {1..10}; do echo private >"$WS/many/$i/$j.pem"; done
done
soon
soon
for i in 1 37 99 100; do
    ask EACCES "read $WS/many/$i/1.pem"
    ask EACCES "read $WS/many/$i/10.pem"
done
over
