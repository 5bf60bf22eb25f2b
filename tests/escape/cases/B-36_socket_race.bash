# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-36 a socket that appears while a name is looked at replaces nothing that is protected
# layers: notify
# seconds: 60
source "$ESCAPE/lib.bash"

# Protected further down, where no mount holds it.
plant "$WS/sub/.mcp.json"
before=$(witness "$WS/sub")
sandbox -- sh -c "cd '$WS' && exec '$BIN/sockswap' socket sub/.mcp.json 40000 15"
sandbox_ran
read -r made tries <"$T/stdout"
((${made:-0} >= 500 && ${tries:-0} >= 500)) || broken "only ${tries:-0} tries with ${made:-0} sockets"
echo "# note: $tries tries with $made sockets"
unchanged "$before" "$WS/sub"
attempts <<END
EACCES|EBUSY sys rename s:$WS/sub/.mcp.json s:$WS/away
ENOENT       sys rename s:$WS/absent s:$WS/sub/.mcp.json
ok           bind $WS/socket
ok           sys rename s:$WS/socket s:$WS/other
END
