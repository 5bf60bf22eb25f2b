# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# B-06 no hard link brings a file that may not be written into a place that may
# layers: mount
source "$ESCAPE/lib.bash"

plant "$OUT/file"
plant "$WS/mine"
plant "$WS/secret"
plant "$WS/fixed"
before=$(witness "$OUT" "$WS/secret" "$WS/fixed")
attempts --ro "$OUT" --deny "$WS/secret" --protect "$WS/fixed" <<END
EXDEV sys link s:$OUT/file s:$WS/h1
EXDEV sys linkat cwd s:$OUT/file cwd s:$WS/h2 0
EXDEV sys linkat fd:$OUT s:file fd:$WS s:h3 0
EXDEV|ENOENT|EPERM sys linkat rd:$OUT/file s: fd:$WS s:h4 AT_EMPTY_PATH
EXDEV|ENOENT|EPERM sys linkat fd:$OUT/file s: fd:$WS s:h4 AT_EMPTY_PATH
EXDEV sys linkat cwd s:/proc/self/root$OUT/file cwd s:$WS/h5 AT_SYMLINK_FOLLOW
EXDEV|EPERM|EACCES sys link s:$WS/secret s:$WS/h6
EXDEV|EPERM|EACCES sys link s:$WS/fixed s:$WS/h7
EXDEV|EPERM|EACCES sys linkat cwd s:$WS/fixed cwd s:$WS/h8 0
EXDEV|EPERM sys rename s:$OUT/file s:$WS/h9
EXDEV sys link s:/etc/passwd s:$WS/h10
ok    sys link s:$WS/mine s:$WS/good
END
unchanged "$before" "$OUT" "$WS/secret" "$WS/fixed"
equal "" "$(cd "$WS" && ls -d h* 2>/dev/null)" "links that were made"
# A descriptor of a file, through /proc.
sandbox --ro "$OUT" -- /bin/bash -c "exec 5<$OUT/file; $BIN/try <<<'sys linkat cwd s:/proc/self/fd/5 cwd s:$WS/h11 AT_SYMLINK_FOLLOW'"
equal EXDEV "$(cut -f1 "$T/stdout")" "a link to an open file"
