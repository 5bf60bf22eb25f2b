# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-16 variables that make programs load code do not come in
# layers: env
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

names=(LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG_OUTPUT LD_ORIGIN_PATH GCONV_PATH NODE_OPTIONS
    NODE_PATH PYTHONPATH PYTHONSTARTUP PYTHONHOME PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB BASH_ENV
    ENV PROMPT_COMMAND BASH_FUNC_ls%% GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_CONFIG_GLOBAL
    GIT_CONFIG_COUNT GIT_EXEC_PATH GIT_DIR GIT_ASKPASS JAVA_TOOL_OPTIONS _JAVA_OPTIONS MAVEN_OPTS
    CLASSPATH LUA_INIT DOTNET_STARTUP_HOOKS GTK_MODULES SSLKEYLOGFILE AWS_SECRET_ACCESS_KEY
    GITHUB_TOKEN SSH_AUTH_SOCK DBUS_SESSION_BUS_ADDRESS XAUTHORITY DISPLAY)
assignments=()
for name in "${names[@]}"; do
    assignments+=("$name=$WS/evil-$name")
done
# The loader's own would bind what starts the sandbox, too: only names that it does not know.
printf 'echo sourced >%s\n' "$WS/sourced" >"$WS/evil-BASH_ENV"
timeout 20 env -u LD_PRELOAD "${assignments[@]:1}" LC_ALL=C.UTF-8 "$BAWN" run -C "$WS" --ro "$BIN" -- \
    /bin/bash -c 'env; cat /proc/1/environ' 2>"$T/stderr" | tr '\0' '\n' >"$T/stdout"
STATUS=${PIPESTATUS[0]}
if [[ ! ${BAWN_TEST_NESTED:-} || $STATUS -ne 125 ]]; then
    is yes "$(grep -q '^PATH=' "$T/stdout" && echo yes)" "the environment has a PATH"
    for name in "${names[@]:1}"; do
        equal "" "$(grep -aF "evil-$name" "$T/stdout")" "$name inside"
    done
    equal no "$(test -e "$WS/sourced" && echo yes || echo no)" "a file named by BASH_ENV was run"
fi
