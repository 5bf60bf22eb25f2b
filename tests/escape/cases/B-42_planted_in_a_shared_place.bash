# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-42 what another user planted in a place for all is neither followed nor taken for one's own
# layers: notify
# not: nested, where another user's files are nobody's
# only: root
source "$ESCAPE/lib.bash"

chmod 1777 "$OUT"
plant "$WS/victim"
mkdir "$OUT/plain"
chmod 777 "$OUT/plain"
for name in link plain/link; do
    setpriv --reuid=65534 --regid=65534 --clear-groups ln -s "$WS/victim" "$OUT/$name"
done
plant "$OUT/file"
mkfifo -m 666 "$OUT/fifo"
chown 65534:65534 "$OUT/file" "$OUT/fifo"
ln -s "$WS/mine" "$OUT/own"
plant "$WS/mine"
before=$(witness "$WS/victim")
planted=$(witness "$OUT/file")
# The kernel says so to anybody where fs.protected_symlinks, protected_regular and protected_fifos are
# set, as on most systems.
for way in "" --as-root; do
    attempts ${way:+"$way"} --rw "$OUT" <<END
EACCES sys open s:$OUT/link O_WRONLY
EACCES sys open s:$OUT/link O_WRONLY|O_CREAT|O_TRUNC 0644
EACCES in $OUT sys open s:link O_RDWR
EACCES sys truncate s:$OUT/link 0
EACCES sys chmod s:$OUT/link 0755
EACCES sys linkat cwd s:$OUT/link cwd s:$OUT/alias AT_SYMLINK_FOLLOW
EACCES sys open s:$OUT/file O_WRONLY|O_CREAT 0644
EACCES sys open s:$OUT/file O_WRONLY|O_CREAT|O_TRUNC 0644
EACCES sys open s:$OUT/fifo O_RDWR|O_CREAT 0644
ok     sys open s:$OUT/own O_WRONLY
ok     sys open s:$OUT/plain/link O_WRONLY
END
done
unchanged "$planted" "$OUT/file"
attempts --as-root --rw "$OUT" <<<"ok sys open s:$OUT/file O_WRONLY"
unchanged "$before" "$WS/victim"
