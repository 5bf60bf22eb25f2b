# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-26 a setuid program and one with file capabilities get nothing by it
# layers: mount caps
source "$ESCAPE/lib.bash"

# ld.so tells the auxiliary vector to whom it trusts: a program that gained rights prints nothing.
su=$(command -v su) || skip "no su here"
[[ -u $su ]] || skip "su is not setuid here"
sandbox -- /usr/bin/env LD_SHOW_AUXV=1 "$su" --version
grep -q 'AT_SECURE: *0' "$T/stdout" || {
    CHECKED=$((CHECKED + 1))
    escaped "su runs with rights that its caller has not"
}
me=$(grep -m1 'AT_UID' "$T/stdout" | tr -dc 0-9)
equal "$me" "$(grep -m1 'AT_EUID' "$T/stdout" | tr -dc 0-9)" "AT_EUID of su"

sandbox -- "$BIN/ids"
sandbox_ran
plain=$(cat "$T/stdout")
cp "$BIN/ids" "$WS/setuid"
cp "$BIN/ids" "$OUT/setuid"
# From root these are root's, or those of somebody else; from an ordinary user the user's own.
if (($(id -u) == 0)); then
    chown 1:1 "$OUT/setuid"
    cp "$BIN/ids" "$OUT/powerful"
    setcap cap_sys_admin,cap_dac_override=ep "$OUT/powerful" 2>/dev/null || rm -f "$OUT/powerful"
fi
chmod 6755 "$WS/setuid" "$OUT/setuid"
for program in "$WS/setuid" "$OUT/setuid" "$OUT/powerful"; do
    [[ -e $program ]] || continue
    sandbox --ro "$OUT" -- "$program"
    sandbox_ran
    equal "$plain" "$(cat "$T/stdout")" "rights of ${program#"$T"/}"
done
equal "" "$(grep -v -e '^uid' -e ':.*0000000000000000' -e 'NoNewPrivs:.1' <<<"$plain")" "rights of a plain program"

# Bits that are set inside count for nobody outside.
sandbox -- /bin/sh -c "cp $BIN/ids made && ! chmod 6755 made && ./made"
sandbox_ran
equal "$plain" "$(cat "$T/stdout")" "rights of a program made setuid inside"
