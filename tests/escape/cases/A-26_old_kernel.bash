# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-26 where the kernel is too old for one call, another way holds as well, or nothing is run
# layers: mount
# seconds: 90
source "$ESCAPE/lib.bash"

own_mounts "$0"
options=(--ro "$OUT")
# Read-only trees mount by mount: those below, with what is locked on them, and one that is covered.
mkdir -p "$OUT/sub" "$WS/sub" "$WS/.git/hooks" "$WS/later" "$OUT/with space"
mount --bind "$T" "$T" || skip "no mounts here"
mount --make-rshared "$T" || skip "no shared mounts here"
cd "$WS" || exit 1
for tree in "$OUT" "$WS"; do
    mount -t tmpfs -o mode=777 hidden "$tree/sub"
    mkdir "$tree/sub/gone"
    mount -t tmpfs -o mode=777 hidden "$tree/sub/gone"
    mount -t tmpfs -o mode=777,noexec,noatime below "$tree/sub"
    plant "$tree/sub/file"
done
mount -t tmpfs -o mode=777 below "$OUT/with space"
plant "$OUT/with space/file"
touch "$T/on" "$OUT/one"
mount --bind "$T/on" "$OUT/one"
chmod 666 "$T/on"
at_end 'cd /; umount "$OUT/one" "$OUT/with space" "$OUT/sub" "$OUT/sub/gone" "$OUT/sub"
    umount "$WS/sub" "$WS/sub/gone" "$WS/sub"'
before=$(witness "$OUT")

for missing in mount_setattr=ENOSYS mount_setattr=EPERM; do
    forget
    under "$missing"
    if ((UID == 0)); then
        # The ids of files are mapped by the same call.
        options=(--ro "$OUT")
        sandbox "${options[@]}" -- touch ran
        sandbox_refused "id map"
        grep -q 'hint: .*--as-root' "$T/stderr" || broken "no remedy: $(cat "$T/stderr")"
        options+=(--as-root)
    fi
    attempts "${options[@]}" <<END
EROFS append $OUT/sub/file
EROFS sys creat s:$OUT/sub/new 0644
EROFS append $OUT/one
EROFS sys creat s:/etc/bawn-new 0644
EROFS sys creat s:$WS/.git/hooks/pre-commit 0644
EBUSY sys rename s:$WS/.git s:$WS/.gone
ok    append $WS/sub/file
ok    sys creat s:$WS/mine 0644
END
    sandbox "${options[@]}" -- sh -c 'echo >"$1/with space/file"' sh "$OUT"
    equal 2 "$STATUS" "status of a write below a name with a space"
    sandbox "${options[@]}" -- findmnt -no OPTIONS "$OUT/sub"
    equal yes "$(grep -q ro, "$T/stdout" && grep -q noexec "$T/stdout" && echo yes)" \
        "a mount below keeps what it had: $(cat "$T/stdout")"
    unchanged "$before" "$OUT"
done

# What the host mounts later stays outside.
rm -f "$WS/started" "$WS/go"
SANDBOX_SECONDS=20 sandbox "${options[@]}" -- sh -c '
    echo >started; while [ ! -e go ]; do sleep 0.05; done; grep -c hostmount /proc/self/mountinfo' &
job=$!
wait_for 10 test -e "$WS/started" || broken "the sandbox did not start"
mount -t tmpfs hostmount "$WS/later"
touch "$WS/go"
wait "$job"
umount "$WS/later"
equal 0 "$(cat "$T/stdout")" "later mounts of the host inside"

# What there is no other way for.
for missing in openat2 open_tree move_mount close_range clone3; do
    forget
    under "$missing=ENOSYS"
    sandbox -- touch ran
    sandbox_refused "needs "
    grep -q "^hint: 'bawn doctor'" "$T/stderr" || broken "no remedy for $missing: $(cat "$T/stderr")"
done
under

# A /proc that is covered in part allows no fresh one: files that tell of the machine are shown, and only by
# best effort. C-24 tells more.
forget
covered=(unshare --user --map-current-user --keep-caps --mount sh -c 'mount -t tmpfs none /proc/sys &&
    exec unshare --user --map-current-user --keep-caps --mount "$@"' sh)
if ((UID != 0)) && "${covered[@]}" true; then
    run_covered() {
        STATUS=0
        "${covered[@]}" "$BAWN" run -C "$WS" "$@" >"$T/stdout" 2>"$T/stderr" || STATUS=$?
    }
    run_covered -- touch ran
    sandbox_refused "/proc"
    grep -q 'hint: .*--best-effort' "$T/stderr" || broken "no remedy: $(cat "$T/stderr")"
    run_covered --best-effort -- sh -c 'echo /proc/*; : >/proc/x'
    equal "/proc/{cpuinfo,devices,filesystems,meminfo,stat,swaps,uptime,version,vmstat}" \
        "/proc/{$(sed 's|/proc/||g; s| |,|g' "$T/stdout")}" "what /proc shows"
    equal 2 "$STATUS" "status of a write to /proc"
fi
