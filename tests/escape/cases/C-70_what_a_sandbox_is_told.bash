# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-70 what a sandbox is told of its rules has no name that the command must not learn, and cannot be changed
# layers: mount told
source "$ESCAPE/lib.bash"

plant "$OUT/zorblax-merger/contract"
plant "$WS/shown"
plant "$WS/masked-name"
mkdir -p "$T/own-config"
cat >"$T/own-config/zorblax-policy.yaml" <<END
version: 1
sandbox:
  deny: [$OUT/zorblax-merger, "$OUT/zorblax-*/contract", ~/zorblax-client, $WS/masked-name]
  network:
    mode: proxy
    allow: ["ok.example:443"]
    deny: [zorblax-intranet.example]
    hosts: {ok.example: 192.0.2.77}
    upstream_proxy: http://zorblax-proxy.example:3128
    upstream_no_proxy: [zorblax-direct.example]
END
export ZORBLAX_TOKEN=zorblax-token
ask=(--policy "$T/own-config/zorblax-policy.yaml" --env ZORBLAX_TOKEN)
before=$(witness "$OUT" "$WS")
# It is there, and says what the command can find out; not the rest.
sandbox "${ask[@]}" -- cat /dev/bawn
sandbox_ran
is yes "$(grep -aq ok.example "$T/stdout" && echo yes)" "the hosts that it may reach are told"
is yes "$(grep -aq masked-name "$T/stdout" && echo yes)" "what is held in a tree that is shown is told"
told=$(sha256sum <"$T/stdout")
for word in zorblax 192.0.2.77 "$T/own-config"; do
    grep -aqF -- "$word" "$T/stdout" && escaped "the sandbox is told of $word"
done
# Nobody inside changes it: not for itself, and not for another sandbox of the same plan.
attempts "${ask[@]}" <<END
EACCES sys open s:/dev/bawn O_WRONLY
EACCES sys truncate s:/dev/bawn 0
EROFS sys unlink s:/dev/bawn
EROFS sys chmod s:/dev/bawn 0666
EXDEV sys rename s:/dev/bawn s:/dev/other
EROFS sys symlink s:$WS/shown s:/dev/new
EPERM sys mount s:$WS/shown s:/dev/bawn null 0x1000 null
ok sys open s:/dev/bawn O_RDONLY
END
sandbox "${ask[@]}" -- cat /dev/bawn
sandbox_ran
equal "$told" "$(sha256sum <"$T/stdout")" "another sandbox of the plan is told the same"
# Where the root is the host's own, too.
attempts "${ask[@]}" --reads static <<END
EROFS sys unlink s:/dev/bawn
EROFS sys open s:/dev/new O_WRONLY|O_CREAT 0600
ok sys open s:/dev/bawn O_RDONLY
END
unchanged "$before" "$OUT" "$WS"
