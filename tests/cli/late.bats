# SPDX-License-Identifier: Apache-2.0
# sandbox.late: held: what is hidden and made while a command runs.
load common

setup() {
    cli_setup
    echo plain >plain
    held=(--set sandbox.late=held --deny '**/.env')
}

# begin_inside OPTION... -- SCRIPT: a sandbox in which the script waits for end_inside.
begin_inside() {
    rm -f go ready
    mkfifo go
    "$BAWN" run "${@:1:$#-2}" -- sh -c "touch ready; read -r line <go; ${!#}" >out 2>err &
    inside=$!
    for ((i = 0; i < 500; i++)); do
        [ ! -e ready ] || return 0
        sleep 0.02
    done
    cat err
    return 1
}
end_inside() {
    echo >go
    status=0
    wait "$inside" || status=$?
    output=$(cat out err)
}

@test "late: held refuses the first open, and names the rule" {
    begin_inside "${held[@]}" -- 'cat .env plain'
    echo secret >.env
    end_inside
    [ "$status" -eq 1 ]
    [[ $output != *secret* && $output == *plain* ]]
    [[ $output == *"read $PWD/.env (deny **/.env)"* ]]
}

@test "late: held, by each way to read, in a directory that was moved in, by a link" {
    begin_inside "${held[@]}" -- 'cat ./.env; cat <.env; cat in/.env; cat link; cat /proc/self/cwd/.env; tar cf - .env; cp .env copy; mv .env moved; ln .env linked; grep -r secret . --exclude=out --exclude=err; cat moved linked copy; ./.env; true'
    mkdir -p "$BATS_TEST_TMPDIR/in"
    echo "echo secret" >"$BATS_TEST_TMPDIR/in/.env"
    chmod +x "$BATS_TEST_TMPDIR/in/.env"
    cp -p "$BATS_TEST_TMPDIR/in/.env" .env
    mv "$BATS_TEST_TMPDIR/in" in
    ln -s .env link
    end_inside
    [[ $output != *secret* ]]
    [ ! -e moved ]
    [ ! -e linked ]
}

@test "late: another name of the same file is not hidden, nor a file of the same ending" {
    begin_inside "${held[@]}" -- 'cat other x.env'
    echo secret >.env
    ln .env other
    echo more >x.env
    end_inside
    [ "$status" -eq 0 ]
    [[ $output == *secret*more* ]]
}

@test "late: what was opened before it got the name stays open" {
    begin_inside "${held[@]}" -- 'true'
    end_inside
    echo early >draft
    rm -f go ready
    mkfifo go
    "$BAWN" run "${held[@]}" -- sh -c 'exec 4<draft; touch ready; read -r line <go; cat <&4; cat /proc/self/fd/4; cat .env' >out 2>err &
    inside=$!
    for ((i = 0; i < 500; i++)); do [ ! -e ready ] || break; sleep 0.02; done
    mv draft .env
    end_inside
    [ "$(grep -c early out)" -ge 1 ]
    [[ $output == *".env: Permission denied"* ]]
}

@test "late: programs find the same with it and without" {
    cat >try.sh <<'END'
cat /etc/shadow "" /proc/self/comm /proc/1/comm /proc/1/environ /proc/sys/kernel/hostname 2>&1
grep -E '^(Uid|Gid|Groups|NSpid)' /proc/self/status; cat /proc/self/uid_map /proc/self/gid_map
ls /proc/self/fd /proc/sys/net/ipv4/conf; cat /proc/net/dev | wc -l; cat /proc/sysvipc/shm | wc -l
cat /proc/$$/comm; sleep 5 & until grep -q sleep /proc/$!/comm; do :; done; cat /proc/$!/comm; head -c 3 /proc/$!/environ >/dev/null; kill $!
echo in | cat /dev/stdin; cat <plain /dev/fd/0; head -c 2 /dev/zero | wc -c; cat /dev/tty 2>&1
mkfifo f; (echo through >f) & cat f; wait; rm f
ls -d . .. /usr/bin; ls missing 2>&1; cat plain/ 2>&1; ln -s loop loop; cat loop 2>&1; rm loop
python3 -c 'import os, json; print(json.dumps(sorted(os.listdir("/proc/self/task"))[:0])); print(oct(os.umask(0)))'
END
    run "$BAWN" run -q -- sh try.sh
    without=$output
    run "$BAWN" run -q "${held[@]}" -- sh try.sh
    [ "$output" = "$without" ] || { diff <(echo "$without") <(echo "$output"); false; }
}

@test "late: with --explain what is absent is told, too" {
    echo note >"$HOME/note"
    run "$BAWN" run "${held[@]}" --explain -- sh -c 'cat ~/note; cat ../nowhere; false'
    [[ $output == *"read $HOME/note (paths.home)"* ]]
    [[ $output == *"1 thing was refused"* ]]
}

@test "late: plan says what is held, and when nothing is" {
    run "$BAWN" plan "${held[@]}"
    [[ $output == *"deny $PWD/**/.env (matches at the start are masked; making one is refused inside, and one that is made outside cannot be opened)"* ]]
    [[ $output == *"[supervisor] sandbox.late: held (each open is made outside, under no hidden name)"* ]]
    [[ $output != *"a moment later"* ]]
    run "$BAWN" plan --set sandbox.late=held
    [[ $output == *"sandbox.late: held (no rule hides a name that could appear: no open is held)"* ]]
    run "$BAWN" plan --deny '**/.env'
    [[ $output == *"a moment later"* ]]
    run "$BAWN" plan --image "${held[@]}"
    [[ $output == *"every open is held"* ]]
}

@test "late: where opens cannot be held, bawn does not run" {
    run "$BAWN" run "${held[@]}" --allow-containers -- touch ran
    [ "$status" -eq 125 ]
    [[ $output == *"sandbox.late"* ]]
    [ ! -e ran ]
}

@test "late: a project may ask for held, and not for less" {
    mkdir -p .bawn
    printf 'version: 1\nsandbox: {late: held}\n' >.bawn/policy.yaml
    run "$BAWN" plan --deny '**/.env'
    [[ $output == *"sandbox.late: held"* ]]
    printf 'version: 1\nsandbox: {late: watch}\n' >.bawn/policy.yaml
    run "$BAWN" plan "${held[@]}"
    [[ $output == *"sandbox.late: held"* ]]
}

@test "late: a pattern binds what an earlier command left in a kept home" {
    run "$BAWN" run --set sandbox.home=keep -- sh -c 'mkdir -p ~/d; echo left >~/d/.env; echo left >~/d/other'
    [ "$status" -eq 0 ]
    run "$BAWN" run --set sandbox.home=keep --set sandbox.late=held --deny "$HOME/**/.env" -- sh -c 'cat ~/d/other; cat ~/d/.env'
    [ "$status" -eq 1 ]
    [ "$(grep -c '^left' <<<"$output")" -eq 1 ]
}

@test "late: what is gone between plan and start need not be hidden, and is when it is there again" {
    mkdir gone
    # While the plan is handed over.
    strace -f -qq -o "$BATS_TEST_TMPDIR/trace" -e trace=memfd_create -e inject=memfd_create:delay_enter=2000000 \
        "$BAWN" run -q --deny "$PWD/gone" -- sh -c 'touch ready; sleep 1.5; cat gone/file; ls -a gone' >out 2>&1 &
    inside=$!
    for ((i = 0; i < 100; i++)); do
        ! grep -qs memfd_create "$BATS_TEST_TMPDIR/trace" || break
        sleep 0.02
    done
    rmdir gone
    for ((i = 0; i < 500; i++)); do
        [ ! -e ready ] || break
        sleep 0.02
    done
    mkdir gone
    echo secret >gone/file
    status=0
    wait "$inside" || status=$?
    cat out
    [ "$status" -ne 0 ]
    [ "$status" -ne 125 ]
    [[ $(<out) == *"Permission denied"* && $(<out) != *secret* ]]
}
