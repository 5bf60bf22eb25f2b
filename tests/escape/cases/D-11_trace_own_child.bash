# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-11 a child of one's own is not traced, unless the policy says debug
# layers: seccomp notify
source "$ESCAPE/lib.bash"
source "$ESCAPE/answers.bash"

sandbox -- "$BIN/d_trace" child
sandbox_ran
answers <<END
EPERM child-traceme
EPERM child-seize
EPERM child-attach
EPERM child-readv
EPERM child-writev
EPERM child-kcmp
EPERM child-getfd
END

sandbox --set sandbox.process.debug=true -- "$BIN/d_trace" child
sandbox_ran
answers <<END
ok child-traceme
ok child-seize
ok child-readv
ok child-kcmp
END
