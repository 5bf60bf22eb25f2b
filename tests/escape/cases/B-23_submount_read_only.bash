# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-23 a mount below a tree that may only be read is as unwritable as the tree
# layers: mount
source "$ESCAPE/lib.bash"

own_mounts "$0"
mkdir -p "$OUT/sub" "$WS/sub"
for tree in "$OUT" "$WS"; do
    mount -t tmpfs -o mode=777 below "$tree/sub"
    plant "$tree/sub/file"
    mkdir "$tree/sub/deeper"
    mount -t tmpfs -o mode=777 below "$tree/sub/deeper"
    plant "$tree/sub/deeper/file"
    chmod 777 "$tree/sub" "$tree/sub/deeper"
done
changes_plant "$OUT/sub/deeper/tree"
before=$(witness "$OUT")
attempts --ro "$OUT" < <(
    changes "$OUT/sub/deeper/tree" | wanted EROFS
    cat <<END
EROFS append $OUT/sub/file
EROFS sys creat s:$OUT/sub/new 0644
EROFS append $OUT/sub/deeper/file
ok    read $OUT/sub/deeper/file original
ok    append $WS/sub/file
ok    append $WS/sub/deeper/file
ok    sys creat s:$WS/sub/deeper/new 0666
END
)
unchanged "$before" "$OUT"
cd / && umount "$OUT/sub/deeper" "$OUT/sub" "$WS/sub/deeper" "$WS/sub"
