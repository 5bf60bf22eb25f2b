# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2154 # run sets output and status
# "make PREFIX=~/.local install" by bawn-test, after "make", in a copy of this tree that belongs to it.
load ../cli/common

setup_file() {
    local tree=$BATS_FILE_TMPDIR/tree log=$BATS_FILE_TMPDIR/log

    [ "$(id -u)" -eq 0 ] || skip "only root can be another user"
    id bawn-test >/dev/null || skip "no user bawn-test"
    PROJECT=$(realpath "$BATS_TEST_DIRNAME/../..")
    export PROJECT
    [ -f "$PROJECT/build/bawn" ] || skip "no build"
    mkdir "$tree" "$BATS_FILE_TMPDIR/home"
    tar -C "$PROJECT" --exclude=./.git --exclude='./build-*' \
        --exclude=./build/{agents,deb,tests,work-sources} -c . | tar -C "$tree" -x
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/file" "$BATS_FILE_TMPDIR" 2>/dev/null
    chown -R bawn-test: "$BATS_FILE_TMPDIR"
    at_tree 'make all' >"$log.make" 2>&1 || { tail "$log.make" >&2; return 1; }
    at_tree 'make PREFIX=\~/.local install' >"$log" 2>&1 || { tail "$log" >&2; return 1; }
}

# in_place COMMAND...: where the copy is in the place of the project: a build knows its own path.
in_place() {
    unshare --mount --propagation private sh -c 'mount --bind "$0" "$1" && shift && exec "$@"' \
        "$BATS_FILE_TMPDIR/tree" "$PROJECT" "$@"
}

# at_tree SCRIPT: there, as bawn-test.
at_tree() {
    in_place runuser -u bawn-test -- env -i -C "$PROJECT" HOME="$BATS_FILE_TMPDIR/home" \
        PATH=/usr/bin:/bin sh -c "$1"
}

# at_home SCRIPT: as bawn-test after a login, which finds ~/.local/bin.
at_home() {
    run runuser -u bawn-test -- env -i -C "$BATS_FILE_TMPDIR/home" HOME="$BATS_FILE_TMPDIR/home" \
        PATH="$BATS_FILE_TMPDIR/home/.local/bin:/usr/bin:/bin" LC_ALL=C.UTF-8 "$@"
}

readme_program() {
    sed -n '/^\/\* may.c: /,/^```$/p' "$PROJECT/README.md" | sed '$d'
}

@test "install below ~/.local compiles what knows the prefix, and nothing else" {
    run diff <(grep -o 'Compiling C object .*' "$BATS_FILE_TMPDIR/log" | sed 's/.*src_//' | sort -u) - <<'END'
Compiling C object libbawn_core.a.p/meson-generated_.._builtin_files.c.o
api_run.c.o
base_program.c.o
program_bawn_cold.c.o
END
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "install below ~/.local: the program runs commands and answers questions" {
    at_home sh -c 'bawn run -- true && bawn check read x'
    [ "$status" -eq 0 ]
    [[ $output == "allow read "* ]]
}

@test "install below ~/.local: the program finds bawn-net, which filters the network" {
    at_home bawn run --net proxy --allow-host web.example -- bash -c 'exec 3<>/dev/tcp/127.0.0.1/800
        printf "GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n" >&3
        exec timeout 20 cat <&3'
    echo "$output"
    [[ $output == "HTTP/1.1 403 "*"X-Bawn-Denied: "* ]]
}

@test "install below ~/.local: man, bash and fish find what is theirs, zsh with README's line" {
    local line

    at_home man -w bawn bawn-policy libbawn
    [ "${#lines[@]}" -eq 3 ]
    [[ ${lines[2]} == "$BATS_FILE_TMPDIR/home/.local/share/man/man3/libbawn.3" ]]
    at_home bash -c 'source /usr/share/bash-completion/bash_completion
        _completion_loader bawn; complete -p bawn'
    [ "$output" = "complete -F _bawn bawn" ]
    at_home fish -c 'complete -C "bawn che"'
    [[ $output == check* ]]
    line=$(grep -o 'fpath+=([^)]*)' "$PROJECT/README.md")
    at_home zsh -f -c "$line; autoload -U compinit; compinit -D -u; print \$_comps[bawn]"
    [ "$output" = _bawn ]
}

@test "install below ~/.local: README's program is compiled with README's lines, and finds the library" {
    local path line

    readme_program >"$BATS_FILE_TMPDIR/home/may.c"
    path=$(grep -o 'export PKG_CONFIG_PATH=[^`]*' "$PROJECT/README.md")
    line=$(grep -o 'cc may.c [^`]*' "$PROJECT/README.md")
    at_home sh -c "$path; $line && ./a.out x /etc/passwd"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "x: yes" ]
    [[ ${lines[1]} == "/etc/passwd: Cannot write"* ]]
}

@test "install below ~/.local: a program that links the library finds the launcher" {
    cat >"$BATS_FILE_TMPDIR/home/start.c" <<'C'
#include <bawn/bawn.h>
#include <stdio.h>

int main(void)
{
    const char *const argv[] = {"sh", "-c", "exit 7", NULL};
    struct bawn_error err = {0};
    int status = 0;

    if (bawn_run(".", argv, &status, &err) < 0)
        return fprintf(stderr, "%s\n", err.message), 2;
    return status;
}
C
    at_home sh -c 'export PKG_CONFIG_PATH=~/.local/lib/pkgconfig
        cc -o start start.c $(pkg-config --cflags --libs bawn) && exec ./start'
    echo "$output"
    [ "$status" -eq 7 ]
}

@test "install with DESTDIR: the same files, below it; the library is told nothing of it" {
    at_tree "make DESTDIR=$BATS_FILE_TMPDIR/home/stage PREFIX=/usr install" >/dev/null 2>&1
    diff <(cd "$BATS_FILE_TMPDIR/home/stage/usr" && find . | sort) \
        <(cd "$BATS_FILE_TMPDIR/home/.local" && find . ! -path './share/fish/*' -o -path '*vendor*' | sort)
    run grep -E 'rpath|stage' "$BATS_FILE_TMPDIR/home/stage/usr/lib/pkgconfig/bawn.pc"
    [ "$status" -eq 1 ]
}

@test "install by root: README's program is compiled with README's line, and finds the library" {
    local line

    mkdir "$BATS_TEST_TMPDIR/may"
    readme_program >"$BATS_TEST_TMPDIR/may/may.c"
    line=$(grep -o 'cc may.c [^`]*' "$PROJECT/README.md")
    # What is installed, and what the loader remembers, is gone afterwards.
    run in_place bash -euc 'mount -t tmpfs tmpfs /usr/local
        mkdir -p /usr/local/etc/upper /usr/local/etc/work /usr/local/lib
        mount -t overlay -o lowerdir=/etc,upperdir=/usr/local/etc/upper,workdir=/usr/local/etc/work overlay /etc
        [ ! -d /var/cache/ldconfig ] || mount -t tmpfs tmpfs /var/cache/ldconfig
        make -C "$1" PREFIX=/usr/local install >"$2/log" 2>&1 || { tail "$2/log"; exit 1; }
        cd "$2"
        eval "$3"
        ./a.out x /etc/passwd
        ldd a.out' bash "$PROJECT" "$BATS_TEST_TMPDIR/may" "$line"
    echo "$output"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "x: yes" ]
    [[ $output == *"libbawn.so.0 => /usr/local/lib/libbawn.so.0"* ]]
}
