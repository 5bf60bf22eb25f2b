# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-31 a plan that is kept does not outlive what it was made from: variables that say where secrets are
# layers: mount
source "$ESCAPE/lib.bash"

plant "$WS/other"
declare -A secrets=([CARGO_HOME]=credentials.toml [XDG_CONFIG_HOME]=gh [XDG_DATA_HOME]=keyrings)
for name in "${!secrets[@]}"; do
    secret=$WS/$name/${secrets[$name]}
    mkdir -p "$secret"
    plant "$secret/file" secret
    for _ in 1 2; do
        sandbox -- cat "$secret/file"
        sandbox_ran
        is secret "$(cat "$T/stdout")" "what is nobody's secret can be read"
    done
    export "$name=$WS/$name"
    attempts <<END
EACCES read $secret/file
ok append $WS/other
END
    unset "$name"
    # And it is forgotten as easily.
    attempts <<END
ok read $secret/file
END
done
