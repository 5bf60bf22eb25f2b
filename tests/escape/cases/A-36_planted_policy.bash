# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-36 configuration that lies in the workspace is the project's, wherever variables say the user's is
# layers: launch notify
source "$ESCAPE/lib.bash"

plant "$OUT/secret" secret
plant "$WS/mine" mine
mkdir -p "$WS/cfg" "$WS/deep/.config"
# The names cannot be made from inside, at any depth; those beside them can.
attempts <<END
EACCES sys mkdir s:$WS/deep/.config/bawn 0755
EACCES sys symlink s:$OUT s:$WS/deep/.config/bawn
ok sys mkdir s:$WS/deep/.config/other 0755
ok sys mkdir s:$WS/cfg/bawn 0755
EACCES sys open s:$WS/cfg/bawn/policy.yaml O_WRONLY|O_CREAT 0644
EACCES sys open s:$WS/cfg/bawn/approved O_WRONLY|O_CREAT 0644
ok sys open s:$WS/cfg/bawn/other O_WRONLY|O_CREAT 0644
END
# But they may be there.
mkdir -p "$WS/.config/bawn"
cat >"$WS/cfg/bawn/policy.yaml" <<END
sandbox:
  paths: {o: {root: $OUT, mode: rw}}
  network: {mode: host}
  deny: [mine]
END
cp "$WS/cfg/bawn/policy.yaml" "$WS/.config/bawn/policy.yaml"
before=$(witness "$OUT")
in_project() {
    attempts <<END
ENOENT read $OUT/secret
ENOENT sys truncate s:$OUT/secret 0
EACCES read $WS/mine
ok list $WS/cfg
END
    sandbox -- readlink /proc/self/ns/net
    sandbox_ran
    [[ $(cat "$T/stdout") != "$(readlink /proc/self/ns/net)" ]] || escaped "the host's network"
}
XDG_CONFIG_HOME=$WS/cfg in_project
ln -s cfg "$WS/link"
XDG_CONFIG_HOME=$WS/link in_project
# (The user database of a sandbox around us names this very home.)
[[ ${BAWN_TEST_NESTED:-} ]] || HOME=$WS in_project
# Nor does a record of approvals there approve it.
mkdir -p "$WS/.bawn"
cp "$WS/cfg/bawn/policy.yaml" "$WS/.bawn/policy.yaml"
for file in .bawn/policy.yaml cfg/bawn/policy.yaml; do
    printf '%s  %s\n' "$(sha256sum <"$WS/$file" | cut -d' ' -f1)" "$WS/$file"
done >"$WS/cfg/bawn/approved"
XDG_CONFIG_HOME=$WS/cfg in_project
rm -r "$WS/.bawn"
unchanged "$before" "$OUT"
# The other side: outside of the workspace it is the user's.
mkdir -p "$T/config/bawn"
cp "$WS/cfg/bawn/policy.yaml" "$T/config/bawn/policy.yaml"
XDG_CONFIG_HOME=$T/config attempts <<END
ok read $OUT/secret
EACCES read $WS/mine
END
