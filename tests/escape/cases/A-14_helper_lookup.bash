# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-14 no program is looked for in the workspace, whatever PATH says
# layers: launch
# no mutant: no program is looked for by name; there is no search that could be left in
source "$ESCAPE/lib.bash"

mkdir "$WS/fake"
for name in bwrap nft git ip newuidmap newgidmap bawn bawn-policy sh mount iptables pasta slirp4netns \
    getent id uname socat rg stty tput ps cat; do
    printf '#!/bin/bash\nexec /bin/touch %s/ran-%s\n' "$OUT" "$name" >"$WS/fake/$name"
    chmod 755 "$WS/fake/$name"
done
plain=$PATH
for path in "$WS/fake:$plain" "fake:$plain" ":$plain" "./fake" "$WS/fake"; do
    (PATH=$path && cd "$WS" &&
        "$BAWN" run -C "$WS" -- /bin/bash -c 'PATH=$1/fake; git; bawn; true' sh "$WS" >/dev/null 2>"$T/stderr")
    is 0 $? "status with PATH=$path"
    equal "" "$(ls "$OUT")" "programs that ran with PATH=$path"
    rm -f "$OUT"/ran-*
done
