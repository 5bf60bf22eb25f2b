# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# E-20 protocols that pass by what is said of TCP and UDP have no sockets
# layers: seccomp
source "$ESCAPE/lib.bash"

# UDP-Lite, MPTCP, SMC; a kernel may lack the last two, but the filter comes first.
attempts <<END
EPERM sys socket 2 2 136
EPERM sys socket 10 2 136
EPERM sys socket 10 2 0xffffffff00000088
EPERM sys socket 2 1 262
EPERM sys socket 2 1 256
ok    sys socket 2 2 17
ok    sys socket 10 2 0
ok    sys socket 2 1 6
END
