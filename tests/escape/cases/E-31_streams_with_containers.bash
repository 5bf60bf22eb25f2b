# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-31 where containers are allowed, a file that comes in to be read is not written either
# layers: launch
# no mutant: streams are judged before there is any layer, by who starts the command
source "$ESCAPE/lib.bash"

plant "$OUT/input" text
sandbox --allow-containers -- cat < <(cat "$OUT/input")
((STATUS == 125)) && skip "containers cannot be allowed here: $(head -n1 "$T/stderr")"
sandbox_ran
is text "$(cat "$T/stdout")" "what came by a pipe"
before=$(witness "$OUT")
for way in ': >/proc/self/fd/0' 'echo escaped >>/dev/stdin' 'exec 5<>/proc/self/fd/0; echo escaped >&5' \
    'chmod 600 /proc/self/fd/0'; do
    sandbox --allow-containers -- sh -c "$way" <"$OUT/input"
    ((STATUS != 0)) || escaped "$way"
done
unchanged "$before" "$OUT"

# What nobody can find by a name, and what the command could not write anyway, is let in.
sandbox --allow-containers -- cat </etc/passwd
sandbox_ran
exec 7<>"$T/gone" && echo nameless >&7 && exec 8<"$T/gone" && rm "$T/gone" && exec 7>&-
sandbox --allow-containers -- cat <&8
sandbox_ran
is nameless "$(cat "$T/stdout")" "a file without a name"
