# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-03 a file that may only be read cannot be cut short
# layers: mount fds
source "$ESCAPE/lib.bash"

for tree in "$OUT" "$WS"; do
    for i in 1 2 3 4 5; do plant "$tree/f$i"; done
done
before=$(witness "$OUT")
attempts --ro "$OUT" <<END
EROFS  sys truncate s:$OUT/f1 0
EROFS  sys open s:$OUT/f2 O_RDONLY|O_TRUNC
EROFS  sys openat cwd s:$OUT/f3 O_WRONLY|O_TRUNC
EROFS  sys openat2 fd:$OUT s:f4 how:O_RDONLY|O_TRUNC,0,0 24
EINVAL|EBADF sys ftruncate rd:$OUT/f5 0
EROFS  sys truncate s:/proc/self/root$OUT/f1 0
EPERM|EROFS|EBADF|EOPNOTSUPP sys fallocate rd:$OUT/f5 0x3 0 1
ok     sys truncate s:$WS/f1 0
ok     sys open s:$WS/f2 O_RDONLY|O_TRUNC
ok     sys openat cwd s:$WS/f3 O_WRONLY|O_TRUNC
ok     sys openat2 fd:$WS s:f4 how:O_RDONLY|O_TRUNC,0,0 24
ok     sys ftruncate rw:$WS/f5 0
END
unchanged "$before" "$OUT"
is "0 0 0 0 0" "$(stat -c %s "$WS"/f{1..5} | xargs)" "sizes in the workspace"

# A descriptor that the caller happens to have open is not the command's.
exec 9<>"$OUT/f5"
sandbox -- "$BIN/try" <<<'sys ftruncate 9 0'
exec 9>&-
equal EBADF "$(cut -f1 "$T/stdout")" "ftruncate of the caller's descriptor"
unchanged "$before" "$OUT"
