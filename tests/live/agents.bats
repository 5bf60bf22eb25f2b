# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2030,SC2031,SC2154 # run sets output and status
# Coding agents inside, each with its preset and no other grant than the place where it is installed:
# what npm has is installed below $AGENTS and started. The model is stand_in.py, inside too. As who
# runs this and, from root, as bawn-test.
load ../cli/common

setup_file() {
    local live=$BATS_TEST_DIRNAME

    : "${AGENTS:?names the directory to install into: make test-agents}"
    if [[ ! -e $AGENTS/prefix/bin/opencode ]]; then
        # Then each test is skipped.
        npm ping --fetch-retries 0 --cache "$AGENTS/cache" >/dev/null 2>&1 || return 0
        # What they do when they are installed is not for the user's home.
        env HOME="$AGENTS/home" npm install --silent --no-audit --no-fund --userconfig "$HOME/.npmrc" \
            --cache "$AGENTS/cache" --global --prefix "$AGENTS/prefix" @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai
    fi
    cp "$live/stand_in.py" "$live/first_screen.py" "$BATS_FILE_TMPDIR"
    chmod -R a+rX "$BATS_FILE_TMPDIR"
}

setup() {
    [[ -e $AGENTS/prefix/bin/opencode ]] || skip "npm is not there or cannot be reached"
    cli_setup
    unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
    export TERM=xterm-256color PATH=$AGENTS/prefix/bin:$PATH
    # Variables that the presets let in.
    export ANTHROPIC_API_KEY=sk-ant-stand-in OPENAI_API_KEY=sk-stand-in GEMINI_API_KEY=stand-in
    export ANTHROPIC_BASE_URL=http://127.0.0.1:8080 GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8080
    agent=${BATS_TEST_DESCRIPTION%%:*}
    cp "$BATS_FILE_TMPDIR/stand_in.py" .
    "home_$agent"
    seed .bashrc own
    seed .ssh/id_rsa own
    as=()
    if [[ $BATS_TEST_DESCRIPTION == *"bawn-test"* ]]; then
        [ "$(id -u)" -eq 0 ] || skip "only root can be another user"
        id bawn-test >/dev/null || skip "no user bawn-test"
        chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_RUN_TMPDIR/file" "$BATS_TEST_TMPDIR"
        chown -R bawn-test: "$BATS_TEST_TMPDIR"
        as=(runuser -u bawn-test -- env HOME="$HOME" PATH="$PATH")
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
}

home_codex() {
    seed .codex/config.toml 'model = "gpt-5"
model_provider = "stand"
sandbox_mode = "danger-full-access"
[model_providers.stand]
name = "stand"
base_url = "http://127.0.0.1:8080/v1"
env_key = "OPENAI_API_KEY"
[projects."'"$WORK"'"]
trust_level = "trusted"'
    seed .codex/rules/default.rules '# own'
    seed .codex/skills/own/SKILL.md own
    seed .codex/auth.json '{"OPENAI_API_KEY": "own login"}'
    login=.codex/auth.json
    screen='OpenAI Codex'
    prompt=(codex exec --skip-git-repo-check "make a file")
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
}

home_opencode() {
    seed .config/opencode/opencode.json '{"model": "stand/stand-in", "provider": {"stand": {
        "npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:8080/v1"},
        "models": {"stand-in": {"name": "stand-in"}}}}}'
    seed .config/opencode/plugin/own.txt own
    seed .local/share/opencode/opencode.db own
    seed .local/share/opencode/snapshot/own/config own
    seed .local/share/opencode/auth.json '{"own": {"type": "api", "key": "login"}}'
    login=.local/share/opencode/auth.json
    screen='Ask anything'
    prompt=(opencode run "make a file")
}

inside() {
    "${as[@]}" "$BAWN" run --ro "$AGENTS/prefix" --preset "$agent" -- "$@"
}

starts() {
    run -0 inside "$agent" --version
    [[ $output =~ [0-9]+\.[0-9]+\.[0-9]+ ]]
    run -0 inside "$agent" --help
    [[ ${output,,} == *"$agent"*"--help"* ]]
}

shows_its_first_screen() {
    "${as[@]}" python3 "$BATS_FILE_TMPDIR/first_screen.py" "$screen" \
        "$BAWN" run --ro "$AGENTS/prefix" --preset "$agent" -- "$agent"
    sha256sum --check --quiet "$BATS_TEST_TMPDIR/seeds"
}

# The command that the model wants run tries to write what is the user's, and shows the login.
calls_a_tool() {
    cat >tool.sh <<'TOOL'
while read -r _ file; do
    (echo inside >"$file") 2>/dev/null && echo "wrote $file" >>wrote
    rm -f "$file"
done <seeds
cat "$1" >login
cat ~/.claude/projects/-other/*.jsonl >>other 2>/dev/null || rm -f other
echo made >made
TOOL
    # What is a copy is the agent's to write.
    grep -v -e .ssh/ -e .bashrc -e opencode.db -e opencode/snapshot/ -e .claude.json -e config.toml -e .gemini/settings.json \
        -e trustedFolders.json "$BATS_TEST_TMPDIR/seeds" >seeds
    run inside python3 stand_in.py 8080 "sh tool.sh ~/$login" -- timeout 60 "${prompt[@]}"
    printf '%s\n' "$output" >&2
    [ "$status" -eq 0 ]
    [[ $output == *"The stand-in is done."* ]]
    [ "$(cat made)" = made ]
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
    run "${as[@]}" "$BAWN" run --ro "$AGENTS/prefix" --preset claude --write-back -- python3 stand_in.py 8080 true -- \
        timeout 60 claude -p --dangerously-skip-permissions "make a file"
    printf '%s\n' "$output" >&2
    [ "$status" -eq 0 ]
    [[ $output == *"$HOME/.claude.json: what the command wrote to its copy was written back"* ]]
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not (d["hasCompletedOnboarding"] and len(d) > 4))' "$HOME/.claude.json"
    [ "$(stat -c %u "$HOME/.claude.json")" = "$(stat -c %u "$HOME")" ]
}
@test "claude: what it notes is written back when asked for" { takes_its_notes_back; }
@test "claude: what it notes is written back when asked for (as bawn-test)" { takes_its_notes_back; }

@test "codex: starts" { starts; }
@test "codex: starts (as bawn-test)" { starts; }
@test "codex: shows its first screen" { shows_its_first_screen; }
@test "codex: shows its first screen (as bawn-test)" { shows_its_first_screen; }
@test "codex: calls a tool, and the user's files stay as they are" { calls_a_tool; }
@test "codex: calls a tool, and the user's files stay as they are (as bawn-test)" { calls_a_tool; }

@test "gemini: starts" { starts; }
@test "gemini: starts (as bawn-test)" { starts; }
@test "gemini: shows its first screen" { shows_its_first_screen; }
@test "gemini: shows its first screen (as bawn-test)" { shows_its_first_screen; }
@test "gemini: calls a tool, and the user's files stay as they are" { calls_a_tool; }
@test "gemini: calls a tool, and the user's files stay as they are (as bawn-test)" { calls_a_tool; }

@test "opencode: starts" { starts; }
@test "opencode: starts (as bawn-test)" { starts; }
@test "opencode: shows its first screen" { shows_its_first_screen; }
@test "opencode: shows its first screen (as bawn-test)" { shows_its_first_screen; }
@test "opencode: calls a tool, and the user's files stay as they are" { calls_a_tool; }
@test "opencode: calls a tool, and the user's files stay as they are (as bawn-test)" { calls_a_tool; }
