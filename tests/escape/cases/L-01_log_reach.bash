# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# L-01 a command cannot reach the audit trail, its own or another's, wherever it is granted something
# layers: mount
# not: nested, the trail is in the home of the sandbox around, and gone with it
source "$ESCAPE/lib.bash"
source "$ESCAPE/trail.bash"

recorded -- true
sandbox_ran
is yes "$([[ -s $TRAIL && -s $HEAD ]] && echo yes)" "there is a trail"
chmod 666 "$TRAIL" "$HEAD"
before=$(witness "$TRAIL" "$HEAD")
state=${TRAILS%/bawn/audit}
# As it is, and where the directory above is granted. Not every file system maps root's files to others.
as_root=
((UID != 0)) || as_root=--as-root
for grant in "" "--rw=$state $as_root"; do
    # shellcheck disable=SC2086 # no word, or some
    attempts $grant <<END
EACCES|ENOENT read $TRAIL
EACCES|ENOENT append $TRAIL
EACCES|ENOENT list $TRAILS
EACCES|ENOENT sys open s:$TRAIL O_WRONLY|O_TRUNC
EACCES|ENOENT|EROFS|EBUSY sys truncate s:$TRAIL 0
EACCES|ENOENT|EROFS|EBUSY sys unlink s:$TRAIL
EACCES|ENOENT|EROFS|EBUSY sys unlink s:$HEAD
EACCES|ENOENT|EROFS|EBUSY sys rename s:$TRAIL s:$WS/mine
EACCES|ENOENT|EROFS|EBUSY|EXDEV sys link s:$TRAIL s:$WS/mine
EACCES|ENOENT|EROFS|EBUSY|EXDEV sys rename s:$TRAILS s:$TRAILS.old
ok write $WS/allowed
END
done
unchanged "$before" "$TRAIL" "$HEAD"
# Its own, while it runs: nothing of it is open inside.
recorded -- sh -c 'sleep 0.2; ls -l /proc/self/fd /proc/1/fd 2>&1; exit 0'
sandbox_ran
equal "" "$(grep -e audit -e ndjson "$T/stdout")" "descriptors of the trail"
