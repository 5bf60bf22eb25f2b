# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-96 a directory is judged by where it is, not by another one that had its number or that it was before
# layers: notify
# seconds: 60
source "$ESCAPE/lib.bash"

# A directory that was just written in is removed; the next one gets its number, under a name that is protected.
cat >"$WS/reuse" <<'END'
same=0
for i in {1..60}; do
    mkdir d "s$i" && : >d/config && number=$(stat -c %i d) && rm -r d && mkdir "s$i/.git" || exit 9
    [ "$(stat -c %i "s$i/.git")" != "$number" ] || same=$((same + 1))
    ! { echo planted >"s$i/.git/config"; } 2>/dev/null || exit 8
done
echo "$same"
END
sandbox -- bash reuse
sandbox_ran
((STATUS != 8)) || escaped "a config was written"
is 0 "$STATUS" "making directories"
is "" "$(find "$WS" -path '*/.git/*')" "what came to be below .git"

# One that is renamed outside while somebody writes in it.
mkdir "$WS/plain" "$WS/stays"
sandbox -- bash -c 'cd plain && : >a && cd ../stays && : >a && cd ../plain && touch ../ready &&
    while [ ! -e ../moved ]; do sleep 0.05; done
    sleep 1.1; : >config && echo escaped; cd ../stays && : >b && echo wrote' &
for _ in {1..200}; do [ ! -e "$WS/ready" ] || break; sleep 0.05; done
mv "$WS/plain" "$WS/.git" && touch "$WS/moved"
wait $!
is wrote "$(cat "$T/stdout")" "what the command could do"
[ ! -e "$WS/.git/config" ] || escaped "a config in a directory that is .git by now"
