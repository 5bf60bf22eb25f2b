# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-02 a hidden path is not there, whatever is asked, and no answer tells it from one that never was
# layers: mount
source "$ESCAPE/lib.bash"

mkdir -p "$T/hidden/dir"
plant "$T/hidden/file"
ln -s file "$T/hidden/link"
cp /bin/true "$T/hidden/tool"
mkdir "$HOME/.ssh"
plant "$HOME/.ssh/id_ed25519"
plant "$WS/denied/file"
mkdir "$WS/denied/dir"
questions() {
    sed "s|@|$1|g" <<'END'
sys stat s:@ buf
sys lstat s:@ buf
sys newfstatat cwd s:@ buf 0
sys statx cwd s:@ 0 0xfff buf
sys access s:@ 0
sys faccessat cwd s:@ 4
sys faccessat2 cwd s:@ 0 0x200
sys readlink s:@ buf 100
sys readlinkat cwd s:@ buf 100
sys open s:@ O_RDONLY
sys open s:@ O_PATH
sys open s:@ O_RDONLY|O_DIRECTORY
sys openat2 cwd s:@ how:O_PATH,0,0 24
sys chdir s:@
sys getxattr s:@ s:user.x buf 10
sys listxattr s:@ buf 10
sys statfs s:@ buf
sys truncate s:@ 0
sys chmod s:@ 0600
sys rename s:@ s:@2
sys link s:@ s:@2
sys unlink s:@
sys rmdir s:@
sys utimensat cwd s:@ null 0
list @
exec @
END
    # A watch is asked for with a descriptor that is none: the path comes second.
    echo "in / read $1"
}
# ask VERDICT PATH. openat2 may be unknown inside, for whatever path.
ask() {
    questions "$2" | wanted "$1" | sed "s/^$1 sys openat2/$1|ENOSYS sys openat2/"
}
before=$(witness "$T/hidden" "$HOME" "$WS/denied")
attempts --deny "$WS/denied" < <(
    for path in "$T/hidden" "$T/hidden/file" "$T/hidden/dir" "$T/hidden/link" "$T/hidden/tool" \
        "$T/hidden/never" "$HOME/.ssh" "$HOME/.ssh/id_ed25519" "$HOME/.ssh/never"; do
        ask ENOENT "$path"
    done
    # In a writable tree it is covered: the cover is seen, and nothing that it covers.
    for path in "$WS/denied/file" "$WS/denied/dir" "$WS/denied/never"; do
        ask EACCES "$path"
    done
    echo "EACCES list $WS/denied"
    echo "ENOENT listed $T hidden"
    echo "ok stat $WS"
    echo "ok listed $T ws"
)
unchanged "$before" "$T/hidden" "$HOME" "$WS/denied"
