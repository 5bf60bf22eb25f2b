# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# C-01 a denied file is unreadable by every system call
# layers: mount
source "$ESCAPE/lib.bash"

for tree in "$OUT" "$WS"; do
    plant "$tree/secret" hunter2
    plant "$tree/sub/x.key" hunter2
    plant "$tree/dir/inner" hunter2
    plant "$tree/open" hunter2
    cp /bin/true "$tree/tool"
    cp /bin/true "$tree/fine"
    chmod 777 "$tree/tool" "$tree/fine"
done
reads() {
    sed "s|@|$1|g; s|WS|$WS|g" <<'END'
sys open s:@ O_RDONLY
sys openat cwd s:@ O_RDONLY
sys openat2 cwd s:@ how:O_RDONLY,0,0 24
sys openat2 cwd s:@ how:O_RDONLY,0,RESOLVE_NO_SYMLINKS 24
read @
map @
sendfile @
splice @
copy @ WS/copied
read /proc/self/root@
END
}
options=(--ro "$OUT" --deny "$OUT/secret" --deny "$WS/secret" --deny "$OUT/dir" --deny "$WS/dir"
    --deny '**/*.key' --deny "$OUT/sub/*.key" --deny "$OUT/tool" --deny "$WS/tool")
plant "$WS/copied"
before=$(witness "$OUT" "$WS/secret" "$WS/sub" "$WS/dir")
attempts "${options[@]}" < <(
    for file in "$WS/secret" "$WS/sub/x.key" "$OUT/secret" "$OUT/sub/x.key"; do
        reads "$file" | wanted EACCES | sed "s/^EACCES sys openat2/EACCES|ENOSYS sys openat2/"
        echo "EACCES|EROFS sys open s:$file O_RDWR"
        echo "EACCES|EROFS sys creat s:$file 0644"
    done
    for tree in "$OUT" "$WS"; do
        cat <<END
EACCES        exec $tree/tool
EACCES|ENOENT read $tree/dir/inner
EACCES|ENOENT exec $tree/dir/inner
EACCES        list $tree/dir
EACCES        sys openat fd:$tree s:secret O_RDONLY
EACCES        in $tree read secret
EACCES        in $tree/sub read ../secret
ok            exec $tree/fine
ok            read $tree/open hunter2
ok            map $tree/open
ok            sendfile $tree/open
ok            splice $tree/open
ok            copy $tree/open $WS/copied
END
    done
)
unchanged "$before" "$OUT" "$WS/secret" "$WS/sub" "$WS/dir"
# With tools that people use, and through an O_PATH descriptor.
sandbox "${options[@]}" -- /bin/bash -c '
    cd "$1"; tar cf - secret sub dir; cp -r "$1" /tmp/copy; grep -r hunter2 /tmp/copy secret sub dir
    cat <secret; dd if=secret; exec 5<secret; cat <&5; cd ../ws; tar cf - secret sub dir; ln secret hard && cat hard; ln -s secret soft && cat soft; . ./secret' \
    sh "$OUT"
equal "" "$(grep -a hunter2 "$T/stdout" | grep -av /open: | tr -d '\0' | head -n3)" "secrets that tools show"
rm -f "$WS/soft" "$WS/hard"

# A descriptor that the caller happens to have is not passed on.
exec 9<"$OUT/secret"
sandbox "${options[@]}" -- /bin/sh -c 'cat <&9; cat /proc/self/fd/9'
exec 9<&-
equal "" "$(cat "$T/stdout")" "what a descriptor of the caller shows"
