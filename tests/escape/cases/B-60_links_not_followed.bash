# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-60 on a mount that follows no links, nothing is written through one
# layers: lending
# only: root
source "$ESCAPE/lib.bash"
[[ ${BAWN_TEST_WITHOUT:-} ]] && skip "the kernel follows none itself"
own_mounts "$0"

# A tree of the host's, mounted so because others put links into it.
plant "$WS/target"
mkdir "$WS/closed" "$WS/dir"
ln -s ../target "$WS/closed/link"
ln -s ../dir "$WS/closed/up"
ln -s ../new "$WS/closed/dangling"
ln -s target "$WS/link"
mount --bind "$WS/closed" "$WS/closed"
mount -o remount,bind,nosymfollow "$WS/closed" || skip "no mount with nosymfollow"
cat "$WS/closed/link" 2>/dev/null && skip "this kernel follows it"
before=$(witness "$WS/target" "$WS/dir")
attempts <<END
ELOOP read $WS/closed/link
ELOOP sys open s:$WS/closed/link O_WRONLY|O_TRUNC
ELOOP sys open s:$WS/closed/dangling O_WRONLY|O_CREAT 0600
ELOOP sys openat2 cwd s:$WS/closed/link how:O_RDWR,0,0 24
ELOOP sys truncate s:$WS/closed/link 0
ELOOP sys chmod s:$WS/closed/link 0600
ELOOP sys setxattr s:$WS/closed/link s:user.x s:x 1 0
ELOOP sys linkat cwd s:$WS/closed/link cwd s:$WS/second AT_SYMLINK_FOLLOW
ELOOP sys open s:$WS/closed/up/file O_WRONLY|O_CREAT 0600
ELOOP sys mkdir s:$WS/closed/up/made 0700
ELOOP sys mkdir s:$WS/closed/up/./made 0700
ok    sys open s:$WS/closed/own O_WRONLY|O_CREAT 0600
ok    sys unlink s:$WS/closed/own
END
unchanged "$before" "$WS/target" "$WS/dir"
equal "closed dir link target" "$(cd "$WS" && echo *)" "what is in the workspace"
attempts <<END
ok    sys open s:$WS/link O_WRONLY
END
