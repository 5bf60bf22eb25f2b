# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-54 nothing but a directory is made at the name .git: a file there leads git to any repository
# layers: notify
source "$ESCAPE/lib.bash"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
forged='[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch \\"$RAN\\"; false"\n'
mkdir -p "$WS/sub/deep" "$WS/stage"
plant "$WS/stage/file" 'gitdir: ../g'
ln -s "$WS/g" "$WS/stage/link"
ln -s file "$WS/stage/to_file"
git init -q "$OUT/main"
git -C "$OUT/main" -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
git -C "$OUT/main" worktree add -q "$WS/tree" 2>/dev/null
chmod -R a+rwX "$OUT/main" "$WS"
before=$(witness "$WS/tree/.git")

make() {
    local at=$1
    cat <<END
EACCES sys creat s:$at 0644
EACCES sys open s:$at O_WRONLY|O_CREAT 0644
EACCES sys open s:$at O_RDONLY|O_CREAT 0644
EACCES sys openat cwd s:$at O_RDWR|O_CREAT|O_EXCL 0644
EACCES sys openat2 cwd s:$at how:O_WRONLY|O_CREAT,0644,0 24
EACCES sys mknod s:$at S_IFREG|0644 0
EACCES sys mknod s:$at S_IFIFO|0644 0
EACCES sys symlink s:../stage s:$at
EACCES sys link s:$WS/stage/file s:$at
EACCES sys link s:$WS/stage/link s:$at
EACCES sys linkat cwd s:$WS/stage/to_file cwd s:$at AT_SYMLINK_FOLLOW
EXDEV  sys rename s:$WS/stage/file s:$at
EXDEV  sys rename s:$WS/stage/link s:$at
EXDEV  sys renameat2 cwd s:$WS/stage/file cwd s:$at RENAME_NOREPLACE
ENOENT stat $at
END
}
attempts < <(
    for at in "$WS/.git" "$WS/sub/.git" "$WS/sub/deep/.git" "/proc/self/cwd/sub/.git" "$WS/sub/../sub//.git"; do
        make "$at"
    done
    cat <<END
ok     read $WS/tree/.git gitdir:
EACCES sys open s:$WS/tree/.git O_WRONLY
EACCES sys open s:$WS/tree/.git O_RDONLY|O_TRUNC
EACCES append $WS/tree/.git
EACCES sys truncate s:$WS/tree/.git 0
EXDEV  sys rename s:$WS/stage/file s:$WS/tree/.git
EXDEV  sys renameat2 cwd s:$WS/stage/file cwd s:$WS/tree/.git RENAME_EXCHANGE
ok     sys mkdir s:$WS/sub/.git 0755
ok     sys creat s:$WS/sub/.git/HEAD 0644
ok     sys chmod s:$WS/sub/.git 0700
ok     sys unlink s:$WS/sub/.git/HEAD
ok     sys rmdir s:$WS/sub/.git
ok     sys creat s:$WS/sub/.gitignore 0644
ok     sys creat s:/tmp/.git 0644
END
)
unchanged "$before" "$WS/tree/.git"
rm -rf "$WS/sub/.git"

# As it is done: a repository of its own making, a file that leads there, and then git outside.
# shellcheck disable=SC2016
sandbox -- /bin/bash -c '
    mkdir -p g/objects g/refs victim; echo "ref: refs/heads/main" >g/HEAD; printf "$1" >g/config
    echo "gitdir: ../g" >victim/.git
    python3 -c "
import os
fd = os.open(\"victim\", os.O_TMPFILE | os.O_WRONLY)
os.write(fd, b\"gitdir: ../g\n\")
os.link(\"/proc/self/fd/%d\" % fd, \"victim/.git\", follow_symlinks=True)"
    cp stage/file victim/.git; ln -s ../g victim/.git; mv stage/file victim/.git; true' sh "$forged"
sandbox_ran
is yes "$([[ -s $WS/g/config ]] && echo yes)" "a directory of another name"
equal "" "$(ls -d "$WS/victim/.git" 2>/dev/null)" "what leads git elsewhere"
(cd "$WS/victim" && RAN=$T/ran GIT_CEILING_DIRECTORIES=$WS timeout 10 git status >/dev/null 2>&1)
equal "" "$(ls "$T/ran" 2>/dev/null)" "what git ran"

# Check says the same.
for at in .git sub/.git tree/.git; do
    (cd "$WS" && "$BAWN" check write "$at" >/dev/null 2>&1) && escaped "check allows writing $at"
done

# With the preset for repositories worktrees and submodules of those below are made inside; what belongs
# to the workspace's own stays.
for repo in "$WS" "$WS/open" "$WS/library"; do
    git init -q "$repo"
    git -C "$repo" config user.name a && git -C "$repo" config user.email a@b
    git -C "$repo" commit -q --allow-empty -m one
done
git -C "$WS" worktree add -q "$WS/own" 2>/dev/null
chmod -R a+rwX "$WS"
before=$(witness "$WS/.git/worktrees" "$WS/.git/config")
sandbox --preset git -- /bin/bash -ec 'cd open
    git worktree add -q ../open2; git -c protocol.file.allow=always submodule --quiet add "$PWD/../library" library
    git commit -qm two; cd ../open2; git status >/dev/null'
sandbox_ran
is "gitdir: ../.git/modules/library" "$(cat "$WS/open/library/.git")" "the submodule's file"
# What was written there is told, with where it leads.
equal 1 "$(grep -cF "the command wrote $WS/open/library/.git: gitdir: ../.git/modules/library" "$T/stderr")" \
    "the run's end names the submodule's file"
equal 1 "$(grep -cF "the command wrote $WS/open2/.git: gitdir: $WS/open/.git/worktrees/open2" "$T/stderr")" \
    "the run's end names the worktree's file"
attempts --preset git <<END
ok     sys mkdir s:$WS/.git/modules 0755
ok     sys mkdir s:$WS/.git/modules/x 0755
EACCES sys creat s:$WS/.git/modules/x/config 0644
EACCES append $WS/.git/worktrees/own/commondir
EACCES append $WS/.git/worktrees/own/gitdir
ok     append $WS/open/.git/worktrees/open2/commondir
END
unchanged "$before" "$WS/.git/worktrees" "$WS/.git/config"
