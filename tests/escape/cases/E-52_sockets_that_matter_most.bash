# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-52 the sockets that lead furthest are not there, whatever is read
# layers: launch
# no mutant: a private /run is a part of the new root; what is not granted is never there to be left in
# seconds: 60
# not: nested, mounts of its own are needed
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"
own_mounts "$0"

# They listen on every host here: a name that is not there proves nothing.
wanted=(/run/docker.sock /var/run/docker2.sock /run/containerd/containerd.sock /run/podman/podman.sock
    /run/libvirt/libvirt-sock /run/dbus/system_bus_socket /run/systemd/private /run/nscd/socket
    /run/systemd/journal/socket /run/udev/control /run/snapd.socket
    "/run/user/$UID/bus" "/run/user/$UID/systemd/private" "/run/user/$UID/gnupg/S.gpg-agent"
    "/run/user/$UID/wayland-0" "/run/user/$UID/podman/podman.sock")
mkdir "$T/run"
"$BIN/bind" "$T/run" /run || skip "no mounts of one's own here"
for path in "${wanted[@]}"; do
    mkdir -p "${path%/*}"
done
"$BIN/e_listen" "${wanted[@]}" >"$T/reached" 2>/dev/null &
at_end "kill $!"
wait_for 5 grep -q ready "$T/reached" || broken "no listener"

for reads in strict static; do
    sandbox --reads "$reads" -- "$BIN/e_connect" "${wanted[@]}"
    sandbox_ran
    for path in "${wanted[@]}"; do
        answers <<<"ENOENT $path"
    done
done
# That one programs of the host ask, bawn among them, when they look for a user's name.
equal ready "$(grep -v '^reached /run/nscd/socket$' "$T/reached")" "what the host's sockets saw"

"$BIN/e_connect" "${wanted[@]}" >"$T/stdout"
for path in "${wanted[@]}"; do
    is ok "$(awk -F'\t' -v what="$path" '$2 == what { print $1 }' "$T/stdout")" "outside, $path"
done
