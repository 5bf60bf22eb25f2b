# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-90 a socket is out of reach in what may only be read, though it lies in a tree that may be written
# layers: mount
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

mkdir -p "$WS/dir/read/deep" "$WS/dir/kept" "$WS/dir/own"
plant "$WS/dir/read/file" original
"$BIN/e_listen" "$WS/dir/read/s" "$WS/dir/read/deep/s" "$WS/dir/kept/s" "$WS/dir/own/s" >"$T/reached" 2>/dev/null &
listener=$!
at_end "kill $listener"
wait_for 5 grep -q ready "$T/reached" || broken "no listener"
options=(--ro "$WS/dir/read" --protect dir/kept)
sandbox "${options[@]}" -- "$BIN/e_connect" "$WS/dir/read/s" "$WS/dir/read/deep/s" "$WS/dir/kept/s" "$WS/dir/own/s"
sandbox_ran
answers <<END
EACCES $WS/dir/read/s
EACCES $WS/dir/read/deep/s
EACCES $WS/dir/kept/s
ok     $WS/dir/own/s
END
attempts "${options[@]}" <<END
ok    read $WS/dir/read/file original
EROFS write $WS/dir/read/file
END
for name in read/s read/deep/s kept/s; do
    "$BAWN" check -q -C "$WS" "${options[@]}" connect "unix:$WS/dir/$name" >/dev/null
    is 1 $? "check denies dir/$name"
done
