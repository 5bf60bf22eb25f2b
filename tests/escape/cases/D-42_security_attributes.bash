# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# D-42 attributes that take a capability are refused in private places too, whoever makes the call
# layers: lending
source "$ESCAPE/lib.bash"

# A private place belongs to the sandbox's user namespace, and the launcher owns that namespace.
plant "$WS/file"
attempts <<END
ok    sys creat s:/tmp/file 0644
EPERM sys setxattr s:/tmp/file s:security.bawn buf 16 0
EPERM sys lsetxattr s:/tmp/file s:security.bawn buf 16 0
EPERM sys fsetxattr rw:/tmp/file s:security.bawn buf 16 0
EPERM sys setxattr s:/tmp/file s:security.capability buf 20 0
EPERM sys setxattr s:/tmp/file s:security.ima buf 16 0
EPERM sys removexattr s:/tmp/file s:security.bawn
EPERM sys setxattr s:/tmp/file s:trusted.bawn buf 16 0
ENODATA sys getxattr s:/tmp/file s:security.bawn buf 16
EPERM sys setxattr s:$WS/file s:security.bawn buf 16 0
ok    sys setxattr s:$WS/file s:user.bawn buf 16 0
END
is "['user.bawn']" "$(python3 -c 'import os, sys; print(os.listxattr(sys.argv[1]))' "$WS/file")" \
    "attributes that the host sees"
