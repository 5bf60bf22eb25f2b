# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# L-02 a trail that was edited, reordered, shortened or removed is known as such
# layers: launch
# no mutant: it is about what a reader finds in files, outside of any sandbox
# not: nested, the trail is in the home of the sandbox around, and gone with it
source "$ESCAPE/lib.bash"
source "$ESCAPE/trail.bash"

recorded -- sh -c 'touch /usr/a /usr/b; exit 0'
sandbox_ran
equal 0 "$(verified)" "the trail as it is"
cp "$TRAIL" "$T/kept"
# tampered WHAT COMMAND...: reads the trail, and writes another.
tampered() {
    local what=$1
    shift
    "$@" <"$T/kept" >"$T/other"
    is no "$(cmp -s "$T/other" "$T/kept" && echo yes || echo no)" "$what: it is another"
    cat "$T/other" >"$TRAIL"
    equal 1 "$(verified)" "$what"
    cat "$T/kept" >"$TRAIL"
}
tampered "a record is edited" sed '2s/touch/tough/'
tampered "the first record is edited" sed '1s/"proven": "yes"/"proven": "yet"/'
tampered "a record is removed" sed 2d
tampered "the first record is removed" sed 1d
tampered "records are reordered" sed -n '1p;2{h;n;G;p;d};3,$p'
tampered "a record is there twice" sed '2p'
tampered "the tail is cut" sed '$d'
tampered "the tail is cut in the middle of a record" head -c -20
tampered "all is cut" head -c 0
tampered "a record is added" sed '$a {"seq": 9}'
equal 0 "$(verified)" "the trail as it was"
cp "$HEAD" "$T/head"
sed -i 's/^0000000000000000000/0000000000000000001/' "$HEAD"
equal 1 "$(verified)" "the head is another"
rm "$HEAD"
equal 1 "$(verified)" "the head is gone"
cp "$T/head" "$HEAD"
rm "$TRAIL"
status=0
timeout 20 "$BAWN" audit --verify >"$T/verified" 2>&1 || status=$?
equal 1 "$status" "the whole trail is gone"
equal 1 "$(grep -c "$TRAIL_ID: .*the whole trail was removed" "$T/verified")" "the one that is gone is named"
