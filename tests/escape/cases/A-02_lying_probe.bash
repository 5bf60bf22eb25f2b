# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-02 a layer that says it is there and does nothing is found out before the command runs
# layers: launch
# no mutant: the layers lie in it, one after the other
source "$ESCAPE/lib.bash"

sandbox -- touch ran
is yes "$([[ -e $WS/ran ]] && echo yes)" "the command runs where nothing lies"
rm -f "$WS/ran"
plant "$OUT/file"
plant "$WS/mine"
# The proof itself writes where it must not be able to: names and contents count here, not times.
seen() {
    names "$OUT" && cat "$OUT"/* && stat -c %a "$OUT/file"
}
before=$(seen)
# Where one layer lies and the others hold all the same, it may start: then no answer is a yes.
for lie in landlock_restrict_self seccomp mount_setattr capset pivot_root mount umount2 prctl; do
    forget
    rm -f "$OUT"/*
    plant "$OUT/file"
    under "$lie=0"
    sandbox --ro "$OUT" -- "$BIN/try" <<END
append $OUT/file
sys creat s:$OUT/new 0644
sys chmod s:$OUT/file 0600
append /etc/passwd
read /etc/shadow
sys open s:/proc/sys/kernel/core_pattern O_WRONLY
sys mount s:none s:$WS s:tmpfs 0 null
sys unshare 0x10000000
sys kill $$ 0
sys sethostname s:escaped 7
END
    CHECKED=$((CHECKED + 1))
    if ((STATUS == 125)); then
        grep -q '^bawn: ' "$T/stderr" || broken "no word why, with a lying $lie"
    elif ((STATUS == 0)); then
        echo "# note: a lying $lie is not told"
        while IFS=$'\t' read -r got what; do
            [[ $got != ok ]] || escaped "with a lying $lie: $what"
        done <"$T/stdout"
    else
        broken "status $STATUS with a lying $lie: $(head -n2 "$T/stderr")"
    fi
    equal "$before" "$(seen)" "the outside, with a lying $lie"
    under
done
