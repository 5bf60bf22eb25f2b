# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-32 what a pattern denies is denied in trees that are shown without being granted
# layers: mount
# only: root
source "$ESCAPE/lib.bash"

own_mounts "$0"
plant "$OUT/sub/a.key" private
plant "$OUT/sub/plain" original
plant "$OUT/top" private
mkdir "$OUT/closed"
plant "$OUT/closed/b.key" private
ln -s plain "$OUT/sub/link.key"
for place in /mnt /srv; do
    mount --bind "$OUT" "$place" || skip "no bind mount"
    for pattern in '**/*.key' 'sub/*.key' 's*/a.*'; do
        attempts --reads static --deny "$place/$pattern" <<END
EACCES read $place/sub/a.key
ok     read $place/sub/plain original
ok     read $place/top private
END
    done
    attempts --reads static --deny "$place/**/*.key" <<END
EACCES read $place/sub/link.key
EACCES read $place/closed/b.key
END
    attempts --reads static --deny "$place/t*" <<END
EACCES read $place/top
ok     read $place/sub/a.key private
END
    umount "$place"
done
