# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-20 an empty list, a missing section and null grant the same: nothing
# layers: mount netns
source "$ESCAPE/lib.bash"

plant "$OUT/file"
before=$(witness "$OUT")
for text in '' 'sandbox:' 'sandbox: null' 'sandbox: {}' 'sandbox: {paths: }' 'sandbox: {paths: {}}' \
    'sandbox: {paths: null, network: null}' 'sandbox: {network: {allow: []}}' \
    'sandbox: {network: {allow: null, mode: none}}' 'sandbox: {network: {}}' 'sandbox: {network: false}' \
    'sandbox: {deny: [], protect: [], reopen: []}' 'sandbox: {process: {env: {pass: []}}}' \
    'sandbox: {process: {env: null}}' 'tools: []'; do
    printf '%s\n' "$text" >"$T/policy.yaml"
    SECRET=hunter2 sandbox --policy "$T/policy.yaml" -- /bin/bash -c "$BIN/try; env | grep -c hunter2; echo >/dev/tcp/198.51.100.1/9 || true" <<END
append $OUT/file
read $OUT/file
append /etc/passwd
END
    sandbox_ran
    equal "ENOENT ENOENT refused 0" \
        "$(head -n4 "$T/stdout" | cut -f1 | sed '3s/EROFS\|EACCES/refused/' | xargs)" "with '$text'"
    grep -q 'Network is unreachable' "$T/stderr" || escaped "a network with '$text': $(tail -n1 "$T/stderr")"
    unchanged "$before" "$OUT"
done
attempts <<<"ok write $WS/free"
