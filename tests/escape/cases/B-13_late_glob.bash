# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-13 a pattern that denies also binds what is made later
# layers: notify
source "$ESCAPE/lib.bash"

plant "$WS/a/.env" secret
plant "$WS/b/plain"
plant "$WS/b/other"
before=$(witness "$WS/a/.env")
attempts --deny '**/.env' <<END
EACCES read $WS/a/.env
EACCES|EPERM sys creat s:$WS/b/.env 0644
EACCES|EPERM sys open s:$WS/.env O_RDWR|O_CREAT 0644
EACCES|EPERM sys mkdir s:$WS/b/.env 0755
EACCES|EPERM sys rename s:$WS/b/plain s:$WS/b/.env
EACCES|EPERM sys link s:$WS/b/plain s:$WS/b/.env
EACCES|EPERM sys symlink s:plain s:$WS/b/.env
EACCES|EPERM|EBUSY sys rename s:$WS/a/.env s:$WS/a/moved
EACCES|EPERM|EXDEV sys link s:$WS/a/.env s:$WS/a/linked
ENOENT stat $WS/b/.env
ok     sys rename s:$WS/b/other s:$WS/b/.environment
ok     sys mkdir s:$WS/d 0755
ok     sys creat s:$WS/d/env 0644
END
unchanged "$before" "$WS/a/.env"
equal "" "$(cd "$WS" && ls -d .env b/.env a/moved a/linked 2>/dev/null)" "what was made"
