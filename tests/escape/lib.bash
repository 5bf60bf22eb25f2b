# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What every case starts with; README.md tells how a case is written. The runner sets $T, a directory
# of the case's own, $BAWN, the program under test, and $PROBES, where the probes are.

set -uo pipefail
: "${BAWN:?names the program under test}" "${T:?is the case\'s own directory}" "${PROBES:?}"

# Nothing of the host's matters: not its variables, not its home.
for name in "${!BAWN_@}" "${!XDG_@}"; do
    [[ $name == BAWN_TEST_* ]] || unset "$name"
done
unset name
export HOME=$T/home LC_ALL=C.UTF-8
export XDG_CACHE_HOME=$T/xdg/cache XDG_STATE_HOME=$T/xdg/state
WS=$T/ws   # the workspace: writable inside
OUT=$T/out # of the host: not there inside, unless a case grants it
BIN=$T/bin # the probes, readable inside
STATUS=0   # of the last sandbox
CHECKED=0 BROKEN=0
AT_END=()

mkdir -p "$WS" "$OUT" "$HOME" "$BIN" "$XDG_CACHE_HOME" "$XDG_STATE_HOME"
# In another sandbox that home is the one of the user database, where plans are kept.
[[ -z ${BAWN_TEST_NESTED:-} ]] || (umask 077 && mkdir -p "$HOME/.cache/bawn")
chmod 777 "$OUT"
cp "$PROBES"/* "$BIN"/ && rm -f "$BIN"/syscalls.h
cd "$WS" || exit 1

# Whatever ends a case: it fails if a check did, and if it checked nothing.
finish() {
    local status=$? command
    trap - EXIT
    for command in "${AT_END[@]}"; do
        eval "$command" >/dev/null 2>&1
    done
    ((status == 0 || status == 77)) || echo "# broken: the case itself ended with status $status"
    if ((status == 0 && CHECKED == 0)); then
        echo "# broken: nothing was checked"
        status=1
    fi
    ((status == 0 && BROKEN > 0)) && status=1
    exit "$status"
}
trap finish EXIT

# at_end COMMAND: to be run when the case ends, however it does.
at_end() {
    AT_END+=("$1")
}

# skip REASON: this host cannot show it.
skip() {
    echo "# skip: $*"
    exit 77
}

# escaped WHAT: what must not happen did.
escaped() {
    BROKEN=$((BROKEN + 1))
    echo "# not contained: $*"
}

# broken WHAT: the other side, that what is allowed works, does not hold.
broken() {
    BROKEN=$((BROKEN + 1))
    echo "# broken: $*"
}

# sandbox [OPTION]... -- COMMAND...: $STATUS, $T/stdout, $T/stderr. Standard input is passed on.
sandbox() {
    STATUS=0
    timeout -k 2 "${SANDBOX_SECONDS:-25}" "$BAWN" run -C "$WS" --ro "$BIN" "$@" \
        >"$T/stdout" 2>"$T/stderr" || STATUS=$?
    [[ -z ${BAWN_TEST_NESTED:-} || -e $T/outer ]] || broken "the outer sandbox did not start"
}

# sandbox_ran: the command of the last sandbox ran and ended well; else that is a broken case.
sandbox_ran() {
    CHECKED=$((CHECKED + 1))
    ((STATUS == 0)) || broken "the sandbox ended with $STATUS: $(tail -n2 "$T/stderr" | tr '\n' ' ')"
}

# sandbox_refused [TEXT]: exit 125 with "bawn: ..." (that has TEXT in it), and the canary did not
# run: a case gives 'touch ran' in the workspace as its command.
sandbox_refused() {
    CHECKED=$((CHECKED + 1))
    ((STATUS == 125)) || escaped "started (status $STATUS) where it must refuse${1:+: $1}"
    [[ ! -e $WS/ran ]] || escaped "the command ran"
    rm -f "$WS/ran"
    ((STATUS == 125)) || return 0
    grep -q '^bawn: ' "$T/stderr" || broken "no word why: $(head -n3 "$T/stderr")"
    [[ -z ${1:-} ]] || grep -qF -- "$1" "$T/stderr" ||
        broken "the refusal does not say '$1': $(head -n3 "$T/stderr")"
}

# attempts [OPTION]... <<END: in one sandbox with these options, each line "VERDICT ATTEMPT": what
# try must answer. 'ok' lines are the other side: what the policy allows. "A|B" is one of both, and 'any' is
# left to the witness.
attempts() {
    local want got line rest i=0
    local -a wanted=() lines=()

    while read -r want line; do
        [[ -z $want || $want == \#* ]] && continue
        wanted+=("$want")
        lines+=("$line")
    done
    sandbox "$@" -- "$BIN/try" < <(printf '%s\n' "${lines[@]}")
    sandbox_ran
    while IFS=$'\t' read -r got rest; do
        [[ $rest == "${lines[i]:-}" ]] || { broken "answer out of order: $rest"; break; }
        verdict "${wanted[i]}" "$got" "$rest"
        i=$((i + 1))
    done <"$T/stdout"
    ((i == ${#lines[@]})) || broken "$i of ${#lines[@]} attempts were answered"
}

# verdict WANTED GOT WHAT
verdict() {
    CHECKED=$((CHECKED + 1))
    [[ $1 == any || "|$1|" == *"|$2|"* ]] && return
    if [[ $1 == ok ]]; then
        broken "wanted ok, got $2: $3"
    else
        escaped "wanted $1, got $2: $3"
    fi
}

# equal WANTED GOT WHAT: of containment; is WANTED GOT WHAT: of the other side.
equal() {
    CHECKED=$((CHECKED + 1))
    [[ $1 == "$2" ]] || escaped "$3: $(differ "$1" "$2")"
}
is() {
    CHECKED=$((CHECKED + 1))
    [[ $1 == "$2" ]] || broken "$3: $(differ "$1" "$2")"
}
# differ WANTED GOT: in one line.
differ() {
    if [[ $1$2 == *$'\n'* ]]; then
        diff <(echo "$1") <(echo "$2") | grep '^[<>]' | head -n 8 | tr '\n' ' '
    else
        echo "wanted '$1', got '$2'"
    fi
}

# witness PATH...: what the host sees of these trees: type, mode, owner, inode, times, links, content.
witness() {
    local -a kept=()

    [[ ${BAWN_TEST_NESTED:-} ]] && kept=(-path "$HOME/.cache/bawn" -prune -o)
    find "$@" "${kept[@]}" -printf '%y %m %U:%G %i %n %T@ %C@ %s %p -> %l\n' 2>/dev/null | sort -k10
    find "$@" "${kept[@]}" -type f -exec sha256sum {} + 2>/dev/null | sort -k2
}

# names PATH: names, types and contents only; for trees that the command writes to beside.
names() {
    (cd "$1" && find . -printf '%y %p -> %l\n' | sort -k2)
}

# unchanged BEFORE PATH...: the witness of PATH... still is BEFORE.
unchanged() {
    local before=$1 after
    shift
    CHECKED=$((CHECKED + 1))
    after=$(witness "$@")
    [[ $before == "$after" ]] && return
    escaped "the host sees a change below $*:"
    diff <(echo "$before") <(echo "$after") | sed -n 's/^[<>]/#   &/p' | head -n 6
    return 0
}

# plant PATH [TEXT]: a file of the host's that everybody may write, as far as its mode goes.
plant() {
    mkdir -p "$(dirname "$1")"
    printf '%s\n' "${2:-original}" >"$1"
    chmod 666 "$1"
}

# changes DIR: every system call that changes a tree, by attempts in DIR, which 'changes_plant DIR'
# has filled; put the wanted verdict before each line.
changes_plant() {
    local i
    mkdir -p "$1"
    chmod 777 "$1"
    for i in {1..24}; do plant "$1/f$i"; done
    for i in 1 2 3 4 5 6; do
        mkdir -p "$1/d$i"
        chmod 777 "$1/d$i"
    done
    ln -sf f1 "$1/l1"
    ln -sf f1 "$1/l2"
}
changes() {
    sed "s|@|$1|g" <<'END'
sys creat s:@/n1 0644
sys open s:@/n2 O_WRONLY|O_CREAT 0644
sys open s:@/n3 O_RDONLY|O_CREAT|O_EXCL 0644
sys open s:@/f1 O_WRONLY
sys open s:@/f2 O_WRONLY|O_TRUNC
sys open s:@/f3 O_RDONLY|O_TRUNC
sys open s:@/f4 O_RDWR|O_APPEND
sys open s:@ O_TMPFILE|O_RDWR 0600
sys openat cwd s:@/n4 O_WRONLY|O_CREAT 0644
sys openat fd:@ s:n5 O_RDWR|O_CREAT 0644
sys openat fd:@/d1 s:../f5 O_WRONLY
sys openat2 cwd s:@/n6 how:O_WRONLY|O_CREAT,0644,0 24
sys openat2 fd:@ s:f6 how:O_RDWR,0,RESOLVE_BENEATH 24
sys openat2 fd:@ s:n7 how:O_WRONLY|O_CREAT,0644,RESOLVE_IN_ROOT 24
sys mkdir s:@/m1 0755
sys mkdirat fd:@ s:m2 0755
sys rmdir s:@/d2
sys unlink s:@/f7
sys unlinkat fd:@ s:f8 0
sys unlinkat fd:@ s:d3 AT_REMOVEDIR
sys unlink s:@/l2
sys rename s:@/f9 s:@/r1
sys renameat fd:@ s:f10 fd:@ s:r2
sys renameat2 fd:@ s:f11 fd:@ s:r3 0
sys renameat2 cwd s:@/f12 cwd s:@/r4 RENAME_NOREPLACE
sys renameat2 cwd s:@/f13 cwd s:@/f14 RENAME_EXCHANGE
sys rename s:@/d4 s:@/r5
sys symlink s:/etc/passwd s:@/s1
sys symlinkat s:/etc/passwd fd:@ s:s2
sys link s:@/f15 s:@/h1
sys linkat fd:@ s:f16 fd:@ s:h2 0
sys mknod s:@/p1 S_IFIFO|0644 0
sys mknodat fd:@ s:p2 S_IFREG|0644 0
sys mknod s:@/p3 S_IFSOCK|0644 0
sys truncate s:@/f17 0
append @/f18
write @/f19
END
}
# wanted VERDICT: puts it before every line.
wanted() {
    sed "s/^/$1 /"
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
    local tries=$(($1 * 20))
    shift
    while ! "$@"; do
        ((tries-- > 0)) || return 1
        sleep 0.05
    done
}

# protected_names: an example of every entry of the built-in list that holds in a workspace, one a
# line, relative to it.
protected_names() {
    sed -n 's|^  - {path: "\{0,1\}/\*\*/\([^",]*\)"\{0,1\}, why.*|\1|p' \
        "$ESCAPE/../../data/protected.yaml" |
        sed 's|/\*\*/|/deep/er/|g; s|?\*|bare|g; s|/\*/|/one/|g; s|^\*|any|'
}

# under CALL=ERRNO...: until 'under' alone, sandboxes are started where these system calls of the
# launcher fail so, or lie: =0. probe/inject.c.
under() {
    # Nested, they are the inner launcher's.
    if [[ ${BAWN_TEST_NESTED:-} ]]; then
        export BAWN_TEST_UNDER=${1:+"$BIN/inject $* --"}
        return
    fi
    REAL=${REAL:-$BAWN}
    BAWN=$REAL
    (($# > 0)) || return 0
    printf '#!/bin/sh\nexec "%s" %s -- "%s" "$@"\n' "$BIN/inject" "$*" "$REAL" >"$T/under"
    chmod 755 "$T/under"
    BAWN=$T/under
}

# forget: what bawn remembers of earlier runs counts no more: a variable that policies may name has
# another value. (Plans are kept in the caller's real home, where others may be at work.)
FORGOTTEN=0
forget() {
    FORGOTTEN=$((FORGOTTEN + 1))
    export XDG_STATE_HOME=$T/xdg/state$FORGOTTEN
}

# own_passwd HOME: the user database says that the caller's home is there, with own_mounts alone.
own_passwd() {
    printf 'me:x:%s:%s::%s:/bin/sh\n' "$(id -u)" "$(id -g)" "$1" >"$T/passwd"
    "$BIN/bind" "$T/passwd" /etc/passwd || skip "no mounts of one's own here"
}

# own_mounts "$0": starts the case anew where mounts are its own; for an ordinary user in a user
# namespace, as the same user with the right to mount.
own_mounts() {
    local flags=(--mount --propagation private)

    [[ -z ${IN_OWN_MOUNTS:-} ]] || return 0
    [[ -z ${BAWN_TEST_NESTED:-} || $UID == 0 ]] || skip "no ids for containers in a namespace of one"
    (($(id -u) == 0)) || flags+=(--user --map-current-user --keep-caps)
    IN_OWN_MOUNTS=1 exec unshare "${flags[@]}" bash "$1"
}

# Inside another sandbox it may refuse to start, with a word; then nothing is left to attempt.
if [[ ${BAWN_TEST_NESTED:-} ]]; then
    sandbox -- touch ran
    if ((STATUS != 0)); then
        sandbox_refused
        ((BROKEN > 0)) || echo "# refused to start inside another sandbox: $(grep -m1 '^bawn: ' "$T/stderr")"
        exit 0
    fi
    rm -f "$WS/ran"
fi
