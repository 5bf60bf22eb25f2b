# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-05 places of the sandbox's own that are symbolic links on the host change nothing there
# layers: launch mount
# seconds: 60
source "$ESCAPE/lib.bash"

mkdir -p "$OUT/dev/pts" "$OUT/dev/shm"
chmod -R 777 "$OUT"
before=$(witness "$OUT")
for target in "$OUT/dev" ../out/dev /dev /proc/self/root/dev; do
    for place in dev tmp cache; do
        rm -rf "$WS/${place:?}"
        ln -s "$target" "$WS/$place"
        sandbox --private "$WS/$place" --private "$WS/$place/shm" -- /bin/sh -c "echo x >$place/new; echo x >$place/shm/new; mkdir $place/pts/new"
        CHECKED=$((CHECKED + 1))
        ((STATUS == 124 || STATUS > 127)) && broken "status $STATUS with $place -> $target"
        unchanged "$before" "$OUT"
        equal "" "$(ls -d /dev/new /dev/shm/new /dev/pts/new 2>/dev/null)" "the host's /dev with $place -> $target"
        rm -f "$WS/$place"
    done
done
# The sandbox's own /dev has nothing but the usual nodes, and takes no more.
attempts <<END
ENOENT sys open s:/dev/vda O_RDONLY
ENOENT sys open s:/dev/mem O_RDONLY
ENOENT sys open s:/dev/kvm O_RDWR
ENOENT sys open s:/dev/fuse O_RDWR
ENOENT sys open s:/dev/console O_RDWR
EROFS  sys creat s:/dev/new 0644
EROFS  sys symlink s:null s:/dev/mem
EROFS  sys rename s:/dev/random s:/dev/console
ok     sys open s:/dev/null O_RDWR
ok     sys open s:/dev/urandom O_RDONLY
ok     sys open s:/dev/shm/own O_RDWR|O_CREAT 0600
END
equal "" "$(ls -d /dev/new 2>/dev/null)" "the host's /dev"
