# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-22 nothing is left in a workspace that the command did not put there, however it ends
# layers: launch
# no mutant: it is about what bawn leaves behind, not about what it holds
# seconds: 60
source "$ESCAPE/lib.bash"

git init -q "$WS"
plant "$WS/sub/file"
: >"$WS/.bashrc"
mkdir "$WS/.vscode" "$WS/empty" "$WS/place"
plant "$OUT/file"
options=(--protect "$WS/absent/deep/file" --protect "$WS/sub/none" --deny "$WS/never" --deny '**/*.key'
    --deny "$WS/sub/no/such" --private "$WS/place" --policy "$T/policy.yaml")
printf 'version: 1\nsandbox: {paths: {absent: {root: %s, mode: ro}}}\n' "$WS/not/there" >"$T/policy.yaml"
now() {
    names "$WS" && names "$HOME" && witness "$WS/sub" "$WS/.bashrc" "$WS/empty"
}
before=$(now)
# Control groups of a launcher, by its pid in their names; not those that were here before.
groups_of() {
    find /sys/fs/cgroup -maxdepth 5 -type d -name "bawn-$1-*" 2>/dev/null | grep -vxF -f "$T/older"
}
find /sys/fs/cgroup -maxdepth 5 -type d -name "bawn-*" >"$T/older" 2>/dev/null
no_groups_of() {
    [[ -z $(groups_of "$1") ]]
}
# no_groups WHEN: of $launcher, 2 s after its end at most.
no_groups() {
    wait_for 2 no_groups_of "$launcher"
    equal "" "$(groups_of "$launcher")" "control groups after $1"
    groups_of "$launcher" | xargs -r rmdir
}
# A normal end, a failing command, one that cannot be found.
for command in /bin/true /bin/false ./nowhere; do
    sandbox "${options[@]}" -- "$command"
    equal "$before" "$(now)" "the workspace after $command"
done
# While it runs, and after each way to die.
for signal in TERM INT HUP QUIT KILL SEGV ABRT; do
    rm -f "$OUT/started"
    # In the background a shell ignores SIGINT and SIGQUIT for what it starts.
    env --default-signal=INT,QUIT "$BAWN" run -C "$WS" --rw "$OUT" "${options[@]}" -- \
        /bin/sh -c "echo >$OUT/started; exec sleep 20" 2>/dev/null &
    launcher=$!
    wait_for 10 test -e "$OUT/started" || broken "no start before SIG$signal"
    equal "$before" "$(now)" "the workspace while it runs"
    kill -"$signal" "$launcher"
    wait "$launcher" 2>/dev/null
    equal "$before" "$(now)" "the workspace after SIG$signal"
    no_groups "SIG$signal"
done
# Killed in the middle of the set-up.
for delay in 0.001 0.002 0.003 0.004 0.005 0.006 0.008 0.010 0.013; do
    "$BAWN" run -C "$WS" "${options[@]}" -- /bin/true 2>/dev/null &
    launcher=$!
    sleep "$delay"
    kill -KILL "$launcher" 2>/dev/null
    wait "$launcher" 2>/dev/null
    equal "$before" "$(now)" "the workspace after SIGKILL at $delay s"
    no_groups "SIGKILL at $delay s"
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
