# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-20 an empty list, a missing section and null grant the same: nothing
# layers: mount netns
source "$ESCAPE/lib.bash"

plant "$OUT/file"
plant "$BIN/shown"
# A service of the host's, where whoever is in its network reaches it.
"$BIN/e_tcp" >"$T/reached" &
service=$!
at_end "kill $service"
wait_for 5 test -s "$T/reached" || broken "no service"
port=$(head -n1 "$T/reached")
before=$(witness "$OUT" "$BIN/shown")
for text in '' 'sandbox:' 'sandbox: null' 'sandbox: {}' 'sandbox: {paths: }' 'sandbox: {paths: {}}' \
    'sandbox: {paths: null, network: null}' 'sandbox: {network: {allow: []}}' \
    'sandbox: {network: {allow: null, mode: none}}' 'sandbox: {network: {}}' 'sandbox: {network: false}' \
    'sandbox: {deny: [], protect: [], reopen: []}' 'sandbox: {process: {env: {pass: []}}}' \
    'sandbox: {process: {env: null}}' 'tools: []'; do
    printf '%s\n' "$text" >"$T/policy.yaml"
    SECRET=hunter2 sandbox --policy "$T/policy.yaml" -- /bin/bash -c "$BIN/try; env | grep -c hunter2; echo >/dev/tcp/127.0.0.1/$port; echo >/dev/tcp/198.51.100.1/9 || true" <<END
append $OUT/file
read $OUT/file
append /etc/passwd
sys utimensat cwd s:$BIN/shown null 0
END
    sandbox_ran
    equal "ENOENT ENOENT refused EROFS 0" \
        "$(head -n5 "$T/stdout" | cut -f1 | sed '3s/EROFS\|EACCES/refused/' | xargs)" "with '$text'"
    grep -q 'Network is unreachable' "$T/stderr" || escaped "a network with '$text': $(tail -n1 "$T/stderr")"
    equal "$port" "$(cat "$T/reached")" "what the host's service saw with '$text'"
    unchanged "$before" "$OUT" "$BIN/shown"
done
attempts <<<"ok write $WS/free"
is 0 "$(: 2>&1 >"/dev/tcp/127.0.0.1/$port"; echo $?)" "the host reaches its own service"
wait_for 5 grep -q reached "$T/reached" || broken "the service does not say who reaches it"
