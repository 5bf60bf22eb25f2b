# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-25 no command line of the launcher's or its helpers' has a value of the environment in it
# layers: env
source "$ESCAPE/lib.bash"

export PASSED=hunter2-passed-$RANDOM KEPT=hunter2-kept-$RANDOM
printf 'sandbox: {process: {env: {pass: [PASSED], set: {GIVEN: hunter2-given}}}}\n' >"$T/policy.yaml"
: >"$T/seen"
# Every process of the host, as often as can be, while sandboxes start and run.
(while [[ ! -e $T/stop ]]; do cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' ' ' | grep -ao 'hunter[2]-[a-z]*' >>"$T/seen"; done) &
watcher=$!
at_end "touch $T/stop; kill $watcher"
for _ in 1 2 3 4 5; do
    forget
    sandbox --policy "$T/policy.yaml" -- /bin/sh -c 'sleep 0.2; env'
done
sandbox_ran
touch "$T/stop"
wait "$watcher"
equal "" "$(sort -u "$T/seen")" "values in command lines"
is "$PASSED" "$(sed -n 's/^PASSED=//p' "$T/stdout")" "the variable that is passed"
is hunter2-given "$(sed -n 's/^GIVEN=//p' "$T/stdout")" "the variable that is set"
equal "" "$(grep KEPT "$T/stdout")" "the variable that is not passed"
