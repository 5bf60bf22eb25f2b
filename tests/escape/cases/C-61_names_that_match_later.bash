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

# More at once than the kernel keeps events for: they are lost, and what they were about is not.
if [[ -z ${BAWN_TEST_NESTED:-} ]]; then
    mkdir "$WS/flood"
    soon
    watcher=$(pgrep -P "$(pgrep -P "$(pgrep -P "$RUNNING")")" -f . | while read -r pid; do
        [[ $(cat "/proc/$pid/comm") != "bawn: watch" ]] || echo "$pid"
    done)
    [[ $watcher ]] || escaped "nobody watches"
    kill -STOP "$watcher"
    (cd "$WS/flood" && touch f{1..17000}) # more than fs.inotify.max_queued_events is by default
    plant "$WS/flood/last.pem" private
    mkdir "$WS/flood/dir" && plant "$WS/flood/dir/.env" private
    ask ok "read $WS/flood/last.pem private" # as long as nobody is there to see it
    kill -CONT "$watcher"
    sleep 3
    ask EACCES "read $WS/flood/last.pem"
    ask EACCES "read $WS/flood/dir/.env"
    plant "$WS/flood/dir/key.pem" private
    soon
    ask EACCES "read $WS/flood/dir/key.pem"
fi
over
