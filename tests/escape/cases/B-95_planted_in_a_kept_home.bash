# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-95 what an earlier command left in the kept home leads nowhere, and no other workspace reaches it
# layers: mount launch
# seconds: 60
# not: nested, where no home is kept
source "$ESCAPE/lib.bash"

keep=(--set sandbox.home=keep)
unset XDG_CACHE_HOME # so that it is in the home
kept_home() { # DIR: where the home of that workspace is
    "$BAWN" plan -C "$1" "${keep[@]}" 2>/dev/null | sed -n 's/.* kept .*, which is //p'
}
mine=$(kept_home "$WS")
at_end "rm -rf '${mine:-$T/none}'"
mkdir -p "$HOME/tool/deep" "$OUT/tool"
plant "$HOME/tool/file"
plant "$HOME/note"
plant "$OUT/secret"
before=$(witness "$OUT" "$HOME")

# Under each name where a mount point is to be, or on the way to it: a link out, a link to a place
# inside, a socket, a pipe, a file for a directory, a directory for a file.
plants=("ln -s $OUT ~/tool" "ln -s /usr ~/tool" "ln -s .. ~/tool" "ln -s /proc/self/root ~/tool"
    "ln -s nowhere ~/tool" "mkfifo ~/tool" "touch ~/tool" "$BIN/try <<<'sys mknod s:$HOME/tool S_IFSOCK|0644 0'"
    "mkdir ~/note" "ln -s $OUT/secret ~/note" "ln -s /etc/passwd ~/note" "ln -s tool ~/note")
for plant in "${plants[@]}"; do
    sandbox "${keep[@]}" -- bash -c "rm -rf ~/tool ~/note; $plant"
    sandbox_ran
    sandbox "${keep[@]}" --rw "$HOME/tool" --ro "$HOME/note" -- touch ran
    sandbox_refused "an earlier command left it there"
    grep -qF "remove $mine/" "$T/stderr" || broken "no word what to remove: $(tail -n1 "$T/stderr")"
done
# The way to a grant that lies deeper, and to what is private there.
for plant in "ln -s $OUT ~/tool" "ln -s . ~/tool"; do
    sandbox "${keep[@]}" -- bash -c "rm -rf ~/tool ~/note; $plant"
    sandbox "${keep[@]}" --rw "$HOME/tool/deep" --private "$HOME/tool/own" -- touch ran
    sandbox_refused "an earlier command left it there"
done
sandbox "${keep[@]}" --rw "$HOME/tool" -- rmdir "$HOME/.cache" # a mount is on it
((STATUS != 0)) || escaped "a mount point could be removed"
unchanged "$before" "$OUT" "$HOME"

# What fits is used: a directory, a file; names that are odd.
sandbox "${keep[@]}" -- bash -c 'rm -rf ~/tool ~/note; mkdir -m 0 ~/tool; echo own >~/note; echo x >~/"$(printf "a\nb\e[31m")"'
attempts "${keep[@]}" --rw "$HOME/tool" --ro "$HOME/note" <<END
ok    sys open s:$HOME/tool/file O_RDWR
EROFS|EACCES sys open s:$HOME/note O_WRONLY
ok    write $HOME/left
EPERM sys mknod s:$HOME/device S_IFCHR|0666 259
EPERM sys chmod s:$HOME/left 04755
END
is "rw,nosuid,nodev" "$("$BAWN" run -C "$WS" "${keep[@]}" -- awk -v at="$HOME" '$5 == at {print $6}' /proc/self/mountinfo | grep -o '^rw,nosuid,nodev')" "how it is mounted"
is 700 "$(stat -c %a "$mine")" "the mode of the kept home"

# Another workspace, and whoever sees the real home: neither reads nor writes it, nor plants one.
user_home=$(getent passwd "$UID" | cut -d: -f6)
other=$user_home/.local/state/bawn/homes/00000000000000000000000000000000
before=$(witness "$mine")
mkdir -p "$T/other"
WS=$T/other
for grant in "--rw $user_home" "--ro $user_home" "--rw $user_home/.local" "--rw $mine" ""; do
    # shellcheck disable=SC2086 # words
    attempts $grant <<END
EACCES|ENOENT|EROFS sys open s:$mine/left O_RDONLY
EACCES|ENOENT|EROFS sys open s:$mine/new O_WRONLY|O_CREAT 0644
EACCES|ENOENT|EROFS sys open s:$mine O_RDONLY|O_DIRECTORY
EACCES|ENOENT|EROFS sys mkdir s:$other 0755
EACCES|ENOENT|EROFS sys rename s:$mine s:$T/other/moved
EACCES|ENOENT|EROFS|EBUSY|EXDEV sys rename s:$user_home/.local/state/bawn s:$T/other/moved
END
done
unchanged "$before" "$mine"
