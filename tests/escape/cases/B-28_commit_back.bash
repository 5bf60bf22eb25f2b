# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-28 what is taken of an overlay lands in its tree alone, without set-id bits and devices
# layers: launch
# no mutant: it is bawn apply that takes it, after all layers have done their work
# not: nested, no layer is kept in another sandbox
# seconds: 60
source "$ESCAPE/lib.bash"

session=B-28-$$
at_end '"$BAWN" discard "$session"'
chmod 700 "$OUT"
plant "$OUT/secret" secret
plant "$WS/sub/file" tree
plant "$WS/kept/file" tree

# take OPTION...: applies what the session has; the status is in $TOOK.
take() {
    TOOK=0
    "$BAWN" apply "$session" "$@" >"$T/stdout" 2>"$T/stderr" || TOOK=$?
    [[ ! $(tr -d '[:print:]\n' <"$T/stderr") ]] || escaped "control characters in what apply says"
}
inside() { sandbox --overlay "$WS" --session "$session" -- bash -c "$1" && sandbox_ran; }

# Links in place of directories, names that lead out, set-id bits, a FIFO, a name with an escape.
before=$(witness "$OUT")
inside "rm -r sub; ln -s $OUT sub; ln -s ../../../../..$OUT up; ln -s $OUT/secret link; mkfifo fifo
    cp /bin/true run; chmod 6755 run; mkdir made; chmod 2777 made; ln kept/file made/further
    touch \$'\\e[31mred' 'dot.'; setfattr -n user.overlay.opaque -v y made; setfattr -n user.overlay.redirect -v $OUT kept; true"
take --skip-unfit
is 0 "$TOOK" "the status of apply: $(head -n 2 "$T/stderr")"
unchanged "$before" "$OUT"
equal "$OUT" "$(readlink "$WS/sub")" "where the link leads that came"
equal "" "$(find "$WS" -perm /6000 -not -type d)" "files with set-id bits"
is tree "$(cat "$WS/made/further")" "what came"

# Somebody outside turns a directory of the tree into a link after the run.
inside "echo theirs >kept/file; mkdir -p kept/new; echo theirs >kept/new/file"
mv "$WS/kept" "$WS/was"
ln -s "$OUT" "$WS/kept"
before=$(witness "$OUT" "$WS/was")
for how in "" --conflicts=mine --conflicts=theirs --conflicts=merge; do
    take ${how:+"${how%=*}" "${how#*=}"}
    unchanged "$before" "$OUT" "$WS/was"
done
equal "" "$(grep -rlx theirs "$OUT" "$WS/was" 2>/dev/null)" "what landed behind a link"
equal "" "$(find "$WS" "$OUT" -name '.bawn-*')" "what is left over"
