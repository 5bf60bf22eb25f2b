# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-91 a repository that an earlier command made up or led to grants nothing
# layers: launch
# no mutant: it is the policy that must not grant it
source "$ESCAPE/lib.bash"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
me=(-c user.name=a -c user.email=a@b)
git init -q "$OUT/real"
git -C "$OUT/real" "${me[@]}" commit -q --allow-empty -m one
git -C "$OUT/real" worktree add -q "$OUT/tree" 2>/dev/null
plant "$OUT/secret/id" hidden
plant "$OUT/secret/objects/x" hidden
plant "$OUT/beside" hidden
before=$(witness "$OUT")

# nothing DIR WHAT: started in DIR, of what is outside nothing is there.
nothing() {
    local before=$1 dir=$2
    WS="$dir" attempts <<END
ENOENT read $OUT/real/.git/config
ENOENT read $OUT/real/.git/HEAD
ENOENT read $OUT/secret/id
ENOENT read $OUT/secret/objects/x
ENOENT read $OUT/beside
ENOENT list $OUT/secret
any    write $OUT/real/.git/objects/new
any    write $OUT/real/.git/HEAD
any    write $OUT/secret/new
ok     write $dir/free
END
    rm -f "$dir/free"
    unchanged "$before" "$OUT"
}

# What a command with --preset git can put into its workspace, of which a part is the next one's.
part=$WS/part
mkdir -p "$part/sub"
for to in "$OUT/real/.git" "$OUT/real/.git/worktrees/tree" "$OUT/secret" "../../out/secret" "$OUT" / /proc/self/cwd \
    /proc/self/root "$WS/nothing" "$(printf 'x%.0s' {1..5000})"; do
    printf 'gitdir: %s\n' "$to" >"$part/.git"
    nothing "$before" "$part"
done
nothing "$before" "$part/sub"
printf 'gitdir: %s\n' "$OUT/real/.git/worktrees/tree" >"$part/.git"
nothing "$before" "$part/sub"

# A worktree of its own, which says that it belongs to this directory, and that something else is its repository.
fake=$WS/fake.git
mkdir -p "$fake/worktrees/w" "$fake/objects" "$fake/refs"
printf '%s/.git\n' "$part" >"$fake/worktrees/w/gitdir"
printf 'ref: refs/heads/main\n' >"$fake/worktrees/w/HEAD"
for to in "$OUT/secret" "$OUT/real/.git" ../../../../out/secret "$OUT"; do
    printf '%s\n' "$to" >"$fake/worktrees/w/commondir"
    printf 'gitdir: %s\n' "$fake/worktrees/w" >"$part/.git"
    nothing "$before" "$part"
    printf 'gitdir: link/worktrees/w\n' >"$part/.git"
    ln -sfn "$fake" "$part/link"
    nothing "$before" "$part"
    # With links for the way: the parts of a repository are elsewhere.
    rm -rf "$fake/objects" "$fake/refs"
    ln -s "$OUT/secret/objects" "$fake/objects"
    ln -s "$OUT/real/.git/refs" "$fake/refs"
    ln -sf "$OUT/real/.git/config" "$OUT/real/.git/HEAD" "$fake"
    printf '../..\n' >"$fake/worktrees/w/commondir"
    nothing "$before" "$part"
done
rm -f "$part/.git" "$part/link"

# A worktree of the user's was in the workspace: another directory in its place, by a link.
git -C "$OUT/real" worktree add -q "$WS/linked" 2>/dev/null
before=$(witness "$OUT")
mv "$WS/linked/.git" "$part/.git"
rm -rf "$WS/linked"
ln -s part "$WS/linked"
nothing "$before" "$part"
rm -f "$WS/linked" "$part/.git"

# A submodule that is none: the repository names another work tree, or only seems to name this one.
mkdir -p "$WS/m/.git/modules/n/objects" "$WS/m/.git/modules/n/refs"
printf 'ref: refs/heads/main\n' >"$WS/m/.git/modules/n/HEAD"
for config in '[core]\n\tworktree = %s/x\n' '[other]\n\tworktree = %s\n' '[core]\n\tworktree = "%s"\n' '[core "x"]\n\tworktree = %s\n' \
    '[core]\n# worktree = %s\n' ''; do
    # shellcheck disable=SC2059 # the formats
    printf "$config" "$part" >"$WS/m/.git/modules/n/config"
    printf 'gitdir: %s\n' "$WS/m/.git/modules/n" >"$part/.git"
    WS="$part" attempts <<END
ENOENT read $WS/m/.git/modules/n/HEAD
ok     write $part/free
END
done
rm -rf "$part/.git" "$WS/m"

# A directory .git above, as any command can make one: no configuration.
mkdir -p "$WS/.git/objects" "$WS/.git/refs"
printf 'ref: refs/heads/main\n' >"$WS/.git/HEAD"
plant "$WS/beside" hidden
WS="$part" attempts <<END
ENOENT read $WS/beside
ENOENT read $WS/.git/HEAD
ok     write $part/free
END
# One that leads elsewhere.
rm -rf "$WS/.git"
ln -s "$OUT/real/.git" "$WS/.git"
nothing "$before" "$part"
