# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-39 what may only be read stays so by every name, though it is made while the sandbox runs
# layers: notify
source "$ESCAPE/lib.bash"

# No mount can hold what is not there yet.
mkdir -p "$WS/above" "$WS/other"
chmod 777 "$WS" "$WS/above" "$WS/other"
cat >"$T/attempts" <<END
EACCES       write $WS/late/file
EACCES       sys link s:$WS/late/file s:$WS/alias
EACCES       sys linkat fd:$WS s:late/file fd:$WS s:alias 0
EACCES       sys linkat rd:$WS/late/file s: cwd s:$WS/alias AT_EMPTY_PATH
EBUSY        sys rename s:$WS/late s:$WS/moved
EXDEV sys rename s:$WS/above s:$WS/moved
EXDEV sys rename s:$WS/above s:$WS/other/moved
EXDEV sys renameat2 cwd s:$WS/above cwd s:$WS/other RENAME_EXCHANGE
ok           read $WS/late/file original
ok           read $WS/above/late/file original
ok           sys rename s:$WS/other s:$WS/moved
END
sed 's/^[^ ]* *//' "$T/attempts" >"$WS/lines"
printf 'version: 1\nsandbox: {paths: {late: {root: %s, mode: ro}, above: {root: %s, mode: ro}}}\n' \
    "$WS/late" "$WS/above/late" >"$T/policy.yaml"
(
    sandbox --policy "$T/policy.yaml" -- \
        sh -c 'touch ready; while ! test -e go; do sleep 0.05; done; exec "$0" <lines' "$BIN/try"
    exit "$STATUS"
) &
running=$!
at_end "kill $running"
wait_for 10 test -e "$WS/ready" || broken "the sandbox did not start"
plant "$WS/late/file"
plant "$WS/above/late/file"
chmod 777 "$WS/late" "$WS/above/late"
before=$(witness "$WS/late" "$WS/above")
touch "$WS/go"
wait "$running"
STATUS=$?
sandbox_ran
while read -r want line && IFS=$'\t' read -r got rest <&3; do
    is "$line" "$rest" "the order of answers"
    verdict "$want" "$got" "$rest"
done <"$T/attempts" 3<"$T/stdout"
is 11 "$(wc -l <"$T/stdout")" "attempts"
unchanged "$before" "$WS/late" "$WS/above"
