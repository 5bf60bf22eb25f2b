# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# L-05 tokens in URLs, headers and arguments are masked in the trail, the stream and the summary
# layers: words
# not: nested, the trail is in the home of the sandbox around, and gone with it
source "$ESCAPE/lib.bash"
source "$ESCAPE/trail.bash"

recorded -- sh -c 'echo >"/usr/x?token=s3cr3t0"; exit 1' sh \
    https://me:s3cr3t1@host/ 'https://host/?access_token=s3cr3t2&x=1' "Authorization: Bearer s3cr3t3" \
    --password s3cr3t4 --api-key=s3cr3t5 AWS_SECRET_ACCESS_KEY=s3cr3t6 ghp_s3cr3t7aaaaaaaaaaaaaaaaaaaa \
    sk-s3cr3t8aaaaaaaaaaaaaaaa plain-word
is 1 "$STATUS" "the status"
for file in "$TRAIL" "$T/events"; do
    equal "" "$(grep -o 's3cr3t.' "$file" | sort -u | xargs)" "secrets in ${file##*/}"
    is 2 "$(grep -c '"argv": \[.*"plain-word"' "$file")" "words that are none, in ${file##*/}"
done
equal "" "$(grep '^bawn:' -A9 "$T/stderr" | grep -o 's3cr3t.')" "secrets in the summary"
timeout 20 "$BAWN" audit "$TRAIL_ID" >"$T/shown"
equal "" "$(grep -o 's3cr3t.' "$T/shown")" "secrets that bawn audit shows"
