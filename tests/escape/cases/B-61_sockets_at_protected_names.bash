# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-61 no socket is made at a protected name, whichever way it is spelled
# layers: notify
# seconds: 90
source "$ESCAPE/lib.bash"

mkdir -p "$WS/sub" "$WS/deep/.git/hooks" "$WS/ok"
plant "$WS/file"
ln -s deep/.git "$WS/into"
before=$(witness "$WS/deep")
attempts <<END
EACCES     bind $WS/.bawn
EACCES     bind $WS/.git
EACCES     bind $WS/sub/.git
EACCES     bind $WS/.envrc
EACCES     bind $WS/sub/.mcp.json
EACCES     bind $WS/deep/.git/config
EACCES     bind $WS/into/config
EACCES     bind $WS/into/hooks/pre-commit
EACCES     in $WS bind .bawn
EACCES     in $WS bind sub/../.bawn
EACCES     in $WS bind ./.bawn
EACCES     in $WS/deep/.git bind config
EACCES     in $WS bind /proc/self/cwd/.bawn
EADDRINUSE bind $WS/file
EROFS      bind $BIN/socket
ok         bind $WS/socket
ok         in $WS bind ok/socket
ok         in $WS bind /proc/self/cwd/ok/other
ok         bind /tmp/socket
END
unchanged "$before" "$WS/deep"
equal "deep file into ok socket sub" "$(cd "$WS" && echo *)" "what is in the workspace"
equal "" "$(cd "$WS" && find . -name '.[a-z]*' -prune -not -name .git -print)" "hidden names"
# The next run starts.
sandbox -- true
sandbox_ran

# A link is turned meanwhile, from outside, where nothing keeps the calls apart.
there=$(names "$WS/deep")
ln -s ok "$WS/turns"
"$BIN/bindrace" flip "$WS/turns" ok deep/.git &
flipper=$!
at_end "kill $flipper"
sandbox -- "$BIN/bindrace" bind "$WS/turns/config" 4000 20
sandbox_ran
read -r made refused <"$T/stdout"
((${made:-0} >= 50 && ${refused:-0} >= 50)) || broken "only ${made:-0} made and ${refused:-0} refused"
echo "# note: $made made, $refused refused"
equal "$there" "$(names "$WS/deep")" "what is in the protected directory"
