# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-50 what one sandbox moves to a protected name, another cannot fill meanwhile
# layers: notify
# seconds: 60
source "$ESCAPE/lib.bash"

# Many files: whoever looked through them before the rename would take long.
fill() {
    mkdir "$1"
    seq -f "$1/file%g" 9000 | xargs touch
    chmod -R a+rwX "$1"
}
fill "$WS/g"
fill "$WS/c"
for pair in "g .git config" "c .cargo config.toml"; do
    read -r from to name <<<"$pair"
    timeout -k 2 20 "$BAWN" run -C "$WS" --ro "$BIN" -- "$BIN/mover" plant "$from/$name" 5 >"$T/planted" 2>"$T/planter" &
    planter=$!
    sandbox -- "$BIN/mover" move "$from" "$to" "$name" 5
    sandbox_ran
    read -r tries moved <"$T/stdout"
    wait "$planter" || broken "the second sandbox: $(tail -n1 "$T/planter")"
    made=$(<"$T/planted")
    ((${tries:-0} >= 1 && ${made:-0} >= 1)) || broken "only ${tries:-0} tries with ${made:-0} files"
    echo "# note: $to: $tries tries, $moved moves, $made files"
    equal "" "$(ls "$WS/$to/$name" 2>/dev/null)" "what came to be in $to"
done

# The other side: both go on with names that no rule is about, whatever their size.
attempts <<END
EXDEV sys rename s:$WS/g s:$WS/.git
EXDEV sys renameat2 cwd s:$WS/g cwd s:$WS/.git RENAME_NOREPLACE
EXDEV sys rename s:$WS/c s:$WS/.config
ok    sys rename s:$WS/g s:$WS/h
ok    sys mkdir s:$WS/sub 0777
ok    sys rename s:$WS/h s:$WS/sub/h
ok    sys creat s:$WS/sub/h/config 0644
ok    sys renameat2 cwd s:$WS/sub/h cwd s:$WS/c RENAME_EXCHANGE
END
