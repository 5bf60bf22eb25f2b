# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-80 what is asked about is there to be seen, and no other way leads to what is in it
# layers: notify asking reads
# not: nested, the outer sandbox shows no other directory
source "$ESCAPE/lib.bash"

mkdir -p "$OUT/dir"
echo hidden-words >"$OUT/letter"
echo hidden-words >"$OUT/dir/letter"
printf '#!/bin/sh\necho hidden-words\n' >"$OUT/script"
cp "$BIN/try" "$OUT/program"
chmod -R a+rX "$OUT"
chmod 755 "$OUT/script" "$OUT/program"
before=$(witness "$OUT")
# The default profile has a /tmp of its own.
all="--profile=none --reads=dynamic --rw=$WS --ro=/usr --ro=/bin --ro=/lib --ro=/lib64 --ro=/etc"
for way in "$all" "--ask=$OUT"; do
    # shellcheck disable=SC2086 # several words
    attempts $way <<END
EACCES read $OUT/letter
EACCES list $OUT
EACCES list $OUT/dir
EACCES|ENOENT read /proc/self/root$OUT/letter
EACCES read $OUT/dir/../letter
EACCES read $OUT//letter
EACCES sys openat AT_FDCWD s:$OUT/letter O_RDONLY|O_NOFOLLOW
EACCES sys execve s:$OUT/script 0 0
EACCES sys execve s:$OUT/program 0 0
EACCES|EXDEV|EPERM|EROFS sys link s:$OUT/letter s:$WS/mine
EACCES|EXDEV|EROFS|EBUSY sys rename s:$OUT/letter s:$WS/mine
EACCES|EROFS append $OUT/letter
EACCES|EROFS sys truncate s:$OUT/letter 0
EACCES|EROFS write $OUT/new
EACCES|EROFS|EBUSY sys unlink s:$OUT/letter
ok read $BIN/try
ok write $WS/allowed
END
    # shellcheck disable=SC2086 # several words
    sandbox $way -- sh -c "ln -s '$OUT/letter' link; cat link <link; cat /dev/fd/3 3<'$OUT/letter'
        cd '$OUT' && cat letter dir/letter; sh script; (. ./script); stat -c %s letter; exit 0"
    sandbox_ran
    equal "" "$(grep hidden-words "$T/stdout")" "what was read with $way"
    grep -q '^13$' "$T/stdout" || broken "it cannot be looked at with $way"
done
unchanged "$before" "$OUT"
