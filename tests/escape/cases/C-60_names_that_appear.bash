# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-60 what is denied and is made outside while a command runs is masked, however it comes there
# layers: mount
# seconds: 60
source "$ESCAPE/lib.bash"
source "$ESCAPE/late.bash"

plant "$WS/there" private
plant "$WS/dir/plain"
options=()
for name in secret made moved linked soft there whole far/away/key dir/key renamed way; do
    options+=(--deny "$WS/$name") # the very path: a mere name would be a pattern
done
plant "$WS/sealed" private
plant "$WS/pinned/sealed" private
plant "$WS/pinned/inner" private
plant "$WS/hollow/shown/plain"
begin "${options[@]}" --protect "$WS/sealed" --protect "$WS/pinned/sealed" \
    --deny "$WS/hollow" --ro "$WS/hollow/shown"
plant "$WS/secret" private
printf 'private\n' >"$WS/made"
printf 'private\n' >"$T/other" && mv "$T/other" "$WS/moved"
printf 'private\n' >"$T/more" && ln "$T/more" "$WS/linked"
plant "$OUT/apart" private
ln -s dir/plain "$WS/soft"
mkdir "$WS/whole" && plant "$WS/whole/inner" private
plant "$WS/far/away/key" private
plant "$WS/dir/key" private
soon
for name in secret made moved linked soft far/away/key dir/key; do
    ask EACCES "read $WS/$name"
    ask EACCES "read /proc/self/root$WS/$name"
done
ask EACCES "list $WS/whole"
ask EACCES "read $WS/whole/inner"
ask ok "read $WS/dir/plain original"
ask EACCES\|EPERM\|EROFS "sys chmod s:$WS/secret 0644"
ask EACCES\|EROFS\|EPERM "write $WS/secret"
ask EBUSY\|EACCES\|EPERM "sys unlink s:$WS/secret"

# What was covered is replaced, and the mask goes with it.
ask EACCES "read $WS/there"
for name in there secret; do
    printf 'private\n' >"$T/again" && mv "$T/again" "$WS/$name"
    soon
    ask EACCES "read $WS/$name"
    rm "$WS/$name" && printf 'private\n' >"$WS/$name"
    soon
    ask EACCES "read $WS/$name"
    rm "$WS/$name" && mkdir "$WS/$name" && plant "$WS/$name/inner" private
    soon
    ask EACCES "read $WS/$name/inner"
done

# A directory on the way is moved away, and another takes its place.
mv "$WS/far" "$WS/further"
mkdir -p "$T/far/away" && printf 'private\n' >"$T/far/away/key" && mv "$T/far" "$WS/far"
soon
ask EACCES "read $WS/far/away/key"
rm -r "$WS/far" && mkdir "$WS/far"
soon
plant "$WS/far/away/key" private
soon
ask EACCES "read $WS/far/away/key"

# Something is mounted on these inside, which shows what they are, and it comes along.
mv "$WS/sealed" "$WS/renamed"
mv "$WS/pinned" "$WS/way"
soon
ask EACCES "read $WS/renamed"
ask EACCES "read $WS/way/sealed"
ask EACCES "read $WS/way/inner"
ask ok "read $WS/hollow/shown/plain original"
over
is private "$(cat "$WS/made")" "what the host has"
