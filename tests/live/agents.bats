# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2030,SC2031,SC2154 # run sets output and status
# Coding agents inside, each with its preset and no other grant than the place where it is installed:
# what npm has is installed below $AGENTS and started. All of it happens in the lab (tests/net/README.md),
# where the hosts that the presets allow are stand_in.py: no packet leaves the machine. As root and as
# bawn-test. Root's agents know of the proxy; those of bawn-test know of none.
load ../cli/common

setup_file() {
    local live=$BATS_TEST_DIRNAME

    : "${AGENTS:?names the directory to install into: make test-agents}"
    [ "$(id -u)" -eq 0 ] || return 0
    if [[ ! -e $AGENTS/prefix/bin/opencode ]]; then
        # Then each test is skipped.
        npm ping --fetch-retries 0 --cache "$AGENTS/cache" >/dev/null 2>&1 || return 0
        # What they do when they are installed is not for the user's home.
        env HOME="$AGENTS/home" npm install --silent --no-audit --no-fund --userconfig "$HOME/.npmrc" \
            --cache "$AGENTS/cache" --global --prefix "$AGENTS/prefix" @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai
    fi
    cp "$live/first_screen.py" "$BATS_FILE_TMPDIR"
    start_lab "$live/../net/lab" "$live/agents.zone" "$live/stand_in.py"
    chmod -R a+rX "$BATS_FILE_TMPDIR"
    export BATS_TEST_TIMEOUT=120
}

# start_lab LAB ZONE STAND_IN: they run until teardown_file.
start_lab() {
    local tries

    # shellcheck disable=SC2016 # the words are the shell's in the lab
    "$1" --zone "$2" --leave 443 -- sh -c 'cp "$LAB_CA" "$1/ca.pem" && echo "$LAB_LOG" >"$1/log" &&
        exec python3 "$2" "$LAB/ca/server.pem" "$LAB/ca/server.key" "$1/record"' sh "$BATS_FILE_TMPDIR" "$3" 3>&- &
    LAB_PID=$!
    export LAB_PID LAB_FIRST LAB_LOG
    for ((tries = 0; tries < 300; tries++)); do
        [[ ! -e $BATS_FILE_TMPDIR/record ]] || break
        sleep 0.1
    done
    # The first process of the lab's namespaces, and its log as it is seen from here.
    LAB_FIRST=$(cat "/proc/$LAB_PID/task/$LAB_PID/children")
    LAB_FIRST=${LAB_FIRST%% *}
    LAB_LOG=/proc/$LAB_FIRST/root$(cat "$BATS_FILE_TMPDIR/log")
    [[ -e $LAB_LOG ]]
}

teardown_file() {
    [[ -z ${LAB_PID-} ]] || kill "$LAB_PID"
}

setup() {
    [ "$(id -u)" -eq 0 ] || skip "only root can make the lab"
    [[ -e $AGENTS/prefix/bin/opencode ]] || skip "npm is not there or cannot be reached"
    cli_setup
    unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
    export TERM=xterm-256color PATH=$AGENTS/prefix/bin:$PATH
    # Variables that the presets let in.
    export ANTHROPIC_API_KEY=sk-ant-stand-in OPENAI_API_KEY=sk-stand-in GEMINI_API_KEY=stand-in
    export NODE_EXTRA_CA_CERTS=$WORK/ca.pem CODEX_CA_CERTIFICATE=$WORK/ca.pem
    unset ANTHROPIC_BASE_URL OPENAI_BASE_URL GOOGLE_GEMINI_BASE_URL
    cp "$BATS_FILE_TMPDIR/ca.pem" .
    agent=${BATS_TEST_DESCRIPTION%%:*}
    "home_$agent"
    seed .bashrc own
    seed .ssh/id_rsa own
    as=(nsenter --target "$LAB_FIRST" --net --mount --pid --wdns="$WORK" --)
    options=() proxy=http://127.0.0.1:800
    if [[ $BATS_TEST_DESCRIPTION == *"bawn-test"* ]]; then
        id bawn-test >/dev/null || skip "no user bawn-test"
        chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_RUN_TMPDIR/file" "$BATS_TEST_TMPDIR"
        chown -R bawn-test: "$BATS_TEST_TMPDIR"
        as+=(runuser -u bawn-test -- env HOME="$HOME" PATH="$PATH")
        options=(--set sandbox.network.proxy_env=false) proxy=none
    fi
}

# seed FILE TEXT: a file in the home that must be the same afterwards.
seed() {
    mkdir -p "$(dirname "$HOME/$1")"
    printf '%s\n' "$2" >"$HOME/$1"
    printf '%s  %s\n' "$(sha256sum <"$HOME/$1" | cut -d' ' -f1)" "$HOME/$1" >>"$BATS_TEST_TMPDIR/seeds"
}

# What a user has who worked with the agent before: settings, code that it runs, the login.
home_claude() {
    seed .claude.json '{"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses":
        {"approved": ["sk-ant-stand-in"]}, "projects": {"'"$WORK"'": {"hasTrustDialogAccepted": true}}}'
    seed .claude/settings.json '{}'
    seed .claude/hooks/hook.sh own
    seed .claude/commands/own.md own
    seed .claude/projects/other/memory/MEMORY.md own
    seed .claude/projects/-other/x.jsonl own
    seed .claude/.credentials.json '{"own": "login"}'
    login=.claude/.credentials.json
    screen='for shortcuts'
    prompt=(claude -p --dangerously-skip-permissions "make a file")
    hosts=(api.anthropic.com platform.claude.com)
}

home_codex() {
    seed .codex/config.toml 'model = "gpt-5"
sandbox_mode = "danger-full-access"
[projects."'"$WORK"'"]
trust_level = "trusted"'
    seed .codex/rules/default.rules '# own'
    seed .codex/skills/own/SKILL.md own
    seed .codex/auth.json '{"OPENAI_API_KEY": "own-login"}'
    login=.codex/auth.json
    screen='OpenAI Codex'
    prompt=(codex exec --skip-git-repo-check "make a file")
    hosts=(api.openai.com chatgpt.com auth.openai.com)
}

home_gemini() {
    seed .gemini/settings.json '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'
    seed .gemini/trustedFolders.json '{"'"$WORK"'": "TRUST_FOLDER"}'
    seed .gemini/commands/own.toml 'prompt = "own"'
    seed .gemini/tmp/bin/own own
    seed .gemini/oauth_creds.json '{"own": "login"}'
    login=.gemini/oauth_creds.json
    screen='Type your message'
    prompt=(gemini --yolo -m gemini-2.5-flash -p "make a file")
    hosts=(generativelanguage.googleapis.com cloudcode-pa.googleapis.com oauth2.googleapis.com)
}

home_opencode() {
    seed .config/opencode/opencode.json '{"model": "anthropic/claude-sonnet-4-5"}'
    seed .config/opencode/plugin/own.txt own
    seed .local/share/opencode/opencode.db own
    seed .local/share/opencode/snapshot/own/config own
    seed .local/share/opencode/auth.json '{"own": {"type": "api", "key": "login"}}'
    login=.local/share/opencode/auth.json
    screen='Ask anything'
    prompt=(opencode run "make a file")
    hosts=(api.anthropic.com models.opencode.ai opencode.ai)
}

inside() {
    "${as[@]}" "$BAWN" run "${options[@]}" --ro "$AGENTS/prefix" --preset "$agent" -- timeout 60 "$@"
}

starts() {
    run -0 inside "$agent" --version
    [[ $output =~ [0-9]+\.[0-9]+\.[0-9]+ ]]
    run -0 inside "$agent" --help
    [[ ${output,,} == *"$agent"*"--help"* ]]
}

shows_its_first_screen() {
    "${as[@]}" python3 "$BATS_FILE_TMPDIR/first_screen.py" "$screen" \
        "$BAWN" run "${options[@]}" --ro "$AGENTS/prefix" --preset "$agent" -- "$agent"
    sha256sum --check --quiet "$BATS_TEST_TMPDIR/seeds"
}

# watched COMMAND...: runs it inside. No name is looked up but those of the preset's hosts: the lab's DNS
# server is the witness.
watched() {
    local start

    start=$(stat -c %s "$LAB_LOG")
    run inside "$@"
    printf '%s\n' "$output" >&2
    tail -c "+$((start + 1))" "$LAB_LOG" | python3 -c '
import json, sys
print("\n".join(sorted({e["name"] for e in map(json.loads, sys.stdin) if e["kind"] == "dns"})))' >"$BATS_TEST_TMPDIR/asked"
    ! grep -vxF "$(printf '%s\n' "${hosts[@]}")" "$BATS_TEST_TMPDIR/asked" || false
}

# takes_a_turn COMMAND...: the model wants tool.sh run, the agent runs it and tells the result, and the
# model says that all is done. The model is at the first of the hosts.
takes_a_turn() {
    local word=$RANDOM$RANDOM$RANDOM

    echo "echo the word is $word" >>tool.sh
    watched "$@"
    [ "$status" -eq 0 ]
    [[ $output == *"The stand-in is done."* ]]
    grep -q "\"host\": \"${hosts[0]}\".*\"result\": .*the word is $word" "$BATS_FILE_TMPDIR/record"
    grep -qx "${hosts[0]}" "$BATS_TEST_TMPDIR/asked"
}

# asks_for_a_token HOST: there, whatever comes of it. The stand-in has none.
asks_for_a_token() {
    unset ANTHROPIC_API_KEY OPENAI_API_KEY GEMINI_API_KEY
    watched timeout 10 "${prompt[@]}"
    grep -q "\"host\": \"$1\", \"method\": \"POST\", \"path\": \"[^\"]*/token\"" "$BATS_FILE_TMPDIR/record"
}

# The command that the model wants run tries to write what is the user's, and shows the login.
calls_a_tool() {
    cat >tool.sh <<TOOL
while read -r _ file; do
    (echo inside >"\$file") 2>/dev/null && echo "wrote \$file" >>wrote
    rm -f "\$file"
done <seeds
mkdir -p "$BATS_TEST_TMPDIR" && echo inside >"$BATS_TEST_TMPDIR/outside"
cat ~/$login >login
cat ~/.claude/projects/-other/*.jsonl >>other 2>/dev/null || rm -f other
echo "\${https_proxy-none}" >proxy
echo made >made
TOOL
    # What is a copy is the agent's to write.
    grep -v -e .ssh/ -e .bashrc -e opencode.db -e opencode/snapshot/ -e .claude.json -e config.toml -e .gemini/settings.json \
        -e trustedFolders.json "$BATS_TEST_TMPDIR/seeds" >seeds
    takes_a_turn "${prompt[@]}"
    [ "$(cat made)" = made ]
    [ "$(cat proxy)" = "$proxy" ]
    [ ! -e "$BATS_TEST_TMPDIR/outside" ]
    [ "$(stat -c %u made)" = "$(stat -c %u .)" ]
    cmp login "$HOME/$login"
    [ ! -e wrote ]
    sha256sum --check --quiet "$BATS_TEST_TMPDIR/seeds"
    # The transcript of this project is kept, and those of others were not there.
    if [[ $agent == claude ]]; then
        [ -n "$(find "$HOME/.claude/projects/${WORK//[^a-zA-Z0-9]/-}" -name '*.jsonl')" ]
        [ ! -e other ]
    fi
    # Without the preset the login is not there.
    run "${as[@]}" "$BAWN" run -- cat "$HOME/$login"
    [ "$status" -ne 0 ]
}

@test "claude: starts" { starts; }
@test "claude: starts (as bawn-test)" { starts; }
@test "claude: shows its first screen" { shows_its_first_screen; }
@test "claude: shows its first screen (as bawn-test)" { shows_its_first_screen; }
@test "claude: calls a tool, and the user's files stay as they are" { calls_a_tool; }
@test "claude: calls a tool, and the user's files stay as they are (as bawn-test)" { calls_a_tool; }

# With --write-back what it noted of the start is in the real file, beside what was there.
takes_its_notes_back() {
    options+=(--write-back)
    takes_a_turn "${prompt[@]}"
    [[ $output == *"$HOME/.claude.json: what the command wrote to its copy was written back"* ]]
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not (d["hasCompletedOnboarding"] and len(d) > 4))' "$HOME/.claude.json"
    [ "$(stat -c %u "$HOME/.claude.json")" = "$(stat -c %u "$HOME")" ]
}
@test "claude: what it notes is written back when asked for" { takes_its_notes_back; }
@test "claude: what it notes is written back when asked for (as bawn-test)" { takes_its_notes_back; }

@test "claude: a model elsewhere is reached when it is allowed" {
    options+=(--allow-host gateway.example)
    hosts=(gateway.example "${hosts[@]}")
    export ANTHROPIC_BASE_URL=https://gateway.example
    takes_a_turn "${prompt[@]}"
}

@test "claude: asks for a new token when its login is old" {
    echo '{"claudeAiOauth": {"accessToken": "sk-ant-oat01-old", "refreshToken": "sk-ant-ort01-old", "expiresAt": 1000,
        "scopes": ["user:inference", "user:profile"], "subscriptionType": "max"}}' >"$HOME/$login"
    asks_for_a_token platform.claude.com
}

@test "codex: starts" { starts; }
@test "codex: starts (as bawn-test)" { starts; }
@test "codex: shows its first screen" { shows_its_first_screen; }
@test "codex: shows its first screen (as bawn-test)" { shows_its_first_screen; }
@test "codex: calls a tool, and the user's files stay as they are" { calls_a_tool; }
@test "codex: calls a tool, and the user's files stay as they are (as bawn-test)" { calls_a_tool; }

@test "codex: calls a tool from a script, as the model wants that it takes by itself" {
    sed -i '/^model = /d' "$HOME/.codex/config.toml"
    takes_a_turn "${prompt[@]}"
}

@test "codex: asks for a new token when its login is old" {
    local token

    token=$(printf '{"exp": 1000, "https://api.openai.com/auth": {"chatgpt_account_id": "own"}}' | base64 -w0 | tr '+/' '-_')
    token=e30.${token%%=*}.own
    echo '{"auth_mode": "chatgpt", "OPENAI_API_KEY": null, "last_refresh": "2020-01-01T00:00:00Z", "tokens": {"id_token":
        "'"$token"'", "access_token": "'"$token"'", "refresh_token": "old", "account_id": "own"}}' >"$HOME/$login"
    asks_for_a_token auth.openai.com
}

@test "gemini: starts" { starts; }
@test "gemini: starts (as bawn-test)" { starts; }
@test "gemini: shows its first screen" { shows_its_first_screen; }
@test "gemini: shows its first screen (as bawn-test)" { shows_its_first_screen; }
@test "gemini: calls a tool, and the user's files stay as they are" { calls_a_tool; }
@test "gemini: calls a tool, and the user's files stay as they are (as bawn-test)" { calls_a_tool; }

@test "gemini: asks for a new token when its login is old" {
    echo '{"security": {"auth": {"selectedType": "oauth-personal"}}}' >"$HOME/.gemini/settings.json"
    echo '{"access_token": "ya29.old", "refresh_token": "1//old", "token_type": "Bearer", "expiry_date": 1000}' >"$HOME/$login"
    asks_for_a_token oauth2.googleapis.com
}

@test "opencode: starts" { starts; }
@test "opencode: starts (as bawn-test)" { starts; }
@test "opencode: shows its first screen" { shows_its_first_screen; }
@test "opencode: shows its first screen (as bawn-test)" { shows_its_first_screen; }
@test "opencode: calls a tool, and the user's files stay as they are" { calls_a_tool; }
@test "opencode: calls a tool, and the user's files stay as they are (as bawn-test)" { calls_a_tool; }
