# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-14 with late: held no name that a rule hides is opened, not even in the moment in which it appears
# layers: notify reads late
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/late.bash"
export SANDBOX_SECONDS=50
held=(--set sandbox.late=held --deny '**/.env' --deny '**/secrets' --deny '**/secrets/**')

plant "$WS/plain"
mkdir "$T/away"
chmod 777 "$T/away"
sandbox "${held[@]}" -- "$BIN/late" open "$WS" 16 &
inside=$!
wait_for 10 test -e "$WS/ready"
"$BIN/late" make "$WS" "$T/away" 12 >"$T/made"
wait "$inside"
read -r tries seen reads way <"$T/stdout"
rounds=$(cat "$T/made")
((${tries:-0} >= 2000 && ${seen:-0} >= 20 && rounds >= 20)) ||
    broken "only ${tries:-0} tries against $rounds rounds, of which ${seen:-0} saw a name"
[[ ${reads:-} ]] || exit 1
echo "# note: $tries tries against $rounds rounds; $seen saw a name"
equal 0 "$reads" "reads of what is hidden, the last by $way"

# At once, whoever made it and by whatever name it is opened. What has another name is read.
rm -rf "$WS"/{ready,.env,d,secrets,moved}
mkdir "$WS/d"
chmod 777 "$WS/d"
begin "${held[@]}"
plant "$WS/.env" private
ask EACCES "read $WS/.env"
ask EACCES "map $WS/.env"
ask EACCES "in $WS read .env"
ask EACCES "read /proc/self/root$WS/.env"
ask EACCES\|EPERM\|EROFS "sys open s:$WS/.env O_RDWR"
ask EACCES\|EPERM\|EBUSY "sys rename s:$WS/.env s:$WS/taken"
ask EACCES\|EPERM "sys link s:$WS/.env s:$WS/taken"
ask ok "read $WS/plain original"
ln "$WS/.env" "$WS/other"
ask ok "read $WS/other private" # a name that no rule is about
mkdir -p "$T/tree/deep" && plant "$T/tree/deep/.env" private && plant "$T/tree/deep/plain"
mv "$T/tree" "$WS/tree"
ask EACCES "read $WS/tree/deep/.env"
ask ok "read $WS/tree/deep/plain original"
ln -s plain "$WS/d/.env"
ask EACCES "read $WS/d/.env"
mkdir "$WS/secrets" && plant "$WS/secrets/x" private
ask EACCES "list $WS/secrets"
ask EACCES "read $WS/secrets/x"
over

# It is told, with its rule.
[[ -z ${BAWN_TEST_NESTED:-} ]] || exit 0
plant "$T/moved" private
sandbox --events 3 "${held[@]}" -- sh -c "rm -f go; mkfifo go; echo >ready; cat <go; cat .env" 3>"$T/events" &
recording=$!
wait_for 10 test -e "$WS/ready"
mv "$T/moved" "$WS/.env"
echo >"$WS/go"
wait "$recording"
grep -q '"op": "read".*"path": "[^"]*/\.env".*"rule": "deny \*\*/\.env"' "$T/events" ||
    escaped "what was refused is told nobody: $(head -c 600 "$T/events")"
