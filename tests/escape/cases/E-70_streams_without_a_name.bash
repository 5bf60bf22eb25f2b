# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-70 who reads a pipe or a nameless file as a stream does not write what others outside read from it
# layers: notify
source "$ESCAPE/lib.bash"

# Ways to write by the name of a stream that was given to be read.
ways=('echo escaped >"$1"' 'echo escaped >>"$1"' 'exec 5<>"$1"; echo escaped >&5' 'chmod 600 "$1"')
names=(/dev/stdin /proc/self/fd/0 /proc/thread-self/fd/0)

# A pipe whose writer is silent. Its mode lets anybody write: root's command is somebody else.
exec 7< <(exec sleep 25)
writer=$!
at_end "kill $writer"
chmod 666 /dev/fd/7
for name in "${names[@]}"; do
    for way in "${ways[@]}"; do
        sandbox -- sh -c "$way" - "$name" <&7
        ((STATUS != 0)) || escaped "$way with $name, a pipe"
    done
done
equal "" "$(timeout 0.3 cat <&7)" "what can be read from the pipe"
equal 666 "$(stat -Lc %a /dev/fd/7)" "the mode of the pipe"

# A file whose name is gone.
plant "$T/gone"
exec 8<"$T/gone"
rm "$T/gone"
for name in "${names[@]}"; do
    for way in "${ways[@]}" 'truncate -s 0 "$1"'; do
        sandbox -- sh -c "$way" - "$name" <&8
        ((STATUS != 0)) || escaped "$way with $name, a file without a name"
    done
done
equal "original 666" "$(cat /dev/fd/8) $(stat -Lc %a /dev/fd/8)" "the file without a name"

# The shell that started the sandbox gets its script by a pipe, and goes on reading.
mkdir "$T/outside"
printf '%s\n' "chmod 666 /dev/stdin" "cd '$WS' && '$BAWN' run -- sh -c 'echo \"touch $T/outside/escaped\" >/dev/stdin'" \
    'echo "the script went on"' | bash >"$T/said" 2>&1
is "the script went on" "$(tail -n1 "$T/said")" "the rest of the script"
equal "" "$(ls "$T/outside")" "what the shell outside was made to do"

# A command that comes to a session later is no other.
if [[ -z ${BAWN_TEST_NESTED:-} ]]; then
    sid=$("$BAWN" run -C "$WS" -d -- sh -c 'echo >began; exec sleep 25' 2>"$T/stderr" | head -n1)
    at_end "'$BAWN' stop '$sid'"
    wait_for 5 test -e "$WS/began" || broken "no session: $(cat "$T/stderr")"
    timeout 10 "$BAWN" exec "$sid" -- sh -c 'echo escaped >/dev/stdin' <&7 2>/dev/null && escaped "by exec"
    equal "" "$(timeout 0.3 cat <&7)" "what can be read from the pipe"
fi

# The other side: what is made inside is opened again for anything, a stream for what it is open for.
sandbox -- bash -c 'read -rt 0.1 <> <(:); (($? > 128)) && echo timeout'
sandbox_ran
is timeout "$(cat "$T/stdout")" "a pipe of the command's own, opened for both"
# Root's pipes are not its command's.
if ((EUID != 0)); then
    piped=$("$BAWN" run -C "$WS" -- sh -c 'echo one >/dev/stdout; cat /dev/stdin' < <(echo two) | cat)
    is $'one\ntwo' "$piped" "what went through streams opened again"
fi
