# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-40 the modes, owners and times of the host's devices stay, even if root stays root
# layers: mount
# only: root
# not: nested, its root is not the owner of a device
source "$ESCAPE/lib.bash"

# The same values again: nothing is changed where nothing refuses, but the time of the change.
before=$(stat -c '%a %u %g %Z' /dev/full /dev/null /dev/zero)
attempts --as-root <<END
EROFS sys chmod s:/dev/full 0666
EROFS sys chown s:/dev/full 0 0
EROFS sys fchmodat cwd s:/dev/zero 0666
EROFS sys utimensat cwd s:/dev/full null 0
ok    sys open s:/dev/null O_RDWR
ok    sys open s:/dev/full O_RDWR
ok    sys open s:/dev/urandom O_RDONLY
END
equal "$before" "$(stat -c '%a %u %g %Z' /dev/full /dev/null /dev/zero)" "modes of devices"
