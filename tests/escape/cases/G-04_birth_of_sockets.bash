# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# G-04 sockets that approve are 0600 in 0700 from their birth on, and no link leads to them
# layers: launch
# no mutant: they are made by who starts the command, outside of any sandbox
# not: nested, nobody outside can be asked
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/asked.bash"

# Whatever the mask of who starts them is. Somebody looks all the time.
umask 0
cat >"$T/look.py" <<'END'
import os, stat, sys
runtime, place, until = sys.argv[1:]
seen = set()
while not os.path.exists(until):
    for top in runtime, place:
        for directory, _, names in os.walk(top, followlinks=False):
            for name in names + [""]:
                path = os.path.join(directory, name)
                try:
                    found = os.lstat(path)
                except OSError:
                    continue
                kind = "socket" if stat.S_ISSOCK(found.st_mode) else "directory" if stat.S_ISDIR(found.st_mode) else "file"
                seen.add(f"{kind} {stat.S_IMODE(found.st_mode):o} {name or 'itself'}")
print("\n".join(sorted(seen)))
END
mkdir -m 700 "$T/place"
python3 "$T/look.py" "$XDG_RUNTIME_DIR" "$T/place" "$T/over" >"$T/seen" 2>&1 &
looking=$!
at_end "kill $looking"
for i in 1 2 3 4 5; do
    "$BAWN" supervise >/dev/null 2>&1 &
    one=$!
    "$BAWN" supervise --socket "$T/place/s" >/dev/null 2>&1 &
    two=$!
    sandbox -- sleep 0.3
    wait_for 5 test -S "$T/place/s"
    kill "$one" "$two"
    wait "$one" "$two"
done
touch "$T/over"
wait "$looking"
equal "socket 600 control
socket 600 s
socket 600 supervisor" "$(grep ^socket "$T/seen" | grep -v itself)" "sockets that were ever there"
equal "directory 700 itself" "$(grep ^directory "$T/seen")" "directories that were ever there"
equal '' "$(grep ^file "$T/seen" | grep -v -E '^file (400|600) ')" "files that others can read"
equal "" "$(find "$T/place" "$XDG_RUNTIME_DIR" -mindepth 1)" "what is left"

# By a link, in a directory of others, in the place of something else: nothing is made.
ln -s "$T/place" "$T/link"
mkdir -m 755 "$T/open"
plant "$T/place/file" mine
ln -s "$T/place/there" "$T/place/dangling"
before=$(witness "$T/place" "$T/open")
for place in "$T/link/s" "$T/open/s" "$T/place/file" "$T/place/dangling" "$T/place/none/s" "$T/place/"; do
    timeout 5 "$BAWN" supervise --socket "$place" >/dev/null 2>"$T/stderr"
    equal 125 $? "supervise --socket ${place#"$T"}"
    grep -q '^bawn: ' "$T/stderr" || broken "no word why: ${place#"$T"}"
done
unchanged "$before" "$T/place" "$T/open"
# The directory of the sessions likewise: nobody answers there.
for kind in link open; do
    rm -rf "$XDG_RUNTIME_DIR/bawn"
    case $kind in
    link) mkdir -m 700 "$T/elsewhere" && ln -s "$T/elsewhere" "$XDG_RUNTIME_DIR/bawn" ;;
    open) mkdir -m 755 "$XDG_RUNTIME_DIR/bawn" ;;
    esac
    timeout 5 "$BAWN" supervise >/dev/null 2>"$T/stderr"
    equal 125 $? "supervise where the directory of sessions is $kind"
    equal '' "$(find "$T/elsewhere" "$XDG_RUNTIME_DIR/bawn/" -mindepth 1)" "what was made there"
done
