# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-30 a plan that is kept does not outlive what it was made from: a secret that became a link
# layers: mount
source "$ESCAPE/lib.bash"

# The plan is made, and used again, before there is any ~/.aws.
mkdir "$WS/aws"
plant "$WS/aws/credentials" secret
plant "$WS/other"
for _ in 1 2 3; do
    sandbox -- cat aws/credentials
    sandbox_ran
    is secret "$(cat "$T/stdout")" "what is nobody's secret can be read"
done
ln -s "$WS/aws" "$HOME/.aws"
before=$(witness "$WS/aws")
"$BAWN" check -C "$WS" read "$WS/aws/credentials" >"$T/check" 2>&1
is 1 $? "check denies it"
attempts <<END
EACCES read $WS/aws/credentials
EACCES list $WS/aws
ok append $WS/other
END
unchanged "$before" "$WS/aws"
# Back again, and with the link leading elsewhere.
rm "$HOME/.aws"
mkdir "$WS/more"
plant "$WS/more/credentials" secret
ln -s "$WS/more" "$HOME/.aws"
attempts <<END
ok read $WS/aws/credentials
EACCES read $WS/more/credentials
END
