# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-19 a policy that cannot be read as a whole is refused with its place
# layers: launch
# no mutant: it is refused by the program that makes plans, which the build for mutations has as it is
source "$ESCAPE/lib.bash"

# refuse LINE TEXT: as a policy of the user's, and as the project's.
refuse() {
    printf "%b" "$2" >"$T/policy.yaml"
    sandbox --policy "$T/policy.yaml" -- touch ran
    sandbox_refused "policy.yaml:$1"
    mkdir -p "$WS/.bawn"
    printf "%b" "$2" >"$WS/.bawn/policy.yaml"
    sandbox -- touch ran
    sandbox_refused "policy.yaml:$1"
    rm -r "$WS/.bawn"
}
refuse 2 'sandbox:\n  pathz: {}\n'
refuse 1 'sandbox: 7\n'
refuse 1 'sandbox: []\n'
refuse 2 'sandbox:\n  deny: {a: b}\n'
refuse 3 'sandbox:\n  paths:\n    x: {root: /tmp, mode: writable}\n'
refuse 3 'sandbox:\n  paths:\n    x: {root: /tmp, mode: [rw]}\n'
refuse 2 'version: 1\nversion: 1\n'
refuse 3 'sandbox:\n  reads: strict\n  reads: static\n'
refuse 1 'toString: 1\n'
refuse 2 'sandbox:\n  __proto__: {reads: static}\n'
refuse 2 'sandbox:\n  constructor: x\n'
refuse 3 'sandbox:\n  deny: ["a"\n'
refuse 2 'sandbox:\n  deny: [!!str a]\n'
refuse 2 'sandbox:\n  deny: [*all]\n'
refuse 2 'sandbox:\n  deny: ["!a"]\n'
refuse 2 'sandbox:\n  network: maybe\n'
refuse 3 'sandbox:\n  limits:\n    pids: many\n'
refuse 2 'sandbox: {}\n---\nsandbox: {}\n'
refuse 1 '\0377\0376\0000'
printf 'sandbox:\n  reads: strict\n' >"$T/good.yaml"
sandbox --policy "$T/nowhere.yaml" -- touch ran
sandbox_refused nowhere.yaml
sandbox --set sandbox.nonsense=1 -- touch ran
sandbox_refused nonsense
sandbox --set sandbox.reads=maybe -- touch ran
sandbox_refused maybe
sandbox --policy "$T/good.yaml" -- touch ran
sandbox_ran
is yes "$([[ -e $WS/ran ]] && echo yes)" "the command runs with a good policy"
