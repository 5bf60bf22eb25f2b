# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-02 modes, owners, times, attributes and flags of what may only be read do not change
# layers: mount
source "$ESCAPE/lib.bash"

# Each tree is the caller's own: only the sandbox stands in the way.
metadata() {
    local me
    me=$(stat -c %u "$WS")
    [[ $me == 0 || $me == "$(id -u)" ]] && me=-1
    sed "s|@|$1|g; s|ME|$me|g" <<'END'
sys chmod s:@/f1 0600
sys fchmod rd:@/f2 0600
sys fchmodat cwd s:@/f3 0600
sys fchmodat2 cwd s:@/f4 0600 0
sys fchmodat2 fd:@/f4 s: 0640 AT_EMPTY_PATH
sys chown s:@/f5 ME ME
sys fchown rd:@/f6 ME ME
sys lchown s:@/l1 ME ME
sys fchownat fd:@ s:f7 ME ME 0
sys fchownat fd:@/f7 s: ME ME AT_EMPTY_PATH
sys utime s:@/f8 null
sys utimes s:@/f9 null
sys futimesat cwd s:@/f10 null
sys utimensat cwd s:@/f11 null 0
sys utimensat rd:@/f12 null null 0
sys setxattr s:@/f13 s:user.escape buf 4 0
sys lsetxattr s:@/f14 s:user.escape buf 4 0
sys fsetxattr rd:@/f15 s:user.escape buf 4 0
sys ioctl rd:@/f17 0x40086602 buf
END
}
for tree in "$OUT" "$WS"; do
    changes_plant "$tree"
    printf 'sys setxattr s:%s s:user.kept buf 1 0\n' "$tree/f16" "$tree/f18" | "$BIN/try" >/dev/null
done

before=$(witness "$OUT")
attempts --ro "$OUT" < <(metadata "$OUT" | wanted EROFS)
attempts --ro "$OUT" < <(metadata "/proc/self/root$OUT" | wanted EROFS)
attempts --ro "$OUT" < <(metadata "/proc/self/cwd/../out" | wanted EROFS)
attempts --ro "$OUT" < <(metadata "$WS" | wanted ok)
unchanged "$before" "$OUT"

# KERNEL(6.13, 6.17): calls that work on a path and may be unknown here.
attempts --ro "$OUT" <<END
EROFS|ENOSYS sys setxattrat cwd s:$OUT/f1 0 s:user.escape buf 16
EROFS|ENOSYS sys removexattrat cwd s:$OUT/f1 0 s:user.kept
EROFS|ENOSYS sys file_setattr cwd s:$OUT/f1 buf 24 0
EROFS sys removexattr s:$OUT/f16 s:user.kept
EROFS sys lremovexattr s:$OUT/f18 s:user.kept
EROFS sys fremovexattr rd:$OUT/f18 s:user.kept
ok    sys removexattr s:$WS/f16 s:user.kept
ok    sys lremovexattr s:$WS/f18 s:user.kept
END
unchanged "$before" "$OUT"
