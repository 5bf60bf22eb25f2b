#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016 # words of the shells inside
# Programs in 'bawn shell --reads dynamic' that are asked about in the middle of what they do: their
# screens afterwards.

load common
load panes

setup() {
    sessions_setup
    panes_setup
    mkdir -p "$XDG_CONFIG_HOME/bawn"
    printf 'sandbox:\n  confirm: ["**/asked*"]\n' >"$XDG_CONFIG_HOME/bawn/policy.yaml"
    "$BAWN" run --reads dynamic -- true
    export GIT_CONFIG_GLOBAL=/dev/null
}

teardown() {
    panes_teardown
    sessions_teardown
}

# A shell inside, whose prompt is "in> ". Programs below a home of another user's would be asked about.
shell_start() {
    local PATH=/usr/local/bin:/usr/bin:/bin
    pane_start 100 24
    keys "$BAWN shell --reads dynamic"
    sleep 2
    keys "PS1='in> '; clear"
    pane_has '^in>'
}

# Waits for a question about what is given, and types the answer.
answer() {
    asked "$1" || return
    key "$2"
    pane_lacks 'bawn asks:'
}

@test "git rebase -i in vim: a question in the middle leaves the list of commits as it was" {
    git init -q -b main .
    git config user.name a
    git config user.email a@b.example
    for i in 1 2 3; do
        echo $i >"file$i"
        git add "file$i"
        git commit -q -m "commit $i"
    done
    shell_start
    keys "GIT_EDITOR='vim -u NONE -N -n -i NONE' git rebase -i --root"
    pane_has '^pick .* commit 3'
    # Another program of the editor's writes what is asked about; the screen is as it was.
    keys ":call job_start(['sh', '-c', 'sleep 4; echo x >asked1'])"
    key :redraw! Enter
    sleep 0.3
    before=$(pane_colours)
    answer 'wants    to write .*/asked1$' n
    [ "$(pane_colours)" = "$before" ] || { diff <(echo "$before") <(pane_colours) >&2; false; }
    [ ! -e asked1 ]
    # And typing goes on: the second commit is dropped.
    key j d d
    keys ":wq"
    pane_has 'Successfully rebased'
    [ -e file3 ]
    [ ! -e file2 ]
    [ "$(git log --format=%s | tr '\n' ' ')" = "commit 3 commit 1 " ]
    keys exit
    pane_has '^\$'
}

@test "a Python prompt in the shell: what was typed before the question is there after it" {
    shell_start
    keys "python3 -q"
    pane_has '^>>>'
    keys "import threading; threading.Timer(2, lambda: open('asked2', 'w').write('abc')).start()"
    pane_has '^>>> *$'
    tmux_at send-keys -l -- "6 * "
    pane_has '^>>> 6 \*'
    answer 'wants    to write .*/asked2$' o
    pane_has '^>>> 6 \*'
    keys 7
    pane_has '^42$'
    wait_for test -s asked2
    [ "$(<asked2)" = abc ]
    key C-d
    pane_has '^in>'
    keys exit
    pane_has '^\$'
}

@test "npm: installs and runs what asks in the middle, and nothing is asked about its own start" {
    (PATH=/usr/local/bin:/usr/bin:/bin && command -v npm >/dev/null && npm --version >/dev/null) ||
        skip "npm is not installed for all users"
    [ -d /srv ] || skip "there is no /srv to ask about"
    mkdir dep
    echo '{"name": "dep", "version": "1.0.0", "main": "dep.js"}' >dep/package.json
    echo 'module.exports = 42;' >dep/dep.js
    echo '{"name": "app", "version": "1.0.0", "dependencies": {"dep": "file:./dep"},
           "scripts": {"postinstall": "node outside.js", "hello": "node hello.js"}}' >package.json
    cat >outside.js <<'END'
const look = () => { try { return require("fs").readdirSync("/srv") && "seen"; } catch (e) { return e.code; } };
if (require.main === module) console.log("installed: " + look());
module.exports = look;
END
    cat >hello.js <<'END'
let saw = "nothing";
console.log("\x1b[32mdep says " + require("dep") + "\x1b[0m");
process.stdout.write("name? ");
setTimeout(() => { saw = require("./outside.js")(); }, 4000);
process.stdin.once("data", (line) => { console.log(`${String(line).trim()}: ${saw}`); process.exit(0); });
END
    shell_start
    # The first question is that of the script.
    keys "npm install --offline --no-audit --no-fund"
    answer 'wants    to read /srv$' n
    pane_has '^installed: EACCES'
    pane_has '^added 1 package'
    pane_has '^in> *$'
    [ -e node_modules/dep/dep.js ]
    keys "clear; npm run hello"
    pane_has '^name?'
    tmux_at send-keys -l -- "ab"
    pane_has '^name? ab$'
    before=$(pane_colours)
    [[ $before == *$'\e[32mdep says 42'* ]]
    answer 'wants    to read /srv$' o
    [ "$(pane_colours)" = "$before" ] || { diff <(echo "$before") <(pane_colours) >&2; false; }
    keys cd
    pane_has '^abcd: seen$'
    pane_has '^in> *$'
    pane_is_without 'bawn'
    keys exit
    pane_has '^\$'
}
