# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-17 on a directory that takes upper case for lower, other spellings of a protected name are it, too
# layers: mount notify
# only: root
# when: unshare -m mount -t tmpfs -o casefold fold /mnt 2>/dev/null
source "$ESCAPE/lib.bash"

# A place of the case's own where names fold: only root can make one.
own_mounts "$0"
folding=$WS/fold
mkdir -p "$folding"
mount -t tmpfs -o casefold,mode=777 fold "$folding" 2>/dev/null ||
    skip "this kernel folds no case on tmpfs"
mkdir "$folding/p"
chattr +F "$folding/p" 2>/dev/null || skip "chattr cannot make a directory fold case"
mkdir -p "$folding/p/.git/hooks" "$folding/p/.claude"
chmod 777 "$folding/p"
plant "$folding/p/.git/config" '[core]'
before=$(witness "$folding/p")
attempts <<END
EROFS|EACCES sys creat s:$folding/p/.GIT/Hooks/pre-commit 0755
EROFS|EACCES append $folding/p/.Git/CONFIG
EROFS|EACCES sys creat s:$folding/p/.Claude/settings.json 0644
EROFS|EACCES sys creat s:$folding/p/.MCP.json 0644
EROFS|EACCES sys mkdir s:$folding/p/.VSCode 0755
EROFS|EACCES sys creat s:$folding/p/.Bashrc 0644
EBUSY|EACCES sys rename s:$folding/p/.GIT s:$folding/p/gone
END
unchanged "$before" "$folding/p"
attempts <<<"ok sys creat s:$folding/p/free 0644"
