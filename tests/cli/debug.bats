# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # run sets output, status and stderr
# --debug: processes inside may trace each other, and nobody else.
load common

setup_file() {
    cat >"$BATS_FILE_TMPDIR/traced.c" <<'END'
#include <stdio.h>
#include <unistd.h>
int inner(int number);
int inner(int number)
{
    if (number == 0) {
        puts("waiting");
        fflush(stdout);
        pause();
    }
    return number * 2;
}
int main(int argc, char **argv)
{
    return argc > 1 ? inner(0) : argv[0] ? inner(21) : 0;
}
END
    "${CC:-gcc}" -g -O0 -o "$BATS_FILE_TMPDIR/traced" "$BATS_FILE_TMPDIR/traced.c"
}

setup() {
    cli_setup
    cp "$BATS_FILE_TMPDIR/traced" .
}

needs() {
    command -v "$1" >/dev/null || skip "no $1 here"
}

@test "debug: gdb runs a program to a breakpoint and shows where it is" {
    needs gdb
    run "$BAWN" run --debug -- gdb -nx -batch -ex 'break inner' -ex run -ex bt -ex 'print number' \
        -ex 'set var number=3' -ex finish ./traced
    [[ $output == *"inner (number=21)"* ]]
    [[ $output == *"in main"* ]]
    [[ $output == *'$1 = 21'* ]]
    [[ $output == *"Value returned is"*"= 6"* ]]
}

@test "debug: gdb attaches to a sibling" {
    needs gdb
    run "$BAWN" run --debug -- sh -c './traced x >said & p=$!
        while ! grep -q waiting said; do sleep 0.05; done
        gdb -nx -batch -p $p -ex bt; kill $p'
    [[ $output == *"inner (number=0)"* ]]
}

@test "debug: strace follows children" {
    needs strace
    run "$BAWN" run --debug -- strace -f -e trace=exit_group sh -c './traced; true'
    [[ $output == *"exit_group(42)"* ]]
}

@test "debug: without it nobody is traced" {
    needs gdb
    needs strace
    run "$BAWN" run -- strace true
    [ "$status" -ne 0 ]
    [[ $output == *"Operation not permitted"* ]]
    run "$BAWN" run -- gdb -nx -batch -ex 'break inner' -ex run -ex bt ./traced
    [[ $output != *"inner (number=21)"* ]]
    run "$BAWN" run -- sh -c 'sleep 5 & : >>/proc/$!/mem'
    [ "$status" -ne 0 ]
}

@test "debug: pid 1 and the host's processes are out of reach" {
    needs gdb
    needs strace
    run "$BAWN" run --debug -- strace -p 1
    [ "$status" -ne 0 ]
    [[ $output == *"Operation not permitted"* ]]
    run "$BAWN" run --debug -- sh -c ': >>/proc/1/mem'
    [ "$status" -ne 0 ]
    sleep 30 &
    host=$!
    run "$BAWN" run --debug -- sh -c 'strace -p "$1"; ls /proc/"$1"' sh "$host"
    kill "$host"
    [ "$status" -ne 0 ]
    [[ $output == *"No such process"* ]]
}
