# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-93 what is taken back of a copy is a file that the command wrote there, and replaces nothing else
# layers: launch
# no mutant: it is the launcher that takes it back, after all layers have done their work
# seconds: 60
source "$ESCAPE/lib.bash"

chmod 700 "$OUT"
plant "$OUT/secret" secret
file=$HOME/agent/state.json
plant "$file"
chmod 600 "$file"

# What the command leaves in the place of its copy, or on the way to it, and what it can do to keep
# the launcher busy.
leaves=("ln -s $OUT/secret $file" "ln -s /proc/self/root$OUT/secret $file" "mkfifo $file" "mkdir $file"
    "$BIN/try <<<'sys mknod s:$file S_IFSOCK|0644 0'" "ln $WS/other $file" "truncate -s 1T $file"
    "rmdir $HOME/agent; ln -s $OUT $HOME/agent" "rmdir $HOME/agent; ln -s $WS $HOME/agent"
    "rmdir $HOME/agent; mkfifo $HOME/agent" "mv $HOME/agent $HOME/moved")
plant "$WS/other" other
plant "$WS/state.json" of the workspace
before=$(witness "$OUT" "$HOME")
for leave in "${leaves[@]}"; do
    sandbox --copy "$file" --write-back -- bash -c "rm -f $file; $leave; true"
    sandbox_ran
    unchanged "$before" "$OUT" "$HOME"
done
# Somebody who goes on writing is ended before.
sandbox --copy "$file" --write-back -- bash -c "(while :; do echo more >>$file; done) & sleep 0.2"
sandbox_ran
is 1 "$(grep -c "was written back" "$T/stderr")" "what was written back"
is "" "$(grep -vxe more -e original "$file")" "lines that nobody wrote"
is 600 "$(stat -c %a "$file")" "its mode"

# The original's place is turned into a link, or swapped, while the command runs: not followed.
turn() { # COMMAND: outside, when the command has changed its copy
    mkfifo "$WS/ready" "$WS/go"
    (
        read -r _ <"$WS/ready"
        eval "$1"
        echo >"$WS/go"
    ) &
    sandbox --copy "$file" --write-back -- bash -c "echo theirs >$file; echo >ready; read -r _ <go"
    wait $!
    sandbox_ran
    rm -f "$WS/ready" "$WS/go"
}
before=$(witness "$OUT")
turn "mv $HOME/agent $HOME/away; ln -s $OUT $HOME/agent"
unchanged "$before" "$OUT"
equal "" "$(grep -rlx theirs "$OUT" "$HOME" 2>/dev/null)" "what was written by way of a link"
rm "$HOME/agent" && mv "$HOME/away" "$HOME/agent"
turn "rm $file; ln -s $OUT/secret $file"
unchanged "$before" "$OUT"
[[ -L $file ]] || escaped "a link was replaced"
equal "" "$(find "$HOME" -name '.bawn-*')" "what is left over"

# Without the option nothing comes out, whatever is written.
rm "$file" && plant "$file"
before=$(witness "$HOME")
attempts --copy "$file" <<END
ok  write $file
ok  sys rename s:$file s:$HOME/agent/x
ok  write $file
END
unchanged "$before" "$HOME"
