# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# R-03 scratch space, files and inodes are bounded
# layers: launch cgroup
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

for dir in /tmp /var/tmp /dev/shm; do
    sandbox --set sandbox.limits.tmp_size=16MiB -- "$BIN/r_disk" bytes "$dir" 64
    sandbox_ran
    answers <<<"ENOSPC filled"
    made=$(awk '$2 == "made" { print $1 }' "$T/stdout")
    ((${made:-99} <= 16)) || escaped "$made MiB fit in $dir where 16 is the limit"
done
# All of them together, not each.
# shellcheck disable=SC2016
sandbox --set sandbox.limits.tmp_size=16MiB -- sh -c '
    for dir in /tmp /var/tmp /dev/shm /run ~/.cache; do head -c 6M /dev/zero >$dir/part; done
    cat /tmp/part /var/tmp/part /dev/shm/part /run/part ~/.cache/part | wc -c'
made=$(<"$T/stdout")
((${made:-0} >= 12 << 20)) || broken "only $made bytes fit in all of them"
((made <= 16 << 20)) || escaped "$made bytes fit where 16 MiB are the limit"
sandbox --set sandbox.limits.tmp_size=16MiB -- "$BIN/r_disk" inodes /tmp 40000
sandbox_ran
answers <<<"ENOSPC filled"

# One file in the workspace, which is the host's disk.
sandbox --set sandbox.limits.file_size=8MiB -- "$BIN/r_disk" bytes "$WS" 32
equal 153 "$STATUS" "the status of a program that writes past the limit (SIGXFSZ)"
equal $((8 << 20)) "$(stat -c %s "$WS/filler")" "the size of the file"
rm -f "$WS/filler"
sandbox --set sandbox.limits.file_size=8MiB -- "$BIN/r_disk" huge "$WS" 32
sandbox_ran
answers <<END
EFBIG filled
8 made
END
rm -f "$WS/filler"
sandbox --set sandbox.limits.file_size=8MiB -- "$BIN/r_disk" bytes "$WS" 4
answers <<<"ok filled"
rm -f "$WS/filler"

# A file is made longer by its name, too, which the launcher does for the command.
plant "$WS/filler"
attempts --set sandbox.limits.file_size=8MiB <<END
EFBIG sys truncate s:$WS/filler $((32 << 20))
ok    sys truncate s:$WS/filler $((4 << 20))
END
equal $((4 << 20)) "$(stat -c %s "$WS/filler")" "the size of the file"

# The launcher's own limit ends nobody.
ulimit -S -f 1024
sandbox -- sh -c "ulimit -S -f unlimited; $BIN/try; : >after" <<<"sys truncate s:$WS/filler $((32 << 20))"
sandbox_ran
ulimit -S -f unlimited
answers <<<"EFBIG sys truncate s:$WS/filler $((32 << 20))"
rm -f "$WS/filler" "$WS/after"
