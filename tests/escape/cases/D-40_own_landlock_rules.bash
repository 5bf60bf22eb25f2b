# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-40 a program's own Landlock rules hold, or it is told that there is no Landlock
# layers: seccomp
# when: python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 3)'
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

fill() {
    rm -rf "$WS/own"
    mkdir -p "$WS/own/sub" "$WS/own/empty"
    plant "$WS/own/file"
}

# Where bawn makes calls for the program: none, whichever of the calls is asked.
fill
before=$(witness "$WS/own")
sandbox -- "$BIN/d_landlock" "$WS/own"
sandbox_ran
answers <<END
ENOSYS landlock-version
ENOSYS landlock-add-rule
ENOSYS landlock-restrict
END
# What it was not promised is not refused either; what it was is.
grep -q '^ok.own-' "$T/stdout" && escaped "rules that were accepted bind nothing"
unchanged "$before" "$WS/own"
is "" "$(grep own- "$T/stdout")" "what it tried although it was told"
is 1 "$("$BAWN" plan -C "$WS" 2>/dev/null | grep -c 'find no Landlock')" "the plan says so"

# Where it makes none they are the kernel's, and hold.
fill
before=$(witness "$WS/own")
sandbox --allow-containers -- "$BIN/d_landlock" "$WS/own"
if [[ $STATUS == 125 && ${BAWN_TEST_NESTED:-} ]]; then
    echo "# note: nested, containers are not to be had: $(head -n1 "$T/stderr")"
    exit
fi
sandbox_ran
answers <<END
ok landlock-version
EBADF|EINVAL landlock-add-rule
EBADF|EINVAL landlock-restrict
END
for call in open-write open-both open-create open-truncate truncate mkdir mkfifo symlink unlink \
    rmdir; do
    answers <<<"EACCES own-$call"
done
answers <<END
EACCES|EXDEV own-link
EACCES|EXDEV own-rename
END
unchanged "$before" "$WS/own"
is 0 "$("$BAWN" plan --allow-containers -C "$WS" 2>/dev/null | grep -c 'find no Landlock')" \
    "the plan says it where it is so"
