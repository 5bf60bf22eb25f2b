# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-10 a crash leaves no memory on disk: not the command's, not the launcher's
# layers: rlimit
source "$ESCAPE/lib.bash"

pattern=$(cat /proc/sys/kernel/core_pattern)
[[ $pattern == */* || $pattern == \|* ]] && skip "core_pattern is $pattern: no file would show here"
ulimit -c unlimited 2>/dev/null || skip "core files are forbidden here anyway"
sandbox -- /bin/bash -c 'ulimit -c unlimited 2>/dev/null && echo raised; grep "core file" /proc/self/limits; cd /tmp; sh -c "kill -SEGV \$\$"; ls /tmp | grep -c core; cd "$1"; sh -c "kill -SEGV \$\$"' sh "$WS"
equal "" "$(grep raised "$T/stdout")" "the limit was raised"
equal "1 1" "$(sed -n 's/Max core file size *\([^ ]*\) *\([^ ]*\).*/\1 \2/p' "$T/stdout")" "limits of core files"
equal "" "$(find "$WS" "$T" -maxdepth 1 -name 'core*')" "core files"

# The launcher itself, that has read the caller's variables.
mkdir "$T/crash"
(
    cd "$T/crash" || exit 1
    SECRET=hunter2 exec "$BAWN" run -C "$WS" -- /bin/sh -c 'echo >started; sleep 20' 2>/dev/null
) &
launcher=$!
wait_for 10 test -e "$WS/started" || broken "the sandbox did not start"
kill -SEGV "$launcher"
wait "$launcher"
is 139 $? "status of the crashed launcher"
equal "" "$(find "$T/crash" "$WS" -name 'core*')" "core files of the launcher"
