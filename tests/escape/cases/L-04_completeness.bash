# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# L-04 each refusal of a call has one record with its reason, and of a flood none is uncounted
# layers: notify
# not: nested, the trail is in the home of the sandbox around, and gone with it
source "$ESCAPE/lib.bash"
source "$ESCAPE/trail.bash"

git init -q .
mkdir -p .git/hooks guarded
plant "$OUT/file"
for i in 1 2 3; do plant "$WS/guarded/$i"; done
# Each about another path, in another way.
cat >"$T/attempts" <<END
sys open s:$WS/.git/config O_WRONLY
sys openat cwd s:$WS/.git/hooks/new O_WRONLY|O_CREAT 0644
sys mkdir s:$WS/.git/hooks/dir 0755
sys unlink s:$WS/guarded/1
sys rename s:$WS/guarded/2 s:$WS/moved
sys symlink s:/etc/passwd s:$WS/guarded/link
sys truncate s:$WS/guarded/3 0
sys mknod s:$WS/guarded/fifo S_IFIFO|0644 0
sys open s:$OUT/file O_WRONLY
sys mkdir s:/usr/new 0755
END
recorded --protect guarded --ro "$OUT" -- "$BIN/try" <"$T/attempts"
sandbox_ran
equal 10 "$(grep -c -E '^E[A-Z]+' "$T/stdout")" "attempts that were refused"
equal 10 "$(records refused)" "records of refusals"
while read -r line; do
    path=$(grep -o "s:$WS/[^ ]*\|s:$OUT/[^ ]*\|s:/usr/new" <<<"$line" | head -n1)
    equal 1 "$(grep -c "\"event\": \"refused\".* \"path\": \"${path#s:}\"" "$TRAIL")" "records of ${path#s:}"
done < <(sed 's|s:/etc/passwd ||' "$T/attempts")
equal 10 "$(grep '"event": "refused"' "$TRAIL" | grep '"rule": "[^"]' | grep '"pid": [1-9]' | grep -c '"argv": \["')" \
    "records with who and why"
equal 0 "$(verified)" "the trail"
# The same thing many times, and many things.
recorded --protect guarded -- sh -c 'i=0; while [ $i -lt 300 ]; do echo >guarded/same; echo >guarded/n$i; i=$((i + 1)); done 2>&-; exit 0'
sandbox_ran
equal 600 "$(python3 -c '
import json, sys
print(sum((r["event"] == "refused") * r.get("times", 1) + r.get("lost", 0) for r in map(json.loads, open(sys.argv[1]))))' \
    "$TRAIL")" "refusals that are told or counted"
is yes "$([[ $(records refused) -lt 500 ]] && echo yes)" "a flood has fewer records than refusals"
