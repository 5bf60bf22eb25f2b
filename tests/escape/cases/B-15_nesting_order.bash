# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-15 the most specific rule wins, in whatever order the rules are given
# layers: mount
source "$ESCAPE/lib.bash"

mkdir -p "$OUT/a/b/c/d/e"
for dir in a a/b a/b/c a/b/c/d a/b/c/d/e; do
    plant "$OUT/$dir/file"
    chmod 777 "$OUT/$dir"
done
rules=("--ro $OUT/a" "--rw $OUT/a/b" "--deny $OUT/a/b/c" "--ro $OUT/a/b/c/d" "--rw $OUT/a/b/c/d/e")
before=$(witness "$OUT/a/file" "$OUT/a/b/c/file" "$OUT/a/b/c/d/file")
for order in "0 1 2 3 4" "4 3 2 1 0" "2 0 4 1 3" "1 3 0 2 4" "3 4 2 1 0"; do
    options=()
    for i in $order; do
        read -ra words <<<"${rules[i]}"
        options+=("${words[@]}")
    done
    attempts "${options[@]}" <<END
ok     read $OUT/a/file original
EROFS  append $OUT/a/file
ok     append $OUT/a/b/file
EACCES|ENOENT read $OUT/a/b/c/file
EACCES|EROFS|ENOENT sys creat s:$OUT/a/b/c/new 0644
ok     read $OUT/a/b/c/d/file original
EROFS  append $OUT/a/b/c/d/file
ok     append $OUT/a/b/c/d/e/file
END
done
unchanged "$before" "$OUT/a/file" "$OUT/a/b/c/file" "$OUT/a/b/c/d/file"
equal "" "$(ls "$OUT/a/b/c/new" 2>/dev/null)" "a file in the denied directory"
