# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-24 background jobs, terminals and what is started by way of them are as confined as the command
# layers: mount pidns+cgroup
source "$ESCAPE/lib.bash"

plant "$OUT/file"
before=$(witness "$OUT")
# A job in the background, one that left its session, and one that outlives the command.
sandbox --ro "$OUT" -- /bin/bash -c '
    (echo "append $1/file" | "$2" >bg) &
    echo "append $1/file" | setsid "$2" >session
    (setsid nohup sh -c "sleep 1; echo x >late" >/dev/null 2>&1 &)
    (setsid nohup sh -c "sleep 1; echo x >&3" 3>held >/dev/null 2>&1 &)
    until [ -e held ]; do sleep 0.01; done
    wait; coproc "$2"; echo "append $1/file" >&"${COPROC[1]}"; read -r line <&"${COPROC[0]}"; echo "$line" >co' sh "$OUT" "$BIN/try"
sandbox_ran
for file in bg session co; do
    verdict EROFS "$(cut -f1 "$WS/$file")" "a write outside from $file"
done
sleep 1.5
equal "" "$(ls "$WS/late" 2>/dev/null)" "what a job did after the end"
is yes "$([[ -e $WS/held ]] && echo yes)" "a job began that holds a file open"
equal "" "$(cat "$WS/held")" "what it wrote there after the end"
# On a terminal.
if command -v script >/dev/null; then
    echo "append $OUT/file" >"$WS/lines"
    timeout 20 script -qec "$BAWN run -C $WS --ro $BIN --ro $OUT --reads strict -- /bin/sh -c '$BIN/try <lines >tty 2>&1; tty >name'" /dev/null </dev/null >"$T/stdout" 2>&1
    verdict EROFS "$(cut -f1 "$WS/tty" 2>/dev/null)" "a write outside from a terminal"
fi
unchanged "$before" "$OUT"
attempts --ro "$OUT" <<<"ok read $OUT/file original"
