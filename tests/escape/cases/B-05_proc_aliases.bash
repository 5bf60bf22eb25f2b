# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-05 other names of the same place, by way of /proc and /dev, give the same answer
# layers: mount
source "$ESCAPE/lib.bash"

plant "$OUT/file"
plant "$T/hidden/file"
before=$(witness "$OUT" "$T/hidden")
for alias in /proc/self/root /proc/thread-self/root /proc/self/cwd/../../.. /proc/self/task/../root \
    /proc/self/cwd/../../../proc/self/root; do
    attempts --ro "$OUT" <<END
EROFS  append $alias$OUT/file
EROFS  sys creat s:$alias$OUT/new 0644
EROFS  sys unlink s:$alias$OUT/file
EROFS  sys creat s:$alias/etc/bawn-escape 0644
ENOENT append $alias$T/hidden/file
ENOENT read $alias$T/hidden/file
ok     read $alias$OUT/file original
ok     write $alias$WS/made
END
done
unchanged "$before" "$OUT" "$T/hidden"

# Through a descriptor that is open for reading, or only for its path.
sandbox --ro "$OUT" -- /bin/bash -c '
    exec 5<"$1/file" 6<"$1" 7<made
    "$2" <<END
append /proc/self/fd/5
append /proc/thread-self/fd/5
append /dev/fd/5
sys truncate s:/proc/self/fd/5 0
sys creat s:/proc/self/fd/6/new 0644
sys openat 6 s:new O_WRONLY|O_CREAT 0644
sys openat 6 s:../../../../etc/bawn-escape O_WRONLY|O_CREAT 0644
append /dev/fd/7
END' sh "$OUT" "$BIN/try"
sandbox_ran
mapfile -t got < <(cut -f1 "$T/stdout")
equal "EROFS EROFS EROFS EROFS EROFS EROFS EROFS" "${got[*]:0:7}" "through descriptors"
is ok "${got[7]:-}" "the workspace through a descriptor"
unchanged "$before" "$OUT" "$T/hidden"

# Another process of the sandbox has no other root, pid 1 does not show its own.
sandbox --ro "$OUT" -- /bin/bash -c '
    sleep 5 & other=$!
    printf "%s\n" "append /proc/$other/root$1/file" "append /proc/1/root$1/file" "list /proc/1/root$2" "list /proc/$other/root$2" | "$3"
    kill $other' sh "$OUT" "$T/hidden" "$BIN/try"
mapfile -t got < <(cut -f1 "$T/stdout")
verdict "EROFS|EACCES" "${got[0]:-}" "by way of a sibling's root"
verdict "EROFS|EACCES|EPERM" "${got[1]:-}" "by way of pid 1's root"
verdict "ENOENT|EACCES|EPERM" "${got[2]:-}" "what is hidden, by way of pid 1"
verdict ENOENT "${got[3]:-}" "what is hidden, by way of a sibling"
unchanged "$before" "$OUT" "$T/hidden"
