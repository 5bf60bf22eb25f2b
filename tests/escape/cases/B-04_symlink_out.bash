# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-04 a symbolic link in the workspace leads nowhere that the policy does not
# layers: mount
source "$ESCAPE/lib.bash"

mkdir "$T/hidden" "$OUT/dir"
chmod 777 "$OUT/dir" "$T/hidden"
plant "$OUT/file"
plant "$T/hidden/file"
ln -s "$OUT/file" to_file
ln -s "$OUT/dir" to_dir
ln -s ../out/file up_file
ln -s "$OUT/new" to_new
ln -s "$T/hidden/file" to_hidden
ln -s /proc/self/root"$OUT"/file magic
ln -s to_file chain
ln -s "$WS/inner" to_inner
before=$(witness "$OUT" "$T/hidden")
attempts --ro "$OUT" <<END
EROFS  sys open s:to_file O_WRONLY
EROFS  write to_file
EROFS  append chain
EROFS  append up_file
EROFS  append magic
EROFS  sys creat s:to_new 0644
EROFS  sys creat s:to_dir/new 0644
EROFS  sys mkdir s:to_dir/new 0755
EXDEV|EROFS sys rename s:to_file s:to_dir/new
EROFS  sys truncate s:to_file 0
EROFS  sys chmod s:to_file 0600
EROFS  sys openat fd:to_dir s:new O_WRONLY|O_CREAT 0644
EROFS  in to_dir sys creat s:new 0644
EXDEV  sys linkat cwd s:to_file cwd s:$WS/hard AT_SYMLINK_FOLLOW
ENOENT append to_hidden
ENOENT read to_hidden
ok     read to_file original
ok     write to_inner
END
unchanged "$before" "$OUT" "$T/hidden"

# Made inside, not before.
sandbox --ro "$OUT" -- /bin/sh -c 'ln -s "$1" made && echo x >made/new; ln -s "$1/file" also && echo x >also; ln -s "$2" third && cat third/file' sh "$OUT" "$T/hidden"
equal "" "$(cat "$T/stdout")" "what a new link to a hidden place shows"
unchanged "$before" "$OUT" "$T/hidden"
