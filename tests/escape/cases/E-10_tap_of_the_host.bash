# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-10 with /dev/net/tun granted, an interface of the host is still not there
# layers: launch
# no mutant: in the scratch copy, where mutants run, no interface can be made
# not: nested, where the host's network is the outer one's
# only: root
# when: test -c /dev/net/tun && unshare -n ip tuntap add dev tap mode tap user 65534
source "$ESCAPE/lib.bash"

# Interfaces of the case's own, one of them the command's by its owner.
[[ ${IN_OWN_NET:-} ]] || IN_OWN_NET=1 exec unshare --net bash "$0"
ip tuntap add dev tap0 mode tap user 0 || skip "no tap interface"
ip link set tap0 up
device=(--set sandbox.devices.allow=/dev/net/tun)
sandbox "${device[@]}" --as-root -- "$BIN/e_tap" tap0
sandbox_ran
verdict EACCES "$(cut -f1 "$T/stdout")" "taking an interface of the host"
equal 0 "$(awk '$1 == "tap0:" { print $3 }' /proc/self/net/dev)" "frames from inside"
# Where the network is the host's it is there.
sandbox "${device[@]}" --as-root --net host -- "$BIN/e_tap" tap0
sandbox_ran
is ok "$(cut -f1 "$T/stdout")" "the same in the host's network"
is 1 "$(awk '$1 == "tap0:" { print $3 }' /proc/self/net/dev)" "frames in the host's network"
