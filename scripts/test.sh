#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds with gcc, with clang and with sanitizers, lints, and runs the whole suite; as root it runs
# everything again as an ordinary user. Ends with "N passed, N failed, N skipped".
# Tests run beside each other and beside lint, so that some meet a machine that is too busy for them. What failed is
# run once more at the end, alone. What passes then is told as unsteady, each time.
#
#     scripts/test.sh            all of it
#     scripts/test.sh --quick    one build, quick lint, the suite and a sample of the battery, as who you
#                                are: what to run after every change
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

quick=${1:-}
test_user=bawn-test
passed=0 failed=0 skipped=0

# note NAME STATUS: one result that no TAP file has.
note() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $1"
    fi
}

# count DIR: adds up the TAP files of one run and shows what failed.
count() {
    local ok bad skips
    ok=$(cat "$1"/*.tap | grep -c '^ok ')
    bad=$(cat "$1"/*.tap | grep -c '^not ok ')
    skips=$(cat "$1"/*.tap | grep -ciE '^ok .*# skip')
    [ -f "$1/skips" ] && skips=$((skips + $(wc -l <"$1/skips")))
    grep -hE '^(not ok|# \()' "$1"/*.tap
    [ -f "$1/skips" ] && cat "$1/skips"
    grep -hiE '^ok .*# skip' "$1"/*.tap
    passed=$((passed + ok - skips)) failed=$((failed + bad)) skipped=$((skipped + skips))
    echo "    $((ok - skips)) passed, $bad failed, $skips skipped"
}

build() {
    local dir=$1 compiler=$2
    shift 2
    # A directory that "make run" set up before check was installed has no tests in it yet.
    if [ -f "$dir/build.ninja" ]; then
        grep -q 'tests/test_' "$dir/build.ninja" ||
            meson configure "$dir" -Dtests=enabled >/dev/null || return 1
    else
        CC=$compiler meson setup "$dir" -Dtests=enabled "$@" >/dev/null || return 1
    fi
    ninja -C "$dir" --quiet
}

# stage DIR: what a run needs, where any user can read it.
stage() {
    local to=$1 dir=$2
    mkdir -p "$to/bin" "$to/tests"
    find "$dir/tests" -maxdepth 1 -type f -perm -u+x -exec cp {} "$to/bin/" \;
    cp "$dir/bawn-changes" "$dir/bawn-git" "$dir/bawn-net" "$dir/bawn-policy" "$dir/docgen" "$dir/libbawn.3" "$to/bin/"
    cp -r docs examples include README.md Makefile "$to/"
    # Sanitizers do not survive a filter of system calls: the launcher and bawn-net are the plain ones.
    cp build/bawn build/bawn-net "$to/bin/"
    cp -r tests/cli tests/escape tests/fuzz tests/golden tests/live tests/net tests/vectors "$to/tests/"
    chmod -R a+rX "$to"
}

# later LABEL FAILURES COMMAND...: run once more at the end. In a file, because parts of the tests have sums of their own.
later() {
    local entry
    entry=$(mktemp "$work/later.XXXXXX")
    printf '%s\n%s\n' "$1" "$2" >"$entry"
    shift 2
    printf '%q ' "$@" >>"$entry"
}

# once_more: what failed, alone. So much that fails is no accident.
most_accidents=6
once_more() {
    local entry label failures command entries=()
    mapfile -t entries < <(find "$work" -maxdepth 1 -name 'later.*')
    [ ${#entries[@]} -gt 0 ] || return 0
    [ ${#entries[@]} -le $most_accidents ] || { echo "==> too much failed to run it once more"; return 0; }
    echo "==> what failed, once more"
    for entry in "${entries[@]}"; do
        { read -r label; read -r failures; read -r command; } <"$entry"
        if eval "$command" >"$entry.out" 2>&1; then
            echo "unsteady: $label: $failures failed, and passed alone"
            passed=$((passed + failures)) failed=$((failed - failures))
        else
            echo "FAILED again: $label"
            grep -A14 '^not ok' "$entry.out"
        fi
    done
}

# passes COMMAND...: whether a program that tells its results in TAP tells some, and good ones alone.
passes() {
    local results status
    results=$("$@")
    status=$?
    printf '%s\n' "$results"
    [ $status -eq 0 ] && grep -q '^ok ' <<<"$results" && ! grep -q '^not ok ' <<<"$results"
}

# timed LABEL COMMAND...: one result that depends on the time that something takes.
timed() {
    local label=$1
    shift
    "$@" && { note "$label" 0; return; }
    note "$label" 1
    later "$label" 1 "$@"
}

# ended NAME STATUS TAP COMMAND...: a program that failed without a case that says so (a crash between cases, a
# time limit, a leak found at exit) or that gave no results is a failure of its own. The command runs what failed once
# more.
ended() {
    local label=$1 status=$2 tap=$3 failures
    shift 3
    failures=$(grep -c '^not ok ' "$tap" 2>/dev/null)
    if ! grep -qE '^(not )?ok ' "$tap" 2>/dev/null; then
        note "$label gave no results" 1
        failures=1
    elif [ "$status" -ne 0 ] && [ "$failures" -eq 0 ]; then
        note "$label ended with status $status, and every case it told of passed" 1
        failures=1
    fi
    [ "$status" -eq 0 ] || later "$label" "$failures" "$@"
}

# begin LABEL DIR [USER]: makes a place for results, $tap, and says who the tests run as, ${as[@]}: the
# user running this or the one named.
begin() {
    local label=$1 dir=$2 user=${3:-}
    tap=$(mktemp -d "$dir/tap.XXXXXX")
    as=(env)
    if [ -n "$user" ]; then
        chown "$user" "$tap"
        as=(runuser -u "$user" -- env)
    fi
    as+=(-C "$dir" "BAWN_TEST_TAP=$tap" "BAWN=$dir/bin/bawn"
        "ASAN_OPTIONS=detect_leaks=1" "HOME=$tap")
    echo "==> $label"
}

# programs LABEL DIR [USER]: the test programs of a staged directory, and those that replay corpora.
programs() {
    local label=$1 dir=$2 user=${3:-} program name status
    for program in "$dir"/bin/test_*; do
        name=$(basename "$program")
        # An ordinary user has no control group here: there is nothing that it could show.
        [ "$user/$name" = "$test_user/test_cgroup" ] && continue
        "${as[@]}" timeout 300 "$program" >"$tap/$name.out" 2>&1
        status=$?
        [ $status -eq 0 ] || cat "$tap/$name.out"
        ended "$label: $name" $status "$tap/${name#test_}.tap" "${as[@]}" timeout 300 "$program"
    done
    for program in "$dir"/bin/replay_*; do
        name=$(basename "$program")
        "${as[@]}" timeout 300 "$program" "tests/fuzz/corpus/${name#replay_}" \
            >"$tap/$name.out" 2>&1
        status=$?
        [ $status -eq 0 ] || cat "$tap/$name.out"
        note "$label: $name" $status
    done
}

# cli LABEL FILE...: tests of the command line.
cli() {
    local label=$1 status names
    shift
    "${as[@]}" bats --formatter tap --print-output-on-failure "$@" >"$tap/cli.tap" 2>"$tap/cli.err"
    status=$?
    [ $status -eq 0 ] || { cat "$tap/cli.err"; grep -A12 '^not ok' "$tap/cli.tap" | grep '^#'; }
    names=$(sed -nE 's/^not ok [0-9]+ //p' "$tap/cli.tap" | sed 's/[][\.*^$+?(){}|]/\\&/g' | paste -sd'|')
    ended "$label: bats" $status "$tap/cli.tap" passes "${as[@]}" bats --formatter tap --filter "^($names)\$" "$@"
}

# suite LABEL DIR [USER]: everything in a staged directory.
suite() {
    local tap as
    begin "$@"
    programs "$@"
    cli "$1" tests/cli
    count "$tap"
}

# part WHAT LABEL DIR [FILE...]: some of it: "programs", or the named files of "cli".
part() {
    local what=$1 label=$2 dir=$3 tap as
    shift 3
    begin "$label, $what" "$dir"
    if [ "$what" = cli ]; then
        cli "$label" "$@"
    else
        programs "$label" "$dir"
    fi
    count "$tap"
}

# beside FUNCTION ARGUMENT...: in the background; together shows what it said, and adds it up.
jobs=() pids=()
beside() {
    local log
    log=$(mktemp "$work/log.XXXXXX")
    jobs+=("$log")
    # shellcheck disable=SC2030 # sums of its own
    (
        passed=0 failed=0 skipped=0
        "$@" >"$log" 2>&1
        echo "    ${SECONDS} s since the beginning" >>"$log"
        echo "$passed $failed $skipped" >"$log.sum"
    ) &
    pids+=($!)
}
together() {
    local log sum
    [ ${#pids[@]} -eq 0 ] || wait "${pids[@]}"
    for log in "${jobs[@]}"; do
        cat "$log"
        if read -ra sum <"$log.sum"; then
            # shellcheck disable=SC2031 # not those of a part
            passed=$((passed + sum[0])) failed=$((failed + sum[1])) skipped=$((skipped + sum[2]))
        else
            note "a part of the tests ended early" 1
        fi
    done
    jobs=() pids=()
}

# remember USER: plans are kept in the homes that the user database names, whatever HOME is. What was not
# there before is removed at the end.
caches=()
remember() {
    local home
    home=$(getent passwd "$1" | cut -d: -f6)
    [ -n "$home" ] || return 0
    [ -e "$home/.cache/bawn" ] || caches+=("$home/.cache/bawn")
    [ -e "$home/.cache" ] || caches+=("$home/.cache")
    [ -e "$home/.local/state/bawn" ] || caches+=("$home/.local/state/bawn")
}
remember "$(id -un)"

# traces: what is bawn's, or a test's, outside of what a test gets to work in. Of the directory where a
# user's sessions are noted only what is in it counts: it stays.
traces() {
    local home
    home=$(getent passwd "$test_user" | cut -d: -f6)
    find /tmp /srv /var/tmp ${home:+"$home"} -mindepth 1 -maxdepth 1 -name 'bawn-*' \
        ! -path "$work" ! -regex '/tmp/bawn-[0-9]+' 2>/dev/null
    find /tmp/bawn-[0-9]* /run/bawn -mindepth 1 -maxdepth 1 2>/dev/null
    find /sys/fs/cgroup -type d -name 'bawn-*' 2>/dev/null
}

# leftovers: names what is there and was not at the start. What ends by itself may take a moment.
leftovers() {
    local left
    for _ in 1 2 3 4 5; do
        left=$(traces | sort | comm -13 "$work/traces" -)
        [ -n "$left" ] || return 0
        sleep 1
    done
    echo "left behind by the tests, or by somebody who runs bawn beside them:"
    printf '    %s\n' "$left"
    return 1
}
work=$(mktemp -d /tmp/bawn-test.XXXXXX)
chmod 755 "$work"
trap 'rm -rf "$work" "${caches[@]}"' EXIT
traces | sort >"$work/traces"

# battery LABEL ARGUMENT...: what must stay contained, tried for real.
battery() {
    local label=$1 tap status word failed_cases ways=()
    shift
    echo "==> battery, $label"
    tap=$(mktemp -d "$work/tap.XXXXXX")
    chmod 755 "$tap"
    tests/escape/run --bawn "$work/plain/bin/bawn" --probes "$tap/probes" "$@" >"$tap/escape.tap" 2>"$tap/escape.err"
    status=$?
    mapfile -t failed_cases < <(sed -nE 's/^not ok [0-9]+ - (goes red: )?([A-Z]+-[0-9]+).*/\2/p' "$tap/escape.tap" | sort -u)
    for word in "$@"; do
        [[ $word == [A-Z]-* ]] || ways+=("$word")
    done
    ended "battery, $label" $status "$tap/escape.tap" passes tests/escape/run --bawn "$work/plain/bin/bawn" \
        --probes "$tap/probes" "${ways[@]}" "${failed_cases[@]}"
    [ -s "$tap/escape.tap" ] || cat "$tap/escape.err"
    grep -A14 '^not ok' "$tap/escape.tap" | grep '^#'
    count "$tap"
}

# live LABEL COMMAND...: a program that drives bawn and says how it went in TAP.
live() {
    local label=$1 tap
    shift
    echo "==> $label"
    tap=$(mktemp -d "$work/tap.XXXXXX")
    "$@" >"$tap/live.tap" 2>"$tap/live.err"
    ended "$label" $? "$tap/live.tap" passes "$@"
    grep '^# seed' "$tap/live.tap"
    grep -A14 '^not ok' "$tap/live.tap" | grep '^#'
    count "$tap"
}

# differ LABEL SECONDS ARGUMENT...: whether file calls give inside what they give outside. Always the same ones: "make
# differ" makes others each time.
differ() {
    local label=$1 seconds=$2
    shift 2
    live "$label" python3 tests/differ/differ.py --bawn "$work/plain/bin/bawn" --seconds "$seconds" --seed 1 "$@"
}

# sum: all results in a line; whether they are good enough.
sum() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] || return 1
    [ "${BAWN_TEST_REQUIRE:-}" != all ] || [ "$skipped" -eq 0 ] && return 0
    echo "hint: BAWN_TEST_REQUIRE=all: a skip is a failure here" >&2
    return 1
}

echo "==> build"
build build gcc; note "build with gcc" $?
[ $failed -eq 0 ] || { sum; exit 1; }
if [ "$quick" = --quick ]; then
    echo "==> lint"
    scripts/lint.sh --quick; note "lint" $?
    stage "$work/plain" build
    me=$(id -un)
    # All at once, for most of it waits for something.
    for first in 0 1 2 3; do
        files=()
        for file in tests/cli/*.bats; do
            [ $((first++ % 4)) -ne 0 ] || files+=("$file")
        done
        beside part cli "as $me" "$work/plain" "${files[@]}"
    done
    beside part programs "as $me" "$work/plain"
    beside battery "as $(id -un)" B-0 B-1 C-0 D-0 E-0
    beside live "calls are as outside, as $me" python3 tests/differ/differ.py --bawn "$work/plain/bin/bawn" --seconds 1 \
        --seed 1
    together
    leftovers; note "nothing is left behind" $?
    sum
    exit
fi
build build-clang clang; note "build with clang" $?
build build-asan gcc -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 \
    -Db_pie=true; note "build with sanitizers" $?
[ $failed -eq 0 ] || { sum; exit 1; }

# Meanwhile, for most tests wait for something.
(
    nice scripts/lint.sh >"$work/lint" 2>&1
    echo $? >"$work/lint.status"
) &
lint_pid=$!

# installed DIR: what a C user gets works from headers, library and pkg-config alone, and exports
# nothing but the API.
installed() {
    local to=$1 pc
    DESTDIR=$to meson install -C build --quiet || return 1
    pc=$(find "$to" -name bawn.pc -printf '%h\n')
    cat >"$to/program.c" <<'C'
#include <bawn/bawn.h>
#include <stdio.h>
int main(void)
{
    struct bawn_load *load = NULL;
    struct bawn_policy *policy = NULL;
    struct bawn_error err;
    bool allowed;

    if (bawn_load_new(&load, &err) < 0 || bawn_policy_load(load, &policy, NULL, &err) < 0)
        return 2;
    allowed = bawn_can_read(policy, "/etc/shadow", NULL, &err);
    bawn_policy_free(policy);
    bawn_load_free(load);
    return allowed ? 1 : 0;
}
C
    # shellcheck disable=SC2046 # pkg-config gives several words
    cc -Wall -Wextra -Werror -o "$to/program" "$to/program.c" \
        $(PKG_CONFIG_SYSROOT_DIR=$to PKG_CONFIG_PATH=$pc pkg-config --cflags --libs bawn) || return 1
    local lib
    lib=$(dirname "$(find "$to" -name libbawn.so)")
    env -i HOME=/ LD_LIBRARY_PATH="$lib" "$to/program" || return 1
    [ -z "$(nm -D --defined-only "$lib/libbawn.so" | awk '$3 !~ /^bawn_/')" ] || return 1
    [ -z "$(nm -g --defined-only "$lib/libbawn.a" | awk 'NF == 3 && $3 !~ /^bawn_/')" ] || return 1
    # shellcheck disable=SC2046 # pkg-config gives several words
    cc -o "$to/static" "$to/program.c" -I"$(dirname "$(find "$to" -name bawn -type d -path '*include*')")" \
        "$lib/libbawn.a" $(pkg-config --libs yaml-0.1 jansson libmd libseccomp) || return 1
    env -i HOME=/ "$to/static" || return 1
    [ "$(find "$to" -name '*bawn*.[135]' -o -name 'bawn.bash' -o -name '_bawn' -o -name 'bawn.fish' |
        wc -l)" -eq 6 ]
}
echo "==> install"
installed "$work/installed"; note "install" $?
echo "==> packages"
scripts/deb.sh build/deb; note "packages" $?

stage "$work/plain" build
stage "$work/asan" build-asan
# These are about the launcher, which is the same there.
rm "$work/asan/tests/cli/"{approve,asked_exec,asked_programs,asked_reads,asked_sockets,clocks,copy,debug,environment,events,home,inside,late,limits,logs,prompt,rates,readme,run,save,saved_answers,session,terminal,waiting,why_inside,work}.bats
me=$(id -un)
# Two at a time: most cases wait for something.
if [ "$(id -u)" -eq 0 ]; then
    id "$test_user" >/dev/null 2>&1 || useradd -m "$test_user"
    remember "$test_user"
    beside suite "plain, as $test_user" "$work/plain" "$test_user"
fi
beside suite "plain, as $me" "$work/plain"
together
if [ "$(id -u)" -eq 0 ]; then
    beside suite "sanitized, as $test_user" "$work/asan" "$test_user"
    beside part programs "sanitized, as $me" "$work/asan"
else
    beside suite "sanitized, as $me" "$work/asan"
fi
together

beside battery "as $me"
if [ "$(id -u)" -eq 0 ]; then
    beside battery "as $test_user" --user "$test_user"
    together
    # All of them go red without a sandbox, which takes long to see; here a sample.
    beside battery "without a sandbox" --without-sandbox B-0 B-1 C-01 C-03 D-01 D-02 D-09 E-01 E-03
    beside battery "inside another sandbox" --nested A-02 B-01 B-08 B-11 B-29 \
        C-01 C-05 D-01 D-02 D-09 D-14 E-01
fi
together

live "terminal" python3 tests/live/terminal.py "$work/plain/bin/bawn"
live "jobs of a shell" python3 tests/live/jobs.py "$work/plain/bin/bawn"
live "keys" python3 tests/live/keys.py "$work/plain/bin/bawn"
beside live "bawn-net alone" python3 tests/net/run.py --build "$work/plain/bin"
beside live "bawn-net alone, sanitized" env "ASAN_OPTIONS=log_path=$work/asan.log" \
    python3 tests/net/run.py --build "$work/asan/bin" --sanitized
beside live "requests on kept connections" python3 tests/net/kept.py --build "$work/plain/bin"
beside live "requests on kept connections, sanitized" env "ASAN_OPTIONS=log_path=$work/asan.log" \
    python3 tests/net/kept.py --build "$work/asan/bin" --sanitized
beside live "hosts that are asked about" python3 tests/net/approve.py --build "$work/plain/bin"
beside live "hosts that are asked about, sanitized" env "ASAN_OPTIONS=log_path=$work/asan.log" \
    python3 tests/net/approve.py --build "$work/asan/bin" --sanitized
together
live "many at once" python3 tests/live/soak.py --bawn "$work/plain/bin/bawn" --runs 60 --at-once 20
live "check and the kernel agree" python3 tests/truth/truth.py --bawn "$work/plain/bin/bawn" --seed 1 --cases 40 \
    --seconds 9
differ "calls are as outside" 5
differ "what an overlay keeps and apply takes is as outside" 5 --overlay --mode alone --place disk
if [ "$(id -u)" -eq 0 ]; then
    differ "calls are as outside, as $test_user" 5 --user "$test_user"
    differ "what an overlay keeps and apply takes is as outside, as $test_user" 5 --overlay --mode alone --place disk \
        --user "$test_user"
    live "check and the kernel agree, as $test_user" python3 tests/truth/truth.py \
        --bawn "$work/plain/bin/bawn" --user "$test_user" --seed 2 --cases 40 --seconds 9
    live "terminal, as $test_user" runuser -u "$test_user" -- \
        python3 "$work/plain/tests/live/terminal.py" "$work/plain/bin/bawn"
    live "jobs of a shell, as $test_user" runuser -u "$test_user" -- \
        python3 "$work/plain/tests/live/jobs.py" "$work/plain/bin/bawn"
    live "keys, as $test_user" runuser -u "$test_user" -- \
        python3 "$work/plain/tests/live/keys.py" "$work/plain/bin/bawn"
    live "many at once, as $test_user" python3 tests/live/soak.py --bawn "$work/plain/bin/bawn" \
        --user "$test_user" --runs 60 --at-once 20
    # A sample: "make conformance" tries all rows.
    live "vectors against the kernel" tests/conformance/run --bawn "$work/plain/bin/bawn" \
        --tap --every 4 --way query --way kernel
    live "vectors in a sandbox in a sandbox" tests/conformance/run --bawn "$work/plain/bin/bawn" \
        --tap --every 12 --way "nested query" --way nested
    live "packages are installed and removed" scripts/test-deb.sh build/deb
    live "install below a home" bats --formatter tap tests/live/install.bats
    live "containers and virtual machines" env "BAWN=$work/plain/bin/bawn" \
        bats --formatter tap tests/live/ids.bats tests/live/kvm.bats tests/live/podman.bats
    # A network of their own, where every address is a witness.
    lab=$work/plain/tests/net
    "$lab/client/build.sh" "$work/net"; note "clients for the lab" $?
    live "the lab leaves nothing behind" bats --formatter tap "$lab/lab.bats"
    for user in "$me" "$test_user"; do
        beside live "clients, as $user" "$lab/lab" --user "$user" -- python3 "$lab/clients.py" \
            --bawn "$work/plain/bin/bawn" --clients "$work/net" --lane test
    done
    together
    for user in "$me" "$test_user"; do
        beside live "what must not leave the network, as $user" "$lab/lab" --user "$user" -- \
            python3 "$lab/contain.py" --bawn "$work/plain/bin/bawn"
    done
    for user in "$me" "$test_user"; do
        beside live "hosts are counted, as $user" "$lab/lab" --user "$user" -- \
            python3 "$lab/counts.py" --bawn "$work/plain/bin/bawn"
    done
    together
    for user in "$me" "$test_user"; do
        beside live "hosts are asked about, as $user" "$lab/lab" --user "$user" -- \
            python3 "$lab/asked.py" --bawn "$work/plain/bin/bawn" --answerer "$work/plain/bin/answerer"
    done
    together
    for user in "$me" "$test_user"; do
        beside live "sockets are handed over, as $user" "$lab/lab" --user "$user" -- \
            python3 "$lab/handover.py" --bawn "$work/plain/bin/bawn"
    done
    together
    for user in "$me" "$test_user"; do
        beside live "ports, and the mode isolated, as $user" "$lab/lab" --user "$user" -- \
            python3 "$lab/ports.py" --bawn "$work/plain/bin/bawn"
    done
    # Without nf_tables. A sample: "make test-plain" tries all.
    for user in "$me" "$test_user"; do
        beside live "without nf_tables, as $user" "$lab/lab" --user "$user" -- \
            python3 "$lab/plain.py" --bawn "$work/plain/bin/bawn"
    done
    together
    for user in "$me" "$test_user"; do
        beside live "what must not leave the network without nf_tables, as $user" "$lab/without_nft" \
            "$lab/lab" --user "$user" -- python3 "$lab/contain.py" --bawn "$work/plain/bin/bawn" \
            H-02 H-03 H-08 H-10 H-13 H-20 H-21 H-22 H-25
        beside live "hosts are asked about without nf_tables, as $user" "$lab/without_nft" \
            "$lab/lab" --user "$user" -- python3 "$lab/asked.py" --bawn "$work/plain/bin/bawn" \
            --answerer "$work/plain/bin/answerer" "every way" H-
    done
    for user in "$me" "$test_user"; do
        beside live "engines of the mode isolated, as $user" "$lab/lab" --tun --user "$user" -- \
            python3 "$lab/engine.py" --bawn "$work/plain/bin/bawn"
    done
    beside live "the mode veth" "$lab/lab" -- python3 "$lab/veth.py" --bawn "$work/plain/bin/bawn"
    beside live "bawn-net alone, as $test_user" runuser -u "$test_user" -- \
        python3 "$work/plain/tests/net/run.py" --build "$work/plain/bin"
    together
fi
live "each call of the set-up fails" tests/escape/fault/run --bawn "$work/plain/bin/bawn"

echo "==> lint"
wait "$lint_pid"
cat "$work/lint"; note "lint" "$(cat "$work/lint.status" 2>/dev/null || echo 1)"

echo "==> bench"
timed "bench" build/tests/bench_query --check
timed "bench of the start" scripts/bench.py --quick --check

once_more
leftovers; note "nothing is left behind" $?
sum
