# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-72 services that listen below the home are out of reach, also where all is shown or the home is the workspace
# layers: mount
# seconds: 60
# not: nested, mounts of its own are needed
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"
own_mounts "$0"

home=/mnt # not below /tmp, which is another one inside
mkdir -m 755 "$T/me"
"$BIN/bind" "$T/me" "$home" || skip "no mounts of one's own here"
mkdir "$home/project"
own_passwd "$home"
export HOME=$home
unset XDG_CACHE_HOME XDG_STATE_HOME
names=(.lima/default/docker.sock .colima/docker.sock .rd/docker.sock .orbstack/run/docker.sock
    .local/share/containers/podman/machine/podman.sock .bitwarden-ssh-agent.sock .emacs.d/server/server
    .local/state/watchman/sock)
listeners=()
for name in "${names[@]}"; do
    mkdir -p "$home/$(dirname "$name")"
    listeners+=("$home/$name")
done
"$BIN/e_listen" "${listeners[@]}" >"$T/reached" 2>/dev/null &
listener=$!
at_end "kill $listener"
wait_for 5 grep -q ready "$T/reached" || broken "no listener"
chmod 777 "${listeners[@]}"

cd "$home/project" || exit 1
for WS in "$home/project" "$home"; do
    for reads in strict dynamic static; do
        [[ $WS == "$home/project" || $reads == dynamic ]] || continue
        sandbox --reads "$reads" -- "$BIN/e_connect" "${listeners[@]}"
        sandbox_ran
        for path in "${listeners[@]}"; do
            answers <<<"ENOENT|EACCES $path"
        done
    done
done
equal ready "$(cat "$T/reached")" "what the services saw"
is yes "$("$BIN/e_connect" "${listeners[0]}" | grep -q ^ok && echo yes)" "a service answers outside"
