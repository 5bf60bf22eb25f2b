# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-45 whatever two sandboxes make, move and link in one tree, nothing comes to be at a protected name
# layers: notify
# seconds: 60
source "$ESCAPE/lib.bash"

mkdir -p "$WS/tree"
calls=0
for seed in 1 2 3; do
    timeout -k 2 25 "$BAWN" run -C "$WS" --ro "$BIN" -- \
        sh -c "cd tree && exec $BIN/b_scramble 9$seed 4000" >"$T/other" 2>&1 &
    other=$!
    sandbox -- sh -c "cd tree && exec $BIN/b_scramble $seed 4000"
    sandbox_ran
    wait "$other" || broken "the other sandbox failed: $(tail -n2 "$T/other" | tr '\n' ' ')"
    read -r made worked <"$T/stdout"
    calls=$((calls + made))
    ((worked > made / 100)) || broken "only $worked of $made calls worked"
    # SECURITY: what is there now was made by somebody inside.
    found=$(cd "$WS/tree" && find . -regextype posix-extended \( \
        -regex '.*/(\.git|[^/]+\.git)/(hooks|config|info/attributes)(/.*)?' -o \
        -regex '.*/\.git/modules/(.*/)?(hooks|config)(/.*)?' -o \
        -regex '.*/(\.claude|\.vscode|\.sl/config)(/.*)?' -o \
        \( -name .git ! -type d \) \) -printf '%y %p\n' | head -n 5)
    equal "" "$found" "at protected names, after seed $seed"
    rm -rf "${WS:?}/tree"/* "$WS/tree"/.[!.]*
done
echo "# note: $calls calls by each of two"
