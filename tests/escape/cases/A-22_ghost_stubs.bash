# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-22 nothing is left in a workspace that the command did not put there, however it ends
# layers: launch
# seconds: 60
source "$ESCAPE/lib.bash"

git init -q "$WS"
plant "$WS/sub/file"
: >"$WS/.bashrc"
mkdir "$WS/.vscode" "$WS/empty" "$WS/place"
plant "$OUT/file"
options=(--protect "$WS/absent/deep/file" --protect "$WS/sub/none" --deny "$WS/never" --deny '**/*.key'
    --deny "$WS/sub/no/such" --private "$WS/place" --ro "$WS/not/there")
now() {
    names "$WS" && names "$HOME" && witness "$WS/sub" "$WS/.bashrc" "$WS/empty"
}
before=$(now)
# A normal end, a failing command, one that cannot be found.
for command in /bin/true /bin/false ./nowhere; do
    sandbox "${options[@]}" -- "$command"
    equal "$before" "$(now)" "the workspace after $command"
done
# While it runs, and after each way to die.
for signal in TERM INT HUP QUIT KILL SEGV ABRT; do
    rm -f "$OUT/started"
    ("$BAWN" run -C "$WS" --rw "$OUT" "${options[@]}" -- /bin/sh -c "echo >$OUT/started; exec sleep 20" 2>/dev/null) &
    job=$!
    wait_for 10 test -e "$OUT/started" || broken "no start before SIG$signal"
    equal "$before" "$(now)" "the workspace while it runs"
    launcher=$(pgrep -P "$job" | head -n1)
    [[ $(cat "/proc/$job/comm" 2>/dev/null) == bash ]] || launcher=$job
    kill -"$signal" "${launcher:-$job}"
    wait "$job" 2>/dev/null
    equal "$before" "$(now)" "the workspace after SIG$signal"
done
# Killed in the middle of the set-up.
for delay in 0.001 0.002 0.003 0.005 0.008 0.013; do
    timeout -s KILL "$delay" "$BAWN" run -C "$WS" "${options[@]}" -- /bin/true 2>/dev/null
    equal "$before" "$(now)" "the workspace after SIGKILL at $delay s"
done
is yes "$([[ -f $WS/.bashrc && -d $WS/empty ]] && echo yes)" "real empty files are still there"
# The protection was real all the time, and what the command makes stays.
attempts "${options[@]}" <<END
EROFS|EACCES|ENOENT sys creat s:$WS/sub/none 0644
EROFS|EACCES sys creat s:$WS/.zshrc 0644
ok           sys creat s:$WS/made 0644
END
rm -f "$WS/made"
equal "$before" "$(now)" "the workspace at last"
