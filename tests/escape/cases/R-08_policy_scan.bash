# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-08 a tree with many files and a pattern over all of it starts in time
# layers: mount notify
# seconds: 90
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

for i in {1..200}; do
    mkdir -p "tree/$i"
    (cd "tree/$i" && touch file{1..100} && echo secret >secret.pem)
done
deep=tree
for _ in {1..60}; do deep=$deep/deep; done
mkdir -p "$deep"
echo secret >"$deep/secret.pem"
SECONDS=0
sandbox --deny '**/*.pem' -- sh -c 'cat "$@" 2>/dev/null | wc -c; (echo x >tree/9/late.pem; echo x >tree/9/late.txt) 2>/dev/null' sh tree/7/secret.pem \
    tree/200/secret.pem "$deep/secret.pem"
((SECONDS < 20)) || escaped "took $SECONDS s"
CHECKED=$((CHECKED + 1))
# Refusing is right, too, if it is told.
if ((STATUS == 125)); then
    grep -q '^bawn: ' "$T/stderr" || broken "refused without a word"
else
    equal 0 "$(cat "$T/stdout")" "bytes of denied files read"
    # Nor is one made where the scan found none.
    equal tree/9/late.txt "$(ls tree/9/late.*)" "what was made"
fi
