# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-40 sockets of services in the system's read-only trees are out of reach, those made later too
# layers: mount
# seconds: 60
# not: nested, the outer sandbox shuts the same places
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

own_mounts "$0"
for place in opt srv; do
    mkdir -p "$T/$place/x"
    mount --bind "$T/$place" "/$place"
    plant "/$place/x/file"
done

# listen FILE NAME...: on the host, until the case ends.
listen() {
    local to=$1
    shift
    "$BIN/e_listen" "$@" >"$to" 2>/dev/null &
    at_end "kill $!"
    wait_for 5 grep -q ready "$to" || broken "no listener at $*"
}
dead='ECONNREFUSED|EACCES|ENOENT'
listen "$T/reached" /opt/x/s /opt/x/d:dgram /opt/x/q:seqpacket /srv/x/s /srv/x/d:dgram
ln -s /opt/x/s "$WS/link"

# There before the start; by every name, by connecting and by sending.
sandbox -- "$BIN/e_connect" /opt/x/s /opt/x/d:dgram /opt/x/q:seqpacket link /proc/self/root/opt/x/s
sandbox_ran
for name in /opt/x/s /opt/x/d:dgram /opt/x/d:dgram-sendto /opt/x/q:seqpacket link \
    /proc/self/root/opt/x/s; do
    answers <<<"$dead $name"
done
sandbox --reads static -- "$BIN/e_connect" /opt/x/s /srv/x/s /srv/x/d:dgram
sandbox_ran
for name in /opt/x/s /srv/x/s /srv/x/d:dgram /srv/x/d:dgram-sendto; do
    answers <<<"$dead $name"
done
sandbox --ro /srv/x -- "$BIN/e_connect" /srv/x/s
sandbox_ran
answers <<<"$dead /srv/x/s"
# The answer of the policy is the kernel's.
for name in /opt/x/s /srv/x/s; do
    "$BAWN" check --reads static -C "$WS" connect "unix:$name" >/dev/null 2>&1
    is 1 $? "what check says of $name"
done

# Made while it runs.
# shellcheck disable=SC2016
sandbox --reads static -- sh -c 'ls /opt/x /srv/x >seen; echo >started
    while [ ! -e go ]; do sleep 0.05; done
    "$0/e_connect" /opt/x/late /opt/x/new/late /srv/x/late /srv/x/late-d:dgram' "$BIN" &
run=$!
wait_for 10 test -e "$WS/started" || broken "it did not start"
mkdir /opt/x/new
listen "$T/reached-late" /opt/x/late /opt/x/new/late /srv/x/late /srv/x/late-d:dgram
touch "$WS/go"
wait "$run"
for name in /opt/x/late /opt/x/new/late /srv/x/late /srv/x/late-d:dgram \
    /srv/x/late-d:dgram-sendto; do
    answers <<<"$dead $name"
done

# Where something is mounted below: entry by entry.
mkdir -p /srv/below /srv/y/z
mount -t tmpfs -o mode=777 below /srv/below
listen "$T/reached-below" /srv/s /srv/below/s /srv/y/z/s
sandbox --reads static -- "$BIN/e_connect" /srv/s /srv/below/s /srv/y/z/s /srv/x/s
sandbox_ran
for name in /srv/s /srv/below/s /srv/y/z/s /srv/x/s; do
    answers <<<"$dead $name"
done
equal ready "$(cat "$T/reached" "$T/reached-late" "$T/reached-below" | sort -u)" \
    "what the host's sockets saw"

# All else is there, and a socket that is named in the policy works.
attempts --reads static <<END
ok    read /opt/x/file original
ok    read /srv/x/file original
ok    stat /opt/x/s
EROFS append /opt/x/file
END
granted=(--reads static --set sandbox.network.unix_sockets=/opt/x/s)
sandbox "${granted[@]}" -- "$BIN/e_connect" /opt/x/s /opt/x/d:dgram
sandbox_ran
answers <<END
ok /opt/x/s
$dead /opt/x/d:dgram
END
"$BAWN" check "${granted[@]}" -C "$WS" connect unix:/opt/x/s >/dev/null 2>&1
is 0 $? "what check says of the one that is granted"
is 1 "$(grep -c '^reached /opt/x/s' "$T/reached")" "what the granted one saw"
cd / && umount -l /srv/below /srv /opt
