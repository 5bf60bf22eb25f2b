# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-12 no process can be looked into: not the launcher, not pid 1, not another sandbox, not its like
# layers: seccomp pidns notify
source "$ESCAPE/lib.bash"

mkdir "$T/ws2"
"$BAWN" run -C "$T/ws2" -- /bin/sh -c 'echo >started; exec sleep 25' 2>/dev/null &
launcher=$!
at_end "kill $launcher"
wait_for 10 test -e "$T/ws2/started" || broken "the other sandbox did not start"
inner=$(pgrep -P "$launcher" | head -n1)
sandbox -- /bin/sh -c 'sleep 20 & "$1/peek" 1 $! "$2" "$3"; kill $!' sh "$BIN" "$launcher" "${inner:-$launcher}"
answers=0
while IFS=$'\t' read -r got what; do
    answers=$((answers + 1))
    case $what in
    environ\ 1 | maps\ 1 | auxv\ 1 | mem\ 1) want="EACCES|EPERM" ;;
    # A process of its own, of the same rights, may be read by name, as a shell may.
    environ\ * | maps\ * | auxv\ * | mem\ *)
        want="ok|EACCES"
        ((${what#* } <= 100)) || want=ENOENT
        ;;
    *) want="EPERM|ESRCH" ;;
    esac
    verdict "$want" "$got" "$what"
done <"$T/stdout"
is 44 "$answers" "answers"
kill -0 "$launcher" || escaped "the other sandbox is gone"
attempts <<<"ok read /proc/self/environ"
