# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-11 a protected place that is not there cannot be made, nor can a parent be brought that holds it
# layers: notify
source "$ESCAPE/lib.bash"

mkdir -p "$WS/plain" "$WS/stage/.git/hooks" "$WS/mod"
plant "$WS/stage/file"
plant "$WS/stage/dir/.npmrc"
before=$(names "$WS")
create() {
    local at=$1
    cat <<END
EROFS|EACCES sys creat s:$at 0644
EROFS|EACCES sys open s:$at O_WRONLY|O_CREAT 0644
EROFS|EACCES sys openat cwd s:$at O_RDWR|O_CREAT|O_EXCL 0644
EROFS|EACCES sys openat2 cwd s:$at how:O_WRONLY|O_CREAT,0644,0 24
EROFS|EACCES sys open s:$at O_RDONLY|O_CREAT 0644
EROFS|EACCES sys mkdir s:$at 0755
EROFS|EACCES sys mkdirat cwd s:$at 0755
EROFS|EACCES sys symlink s:plain s:$at
EROFS|EACCES sys symlinkat s:plain cwd s:$at
EROFS|EACCES sys mknod s:$at S_IFREG|0644 0
EROFS|EACCES sys mknodat cwd s:$at S_IFIFO|0644 0
EROFS|EACCES sys link s:$WS/stage/file s:$at
EROFS|EACCES sys linkat cwd s:$WS/stage/file cwd s:$at 0
EROFS|EACCES|ENOENT sys linkat rd:$WS/stage/file s: cwd s:$at AT_EMPTY_PATH
EROFS|EACCES sys rename s:$WS/stage/file s:$at
EROFS|EACCES sys renameat2 cwd s:$WS/stage/file cwd s:$at RENAME_NOREPLACE
ENOENT       stat $at
END
}
attempts --protect "$WS/plain/mine" < <(
    for name in .bashrc .mcp.json .vscode .claude plain/.envrc plain/mine plain/.gitmodules \
        plain/x.code-workspace; do
        create "$WS/$name"
    done
    # The same place by other names.
    create "$WS/plain/../.zshrc"
    create "$WS/./.zshrc"
    create "$WS//.zshrc"
    create "/proc/self/cwd/.zshrc"
    create "/proc/self/root$WS/.zshrc"
    cat <<END
EROFS|EACCES sys openat fd:$WS s:.profile O_WRONLY|O_CREAT 0644
EROFS|EACCES in $WS sys creat s:.profile 0644
EROFS|EACCES in $WS/plain sys creat s:../.profile 0644
EROFS|EACCES sys mkdirat fd:$WS/plain s:../.idea 0755
ok sys creat s:$WS/plain/free 0644
ok sys mkdir s:$WS/plain/dir 0755
ok sys symlink s:x s:$WS/plain/link
ok sys mknod s:$WS/plain/fifo S_IFIFO|0644 0
END
)
rm -rf "$WS/plain/free" "$WS/plain/dir" "$WS/plain/link" "$WS/plain/fifo"
equal "$before" "$(names "$WS")" "names in the workspace"

# A directory is not a repository until it has hooks and a config: none of the ways there.
attempts <<END
ok           sys mkdir s:$WS/mod/.git 0755
EROFS|EACCES sys mkdir s:$WS/mod/.git/hooks 0755
EROFS|EACCES sys creat s:$WS/mod/.git/config 0644
ok           sys mkdir s:$WS/mod/x.git 0755
EROFS|EACCES sys mkdir s:$WS/mod/x.git/hooks 0755
ok           sys mkdir s:$WS/mod/info 0755
END
equal "" "$(cd "$WS/mod" && ls -d .git/hooks .git/config 2>/dev/null)" "parts of a repository"

# By way of a symbolic link that leads there, made inside.
ln -s ../.zshrc "$WS/plain/before"
attempts <<END
EROFS|EACCES write $WS/plain/before
ok           sys symlink s:../.zshrc s:$WS/plain/within
EROFS|EACCES write $WS/plain/within
EROFS|EACCES sys open s:$WS/plain/within O_RDONLY|O_CREAT 0644
ok           sys symlink s:.. s:$WS/plain/up
EROFS|EACCES sys creat s:$WS/plain/up/.zshrc 0644
EROFS|EACCES sys mkdir s:$WS/plain/up/.vscode 0755
ok           sys symlink s:mod/.git s:$WS/repo
EROFS|EACCES sys mkdir s:$WS/repo/hooks 0755
EROFS|EACCES sys creat s:$WS/repo/config 0644
EROFS|EACCES in $WS/repo sys mkdir s:hooks 0755
EROFS|EACCES sys mkdirat fd:$WS/repo s:hooks 0755
ok           write $WS/plain/up/free
END
equal "" "$(cd "$WS" && ls -d .zshrc .vscode mod/.git/hooks mod/.git/config 2>/dev/null)" "what was made through links"

# A directory that has all that a repository has, but for its name.
for name in one two three; do
    plant "$WS/stage/$name/hooks/pre-commit" '#!/bin/sh'
    plant "$WS/stage/$name/config" '[core]'
done
plant "$WS/stage/cargo/config.toml"
mkdir -p "$WS/new/.git"
attempts <<END
EXDEV        sys rename s:$WS/stage/one s:$WS/new/.git
EXDEV        sys renameat2 cwd s:$WS/stage/one cwd s:$WS/new/.git RENAME_EXCHANGE
EXDEV        sys renameat2 cwd s:$WS/new/.git cwd s:$WS/stage/one RENAME_EXCHANGE
EXDEV        sys rename s:$WS/stage/two s:$WS/plain/.git
EXDEV        sys renameat2 cwd s:$WS/stage/two cwd s:$WS/plain/.git RENAME_NOREPLACE
EXDEV        sys rename s:$WS/stage/two s:$WS/plain/bare.git
EROFS|EACCES sys symlink s:../stage/two s:$WS/plain/.git
ok           sys symlink s:../stage/two s:$WS/plain/link
EXDEV        sys rename s:$WS/plain/link s:$WS/plain/.git
EXDEV        sys rename s:$WS/stage/cargo s:$WS/plain/.cargo
EROFS|EACCES sys symlink s:../stage/cargo s:$WS/plain/.cargo
ok           sys rename s:$WS/stage/three s:$WS/plain/three
END
equal "" "$(cd "$WS" && ls -d new/.git/hooks plain/.git plain/bare.git plain/.cargo 2>/dev/null)" "repositories that were brought"

# Left out: a socket, which bind makes. The filter cannot see its name, and a socket at a protected
# name runs nothing: the README says so.
