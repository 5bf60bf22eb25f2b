# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-02 no new namespace by unshare, clone or clone3
# layers: seccomp
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

sandbox -- "$BIN/d_namespaces"
sandbox_ran
for kind in user mount pid net ipc uts cgroup; do
    answers <<END
EPERM unshare-$kind
EPERM unshare-$kind-high-bits
EPERM clone-$kind
EPERM clone-$kind-and-user
END
done
# clone3 hides its flags behind a pointer; libc falls back to clone on ENOSYS.
answers <<END
EPERM unshare-time
ENOSYS clone3-plain
ENOSYS clone3-user
ENOSYS clone3-time
ok clone-plain
END
