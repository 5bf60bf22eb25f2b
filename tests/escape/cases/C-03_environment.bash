# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-03 no variable of the caller's that the policy does not pass is seen, in any process
# layers: env
source "$ESCAPE/lib.bash"

export SECRET_TOKEN=hunter2-$RANDOM-token AWS_SECRET_ACCESS_KEY=hunter2-$RANDOM-aws
export LD_BAWN=hunter2-ld MARKED=marked-$RANDOM
sandbox --set sandbox.process.env.pass=MARKED -- /bin/sh -c '
    env
    cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ /proc/self/environ /proc/thread-self/environ 2>/dev/null | tr "\0" "\n"
    cat /proc/[0-9]*/cmdline | tr "\0" "\n"
    set; export -p'
sandbox_ran
equal "" "$(grep -a hunter2 "$T/stdout" | head -n3)" "secrets of the caller"
grep -qxF "MARKED=$MARKED" "$T/stdout" || broken "the variable that the policy passes is not there"
grep -q '^PATH=' "$T/stdout" || broken "there is no PATH"
# Pid 1 tells nothing at all, not by its memory either.
attempts <<END
EACCES|EPERM read /proc/1/environ
EACCES|EPERM read /proc/1/mem
EACCES|EPERM read /proc/1/maps
ok           read /proc/self/environ
END
