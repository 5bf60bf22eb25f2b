# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2154,SC2088,SC2030,SC2031 # run sets output and status; the words are the shell's inside
# bawn learn: what a command uses becomes rules, and with them 'bawn run' does the same.
load common

setup() {
    cli_setup
    mkdir -p "$HOME/.ssh" "$HOME/.aws" "$HOME/data"
    echo key-in-ssh >"$HOME/.ssh/id_test"
    echo key-in-aws >"$HOME/.aws/credentials"
    echo note >"$HOME/note"
    # Neither in /tmp, which is the sandbox's own, nor in the home: a place of the host. What root runs is not root, and
    # does not get through root's own home.
    OTHER=/srv
    [ "$(id -u)" -eq 0 ] || OTHER=$(getent passwd "$(id -u)" | cut -d: -f6)
    OTHER=$(mktemp -d "$OTHER/bawn-learn-XXXXXX")
    chmod 755 "$OTHER"
    FILE=$WORK/.bawn/policy.yaml
}

teardown() {
    rm -rf "$OTHER"
    forget_trails
}

# What a run with the saved rules is refused: nothing.
refuses_nothing() {
    run "$BAWN" run --explain -- sh -c "$1; false"
    [ "$status" -eq 1 ]
    [[ $output != *refused* ]]
}

@test "learn: a file of the home is proposed with its evidence, saved, and then there" {
    run ! "$BAWN" run -- cat "$HOME/note"
    run -4 "$BAWN" learn --save -- sh -c 'cat ~/note ~/note; exit 4' </dev/null
    [[ $output == *'+    note: {root: "~/note", mode: ro}  # used 2 times by cat'* ]]
    [[ $output == *"bawn: saved in $FILE"* ]]
    # The file has the rules, and not what is said of them.
    [[ $(<"$FILE") == *'note: {root: "~/note", mode: ro}' ]]
    run -0 "$BAWN" run -- cat "$HOME/note"
    [ "$output" = note ]
    refuses_nothing 'cat ~/note'
    # Then there is nothing more to learn.
    run -0 "$BAWN" learn --save -- cat "$HOME/note" </dev/null
    [[ $output == *"learned: nothing that the policy lacks"* ]]
}

@test "learn: without a terminal nothing is saved, nor with --dry-run" {
    run -0 "$BAWN" learn -- cat "$HOME/note" </dev/null
    [[ $output == *'+    note:'*"nothing was saved"*--save* ]]
    run -0 "$BAWN" learn --dry-run -- cat "$HOME/note" </dev/null
    [[ $output == *'+    note:'* && $output != *"nothing was saved"* ]]
    [ ! -e .bawn ]
    run -125 "$BAWN" learn --dry-run --save -- true
}

@test "learn: secrets and what rules deny stay refused, and are never proposed" {
    mkdir -p "$XDG_CONFIG_HOME/bawn"
    printf 'version: 1\nsandbox:\n  deny: [.env, "~/data/**/*.pem", ~/data/closed]\n' >"$XDG_CONFIG_HOME/bawn/policy.yaml"
    echo secret-env >.env
    mkdir "$HOME/data/closed"
    echo secret-closed >"$HOME/data/closed/file"
    echo secret-pem >"$HOME/data/x.pem"
    echo open >"$HOME/data/open"
    ln -s "$HOME/.ssh/id_test" "$HOME/link"
    run "$BAWN" learn --save -- sh -c \
        'cat ~/.ssh/id_test ~/.aws/credentials .env ~/data/closed/file ~/data/x.pem ~/data/open ~/link; ls ~/.ssh; cat /etc/shadow' </dev/null
    [[ $output != *key-in* && $output != *secret-env* && $output != *secret-closed* && $output != *secret-pem* ]]
    [[ $output == *open* ]]
    [[ $output == *"not proposed:"*"read $HOME/.ssh/id_test (secret ~/.ssh)"* ]]
    [[ $output == *"read $HOME/.aws/credentials (secret"* ]]
    [[ $output == *"read $HOME/data/closed/file (deny"* ]]
    run -0 cat "$FILE"
    [[ $output == *'"~/data/open"'* ]]
    [[ $output != *ssh* && $output != *aws* && $output != *env* && $output != *closed* && $output != *pem* && $output != *link* && $output != *shadow* ]]
}

@test "learn: a directory of secrets is not opened by the files beside them" {
    mkdir -p "$HOME/.config/gh"
    for i in 1 2 3 4 5; do echo "$i" >"$HOME/.config/gh/$i"; done
    for i in 1 2 3 4 5; do echo "$i" >"$HOME/$i"; done
    run "$BAWN" learn --save -- sh -c 'cat ~/.config/gh/[1-5] ~/1 ~/2 ~/3 ~/4 ~/5' </dev/null
    [[ $(<"$FILE") != *gh* ]]
    # Of the home five lines, and never the home.
    [ "$(grep -c 'root: "~/[1-5]"' "$FILE")" -eq 5 ]
    run ! grep -E 'root: "?(~|'"$HOME"')/?"?,' "$FILE"
}

@test "learn: many files of a directory become the directory" {
    for i in 1 2 3 4 5 6; do echo "$i" >"$HOME/data/$i"; done
    run -0 "$BAWN" learn --save -- sh -c 'cat ~/data/*' </dev/null
    [[ $output == *'data: {root: "~/data", mode: ro}  # used '*" by "*", "*" paths"* ]]
    [ "$(grep -c root: "$FILE")" -eq 1 ]
    refuses_nothing 'cat ~/data/*'
}

@test "learn: a build with headers, a library and a compiler wrapper of the home" {
    mkdir -p "$HOME/inc" "$HOME/tools"
    for i in 1 2 3 4; do echo "#define N$i $i" >"$HOME/inc/n$i.h"; done
    printf '#!/bin/sh\nexec cc "$@"\n' >"$HOME/tools/wrapped-cc"
    chmod +x "$HOME/tools/wrapped-cc"
    printf '#include "n1.h"\n#include "n2.h"\n#include "n3.h"\n#include "n4.h"\nint main(void) { return N1 + N2 + N3 + N4 - 10; }\n' >main.c
    printf 'main: main.c\n\t$(HOME)/tools/wrapped-cc -I$(HOME)/inc -o main main.c\n' >Makefile
    run ! "$BAWN" run -- make
    run -0 "$BAWN" learn --save -- make </dev/null
    [[ $output == *'inc: {root: "~/inc", mode: ro}'* && $output == *'wrapped-cc: {root: "~/tools/wrapped-cc", mode: ro}'* ]]
    rm main
    run -0 "$BAWN" run -- sh -c 'make && ./main'
}

@test "learn: git in a repository needs no rule" {
    git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
    run -0 "$BAWN" learn -- sh -c 'git status && git log && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two' </dev/null
    [[ $output == *"nothing that the policy lacks"* ]]
    [ "$(git log --oneline | wc -l)" -eq 2 ]
}

@test "learn: what is written in the home goes to the sandbox's own, and nothing of the real one changes" {
    before=$(find "$HOME" | sort)
    run -0 "$BAWN" learn -- sh -c 'mkdir -p ~/.tool ~/.config/tool && echo x >~/.tool/state && cat ~/.tool/state; echo changed >~/note; cat ~/note' </dev/null
    [[ $output == *note* ]]
    [ "$(<"$HOME/note")" = note ]
    [ "$(find "$HOME" | sort)" = "$before" ]
    # Read and written: then it has to be both.
    [[ $output == *'note: {root: "~/note", mode: rw}'* ]]
    [[ $output != *.tool* ]]
}

@test "learn: a write elsewhere is refused, proposed, and works then" {
    mkdir "$OTHER/out"
    run "$BAWN" learn --save -- sh -c "echo one >$OTHER/out/new" </dev/null
    [ ! -e "$OTHER/out/new" ]
    [[ $output == *"out: {root: $OTHER/out, mode: rw}  # used 1 time by sh"* ]]
    run -0 "$BAWN" run -- sh -c "echo one >$OTHER/out/new"
    [ "$(<"$OTHER/out/new")" = one ]
    # Never a directory of the system, however often.
    run "$BAWN" learn -- sh -c 'for i in 1 2 3 4 5; do echo x >/etc/bawn-test-$i; mkdir /usr/bawn-test-$i; done' </dev/null
    [[ $output != *'mode: rw'* ]]
}

@test "learn: links are followed, and what they lead to is shown under both names" {
    mkdir "$OTHER/real"
    echo far >"$OTHER/real/file"
    ln -s "$OTHER/real" "$HOME/dir"
    ln -s "$OTHER/real/file" "$HOME/one"
    run -0 "$BAWN" learn --save -- sh -c 'cat ~/dir/file ~/one' </dev/null
    run -0 "$BAWN" run -- sh -c 'cat ~/dir/file ~/one'
    [ "$output" = $'far\nfar' ]
    refuses_nothing 'cat ~/dir/file ~/one'
}

@test "learn: the interpreter of a script is learned with it" {
    mkdir "$HOME/bin"
    cp /bin/dash "$HOME/bin/own-sh"
    printf '#!%s/bin/own-sh -e\necho from $0\n' "$HOME" >"$HOME/bin/script"
    chmod +x "$HOME/bin/script"
    run -0 "$BAWN" learn --save -- "$HOME/bin/script" </dev/null
    [[ $(<"$FILE") == *own-sh* ]]
    run -0 "$BAWN" run -- "$HOME/bin/script"
    [[ $output == "from "* ]]
}

@test "learn: a toolchain's folders become its preset" {
    mkdir -p "$HOME/.cargo/registry" "$HOME/.rustup/toolchains/x/bin"
    echo 'echo rustc' >"$HOME/.rustup/toolchains/x/bin/rustc"
    echo index >"$HOME/.cargo/registry/index"
    chmod +x "$HOME/.rustup/toolchains/x/bin/rustc"
    run "$BAWN" learn --save -- sh -c '. ~/.rustup/toolchains/x/bin/rustc; cat ~/.cargo/registry/index; echo new >~/.cargo/registry/new' </dev/null
    [[ $output == *"+  - rust  # used "*" paths"* ]]
    [ "$(<"$FILE")" = $'presets:\n  - rust' ]
    run -0 "$BAWN" run -- sh -c 'cat ~/.cargo/registry/index; echo new >~/.cargo/registry/new'
    [ "$(<"$HOME/.cargo/registry/new")" = new ]
}

@test "learn: names with control characters are escaped on the screen and right in the file" {
    weird=$HOME/$'w\e[31m\n: #"\'x'
    echo weird >"$weird"
    run -0 "$BAWN" learn --save -- cat "$weird" </dev/null
    [[ $output != *$'\e'* ]]
    [[ $output == *'\u001b[31m\n: #\"'* ]]
    run -0 "$BAWN" run -- cat "$weird"
    [ "$output" = weird ]
    # A name that YAML cannot have is named, not proposed.
    echo raw >"$HOME/raw"$'\xff'
    run -0 "$BAWN" learn -- cat "$HOME/raw"$'\xff' </dev/null
    [[ $output == *"not proposed:"*"no policy can have"* && $output != *"+++"* ]]
}

@test "learn: hosts are refused, proposed and then allowed" {
    run "$BAWN" learn --save -- sh -c 'curl -sS http://one.example:8080/ http://two.example/; getent hosts three.example' </dev/null
    [[ $output == *"+      - one.example:8080  # used "*" by curl"* ]]
    [[ $output == *"+      - two.example:80  # used "* ]]
    [[ $output == *"+      - three.example  # used "*" by getent"* ]]
    run -0 "$BAWN" check connect one.example:8080
    run -1 "$BAWN" check connect one.example:8081
    run -0 "$BAWN" check connect three.example:22
}

@test "learn: where the policy says that there is no network, there is none" {
    mkdir -p "$XDG_CONFIG_HOME/bawn"
    printf 'version: 1\nsandbox:\n  network: {mode: none, allow: [one.example]}\n' >"$XDG_CONFIG_HOME/bawn/policy.yaml"
    run "$BAWN" learn -- curl -sS -m 5 http://one.example/ </dev/null
    [ "$status" -ne 0 ]
    [[ $output != *'+++'* ]]
}

@test "learn: a project cannot have itself observed" {
    mkdir .bawn
    printf 'version: 1\nsandbox:\n  process: {observe: true}\n' >.bawn/policy.yaml
    run ! "$BAWN" run -- cat "$HOME/note"
    [[ $output == *"sandbox.process.observe"*"may only narrow"* ]]
}

@test "learn: a project's file that nobody approved is not extended, and nothing is lost" {
    mkdir .bawn
    printf 'version: 1\nsandbox:\n  deny: [x]\n' >.bawn/policy.yaml
    run -125 "$BAWN" learn --save -- cat "$HOME/note" </dev/null
    [[ $output == *"you have not approved this file"*"--scope user"* ]]
    [ "$(<.bawn/policy.yaml)" = $'version: 1\nsandbox:\n  deny: [x]' ]
    run -0 "$BAWN" learn --save --scope user -- cat "$HOME/note" </dev/null
    grep -q note "$XDG_CONFIG_HOME/bawn/policy.yaml"
    run -0 "$BAWN" run -- cat "$HOME/note"
}

@test "learn: nothing is shown or written where the command was not started" {
    run -127 "$BAWN" learn --save -- no-such-command </dev/null
    [[ $output != *learned:* ]]
    echo text >"$HOME/text"
    run -126 "$BAWN" learn --save -- "$HOME/text" </dev/null
    run -125 "$BAWN" learn --save --ro /does/not/exist -- cat "$HOME/note" </dev/null
    run -125 "$BAWN" learn --save
    [ ! -e .bawn ]
    # The command's own 127 is another thing.
    run -127 "$BAWN" learn --save -- sh -c 'cat ~/note; exit 127' </dev/null
    [ -e "$FILE" ]
}

@test "learn: with the workspace elsewhere paths are the host's" {
    mkdir "$HOME/proj"
    cd "$HOME/proj"
    run -0 "$BAWN" learn --save --workspace-mount /workspace -- sh -c 'pwd; cat ~/note; echo x >.envrc; true' </dev/null
    [[ $output == */workspace* ]]
    [[ $output == *'root: "~/note"'* ]]
    [[ $output == *"write $HOME/proj/.envrc (protected"* || $output == *"write /workspace/.envrc (protected"* ]]
    [[ $(<.bawn/policy.yaml) != *workspace* && ! -e .envrc ]]
}

@test "learn: a hundred directories of files stay few lines, and the rest is counted" {
    mkdir -p "$HOME/many"
    (cd "$HOME/many" && for i in {1..530}; do mkdir "$i" && touch "$i"/{1..20}; done)
    run -0 "$BAWN" learn --json -- sh -c 'cat ~/many/*/*' </dev/null
    [ "$(jq -r '.rules | length' <<<"$output")" -eq 1 ]
    [ "$(jq -r '.rules[0].text' <<<"$output")" = "$HOME/many" ]
    [ "$(jq -r '.left_out' <<<"$output")" -gt 200 ]
    # What cannot be folded is bounded, too.
    (cd "$HOME" && touch file-{1..300})
    run -0 "$BAWN" learn --json -- sh -c 'cat ~/file-*' </dev/null
    [ "$(jq -r '.rules | length' <<<"$output")" -le 48 ]
    [ "$(jq -r '.left_out' <<<"$output")" -gt 50 ]
}

@test "learn: --json is one document" {
    run -3 --separate-stderr "$BAWN" learn --save --json -- sh -c 'cat ~/note ~/.ssh/id_test 2>/dev/null; exit 3' </dev/null
    [ "$output" = note ]
    [ "$(wc -l <<<"$stderr")" -eq 1 ]
    [ "$(jq -c '[.status, .saved, .rules[0].word, .rules[0].program, .not_proposed[0].why]' <<<"$stderr")" = '[3,true,"read","cat","secret ~/.ssh"]' ]
    [ "$(jq -r .file <<<"$stderr")" = "$FILE" ]
}

# on_terminal SCRIPT SEEN=KEYS...: learns on a terminal, and types KEYS when SEEN is there, one after another.
on_terminal() {
    python3 - "$BAWN" "$@" <<'END'
import os, pty, select, signal, sys
bawn, script, *steps = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # who runs tests in the background ignores it
    os.execv(bawn, ["bawn", "learn", "--", "sh", "-c", script])
seen, at = b"", 0
while select.select([fd], [], [], 60)[0]:
    try:
        more = os.read(fd, 65536)
    except OSError:
        break
    seen += more
    while steps:
        wanted, _, keys = steps[0].partition("=")
        found = seen.find(wanted.encode(), at)
        if found < 0:
            break
        at = found + len(wanted)
        steps.pop(0)
        os.write(fd, keys.replace("\\n", "\n").encode())
os.write(1, seen.replace(b"\r\n", b"\n"))
if not select.select([fd], [], [], 0)[0]:
    os.kill(pid, 9)  # it says nothing any more, and does not end
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
}

# answers KEYS...: the same, one of KEYS at each question.
answers() {
    on_terminal 'cat ~/note ~/data/one' "${@/#/[a/e/R] =}"
}

@test "learn: a command that is interrupted has taught something" {
    # A shell that is just about to start a program may lose the signal.
    run -130 on_terminal 'cat ~/note; (sleep 1; echo ready) & exec sleep 60' ready=$'\003' '[a/e/R] =r\n'
    [[ $output == *'+    note:'*"nothing was saved"* ]]
    # Not from a terminal: the signal is passed on.
    "$BAWN" learn -- sh -c 'cat ~/note; echo ready >ready; sleep 60' </dev/null >out 2>&1 &
    pid=$!
    for _ in {1..100}; do [ -e ready ] && break; sleep 0.1; done
    kill -TERM "$pid"
    wait "$pid" || status=$?
    [ "$status" -eq 143 ]
    grep -q '+    note:' out
}

@test "learn: two at once each learn their own" {
    echo two >"$HOME/two"
    mkdir a b
    "$BAWN" learn -C a --save -- sh -c 'sleep 0.3; cat ~/note; sleep 0.3' </dev/null >a.out 2>&1 &
    "$BAWN" learn -C b --save -- sh -c 'sleep 0.3; cat ~/two; sleep 0.3' </dev/null >b.out 2>&1
    wait
    grep -q note a/.bawn/policy.yaml && run ! grep -q two a/.bawn/policy.yaml
    grep -q two b/.bawn/policy.yaml && run ! grep -q note b/.bawn/policy.yaml
}

@test "learn: on a terminal it is accepted, edited or rejected" {
    echo one >"$HOME/data/one"
    run -0 answers "r\n"
    [[ $output == *"? accept, edit or reject"*"nothing was saved"* ]]
    run -0 answers "\n"
    [[ $output == *"nothing was saved"* ]]
    [ ! -e .bawn ]
    printf '#!/bin/sh\nsed -i /note/d "$1"\n' >"$HOME/editor"
    chmod +x "$HOME/editor"
    VISUAL=$HOME/editor run -0 answers "e\n" "a\n"
    [[ $output == *"saved in $FILE"* ]]
    [[ $(<"$FILE") == *'~/data/one'* && $(<"$FILE") != *note* ]]
}

@test "learn: an edited rule that cannot be saved is refused with the reason, and asked about again" {
    echo one >"$HOME/data/one"
    printf '#!/bin/sh\necho "read ~/.ssh/id_test" >>"$1"\n' >"$HOME/editor"
    chmod +x "$HOME/editor"
    VISUAL=$HOME/editor run -0 answers "e\n" "a\n"
    [[ $output == *"is on the built-in list of secrets"*"saved in $FILE"* ]]
    [[ $(<"$FILE") == *note* && $(<"$FILE") != *ssh* ]]
    rm -r .bawn
    printf '#!/bin/sh\necho nonsense >>"$1"\n' >"$HOME/editor"
    VISUAL=$HOME/editor run -0 answers "e\n" "r\n"
    [[ $output == *"is no rule: 'nonsense'"*"nothing was saved"* ]]
    VISUAL=false run -0 answers "e\n" "r\n"
    [[ $output == *"the editor 'false' has failed"* ]]
}

@test "learn: in a network every public host is reached with --net isolated, and listed" {
    # Only root can make a lab.
    [ "$(id -u)" -eq 0 ] || return 0
    lab=$BATS_TEST_DIRNAME/../net/lab
    [ -e "$lab" ] || skip "the lab is not here"
    cat >try.sh <<'END'
"$BAWN" learn --net isolated --save -- curl -sS http://web.example/learned </dev/null &&
    "$BAWN" run -- curl -sS http://web.example/again && ! "$BAWN" run -- curl -sSf http://other.example/
END
    BAWN=$BAWN run -0 "$lab" -- sh "$WORK/try.sh"
    [[ $output == *"lab /learned"*"+      - web.example:80"*"lab /again"* ]]
}
