# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-13 a policy in the workspace widens nothing
# layers: launch
# no mutant: who may widen is decided by the program that makes plans, which the build for mutations has as it is
source "$ESCAPE/lib.bash"

plant "$OUT/file"
mkdir -p "$WS/.bawn" "$WS/.claude" "$HOME/.ssh"
plant "$HOME/.ssh/id" hunter2
before=$(witness "$OUT" "$HOME")
# widen FILE TEXT: with this in the workspace all stays as it was, or it does not start.
widen() {
    rm -rf "$WS"/.bawn/* "$WS"/.claude/*
    printf '%s\n' "$2" >"$WS/$1"
    SECRET=hunter2 sandbox -- /bin/sh -c "$BIN/try; env | grep -c hunter2" <<END
read $OUT/file
append $OUT/file
read $HOME/.ssh/id
append /etc/passwd
append $WS/$1
END
    if ((STATUS == 125)); then
        CHECKED=$((CHECKED + 1))
        grep -q '^bawn: ' "$T/stderr" || broken "no word why: $1"
    else
        equal "ENOENT ENOENT ENOENT refused refused" \
            "$(head -n5 "$T/stdout" | cut -f1 | sed '4,$s/EROFS\|EACCES/refused/' | xargs)" "with $1: ${2:0:60}"
        equal 0 "$(tail -n1 "$T/stdout")" "variables, with $1"
    fi
    unchanged "$before" "$OUT" "$HOME"
}
for file in .bawn/policy.yaml .bawn/local.yaml; do
    widen $file "sandbox: {paths: {more: {root: $OUT, mode: rw}}}"
    widen $file "sandbox: {paths: {all: {root: /, mode: rw}}}"
    widen $file "sandbox: {reads: static}"
    widen $file "sandbox: {paths: {ssh: {root: ~/.ssh, mode: ro}}}"
    widen $file "sandbox: {require_os_sandbox: false}"
    widen $file "sandbox: {network: {mode: host}}"
    widen $file "sandbox: {process: {env: {pass: [SECRET]}}}"
    widen $file "sandbox: {reopen: ['/**/.bashrc', '/**/.bawn']}"
    widen $file "profile: static"
done
widen .claude/settings.json '{"sandbox": {"enabled": false, "filesystem": {"allowWrite": ["/"]}}, "permissions": {"allow": ["Edit(//**)"], "additionalDirectories": ["/"]}}'

# The other side: the user's own word counts.
rm -rf "$WS/.bawn" "$WS/.claude"
printf 'sandbox: {paths: {more: {root: %s, mode: rw}}}\n' "$OUT" >"$T/mine.yaml"
attempts --policy "$T/mine.yaml" <<<"ok append $OUT/file"
