# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-35 a compiled plan that a command could have written is not used, wherever variables say plans are
# layers: launch notify
source "$ESCAPE/lib.bash"

command -v python3 >/dev/null || skip "no python3"
home=$(getent passwd "$(id -u)" | cut -d: -f6)
plant "$OUT/secret" secret
plant "$WS/other"
# The place cannot be made from inside, at any depth; the names beside it can.
mkdir -p "$WS/a/.cache"
attempts <<END
EACCES sys mkdir s:$WS/a/.cache/bawn 0755
EACCES sys symlink s:$OUT s:$WS/a/.cache/bawn
ok sys mkdir s:$WS/a/.cache/other 0755
ok sys mkdir s:$WS/.cache 0755
EACCES sys mkdir s:$WS/.cache/bawn 0755
END
# But an older one may have been there. Such a plan is best taken from bawn itself: one that a wider
# policy made, with the list of what it was made from cut off.
export XDG_CACHE_HOME=$WS/.cache
mkdir -p "$HOME/.config/bawn" "$WS/.cache/bawn/plans"
chmod -R go-rwx "$WS/.cache"
echo "sandbox: {paths: {o: {root: $OUT, mode: ro}}}" >"$HOME/.config/bawn/policy.yaml"
touch "$T/stamp"
sleep 0.1
sandbox -- cat "$OUT/secret"
sandbox_ran
is secret "$(cat "$T/stdout")" "a policy of the user's grants it"
made=$(find "$home/.cache/bawn/plans" "$WS/.cache/bawn/plans" -newer "$T/stamp" -maxdepth 1 -type f \
    -exec grep -lF "$WS" {} + 2>/dev/null | head -n1)
is yes "$([[ -n $made ]] && echo yes)" "the plan was kept"
python3 - "$made" "$WS/.cache/bawn/plans" <<'END'
import os, struct, sys
plan, place = sys.argv[1:]
data = bytearray(open(plan, "rb").read())
start = data.index(b"bawnim")
size = len(data) - start
for at in range(start, start + 1024, 4):  # sixteen spans: an offset and a count each
    spans = [struct.unpack_from("II", data, at + 8 * i) for i in range(16)]
    offsets = [span[0] for span in spans]
    if (offsets == sorted(offsets) and offsets[0] == at + 128 - start and
            0 <= size - sum(spans[15]) < 8):
        struct.pack_into("I", data, at + 8 * 8 + 4, 0)
        break
else:
    sys.exit("no spans")
name = os.path.join(place, os.path.basename(plan))
with open(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
    out.write(data)
END
is 0 $? "the plan was planted"
rm -r "$HOME/.config/bawn"
before=$(witness "$OUT" "$WS/.cache")
attempts <<END
ENOENT read $OUT/secret
ok append $WS/other
END
unchanged "$before" "$OUT" "$WS/.cache"
HOME=$WS attempts <<END
ENOENT read $OUT/secret
END
