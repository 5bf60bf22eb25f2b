# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-30 what a pattern denies is denied where a symbolic link has that name
# layers: mount
source "$ESCAPE/lib.bash"

plant "$WS/conf/dev" private
plant "$WS/real/inner" private
plant "$OUT/granted/file" private
ln -s conf/dev "$WS/.env"
ln -s "$WS/.env" "$WS/conf/.env"
ln -s ../real "$WS/conf/hidden"
ln -s file "$OUT/granted/.env"
ln -s "$OUT/granted/file" "$WS/key.pem"
ln -s nothing "$WS/real/.env"
# From inside, as an earlier command would.
mkdir "$WS/closed"
sandbox -- /bin/sh -c 'ln -s ../conf/dev closed/.env && chmod 400 closed'
sandbox_ran
before=$(witness "$WS/conf" "$OUT")
options=(--ro "$OUT/granted" --deny .env --deny '*.pem' --deny hidden --deny "$OUT/granted/**/.env")
attempts "${options[@]}" <<END
EACCES read $WS/.env
EACCES read /proc/self/root$WS/.env
EACCES read $WS/conf/.env
EACCES read $WS/conf/../.env
EACCES read $WS/key.pem
EACCES read $OUT/granted/.env
EACCES read $WS/real/.env
ENOTDIR list $WS/conf/hidden
ENOTDIR read $WS/conf/hidden/inner
EROFS|EACCES write $WS/.env
any    sys chmod s:$WS/closed 0777
EACCES read $WS/closed/.env
EBUSY  sys unlink s:$WS/.env
EBUSY  sys rename s:$WS/.env s:$WS/other
EBUSY|EXDEV sys rename s:$WS/conf s:$WS/other
EACCES|EXDEV sys link s:$WS/.env s:$WS/other
ok     read $WS/conf/dev private
ok     read $OUT/granted/file private
ok     append $WS/real/inner
END
chmod u+rwX "$WS/closed"
equal "$(readlink "$WS/.env")" conf/dev "the link"
for path in .env conf/.env key.pem conf/hidden; do
    (cd "$WS" && "$BAWN" check "${options[@]}" read "$path" >/dev/null 2>&1) && escaped "check lets $path be read"
done
unchanged "$before" "$WS/conf" "$OUT"
