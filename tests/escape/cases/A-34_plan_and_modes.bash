# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-34 a plan that is kept does not outlive what it was made from: the mode of a listed secret
# layers: mount
# only: root
# not: nested, mounts of its own are needed
source "$ESCAPE/lib.bash"
own_mounts "$0"

[[ -e /etc/security/opasswd ]] || skip "no /etc/security/opasswd"
plant "$T/opasswd" secret
chmod 600 "$T/opasswd"
sleep 0.05
"$BIN/bind" "$T/opasswd" /etc/security/opasswd || skip "no mounts of one's own here"
for _ in 1 2; do
    attempts <<END
EACCES read /etc/security/opasswd
ok read /etc/hostname
END
done
chmod 644 "$T/opasswd"
attempts <<END
EACCES read /etc/security/opasswd
ok read /etc/hostname
END
