# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-37 what a mount covers or pins stays where it is on the host, though the rules let it be written
# layers: lending
source "$ESCAPE/lib.bash"

mkdir -p "$WS/private" "$WS/empty" "$WS/other"
plant "$WS/private/kept"
plant "$WS/above/read/kept"
plant "$WS/over/deep/hidden/kept"
before=$(witness "$WS")
attempts --private "$WS/private" --private "$WS/empty" \
    --private "$WS/over/deep/hidden" --ro "$WS/above/read" <<END
EBUSY sys rename s:$WS/private s:$WS/gone
EBUSY sys renameat2 cwd s:$WS/private cwd s:$WS/gone RENAME_NOREPLACE
EBUSY sys renameat2 cwd s:$WS/private cwd s:$WS/other RENAME_EXCHANGE
EBUSY sys renameat2 cwd s:$WS/other cwd s:$WS/private RENAME_EXCHANGE
EBUSY sys rename s:$WS/other s:$WS/empty
EBUSY sys rename s:$WS/empty s:$WS/other
EBUSY sys rmdir s:$WS/empty
EBUSY sys unlinkat fd:$WS s:empty AT_REMOVEDIR
EBUSY sys rename s:$WS/above s:$WS/gone
EBUSY in $WS sys rename s:above/ s:gone
EBUSY sys rename s:$WS/over s:$WS/gone
# The directory that it is in is a mount of its own: the kernel looks at that first.
EXDEV sys rename s:$WS/over/deep s:$WS/gone
EBUSY sys rename s:$WS/over/deep s:$WS/over/gone
EBUSY sys rename s:/proc/self/cwd/private s:$WS/gone
END
unchanged "$before" "$WS"
attempts --private "$WS/private" <<END
ok sys creat s:$WS/private/own 0644
ok sys rename s:$WS/private/own s:$WS/private/moved
ok sys rename s:$WS/other s:$WS/moved
ok sys rmdir s:$WS/moved
END
