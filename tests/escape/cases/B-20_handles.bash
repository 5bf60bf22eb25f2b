# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-20 files cannot be reached by handle
# layers: seccomp
source "$ESCAPE/lib.bash"

plant "$WS/mine"
attempts <<END
EPERM sys name_to_handle_at cwd s:$WS/mine buf buf 0
EPERM sys name_to_handle_at cwd s:/ buf buf 0x200
EPERM sys open_by_handle_at cwd buf O_RDONLY
EPERM sys open_by_handle_at rd:/ buf O_RDONLY
ok    read $WS/mine original
END
