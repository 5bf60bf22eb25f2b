# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A-37 what the next start trusts stays unwritable where the home is the workspace, there or not
# layers: mount+notify notify
# not: nested, mounts of its own are needed
source "$ESCAPE/lib.bash"
own_mounts "$0"

own_passwd "$WS"
plant "$WS/file"
try_all() {
    attempts "$@" <<END
$want sys mkdir s:$WS/.config/bawn 0755
$want sys open s:$WS/.config/bawn/policy.yaml O_WRONLY|O_CREAT 0644
$want sys open s:$WS/.config/bawn/approved O_WRONLY|O_CREAT 0644
$want sys mkdir s:$WS/.cache/bawn 0755
$want sys mkdir s:$WS/.cache/bawn/plans 0755
$want sys mkdir s:$WS/.local/state/bawn 0755
$want sys mkdir s:$WS/.local/state/bawn/sessions 0755
EACCES|ENOENT|EROFS sys open s:$WS/.local/state/bawn/sessions/aaaaaa/end O_WRONLY|O_CREAT 0644
EACCES|ENOENT sys open s:$WS/.local/state/bawn/sessions O_RDONLY|O_DIRECTORY
any sys rename s:$WS/.local/state/bawn s:$WS/moved1
any sys rename s:$WS/.local/state s:$WS/moved3
any sys rename s:$WS/.local s:$WS/moved3
any sys symlink s:$T s:$WS/.local
any sys rename s:$WS/.config/bawn s:$WS/moved1
any sys rename s:$WS/.cache/bawn s:$WS/moved1
any sys rename s:$WS/.config s:$WS/moved
any sys rename s:$WS/.cache s:$WS/moved2
any sys symlink s:$T s:$WS/.config
any sys symlink s:$T s:$WS/.cache
ok append $WS/file
END
    CHECKED=$((CHECKED + 1))
    [[ ! -L $WS/.config && ! -L $WS/.cache && ! -L $WS/.local ]] || escaped "a link leads to the places"
    [[ ! -e $WS/moved1 && ! -e $WS/moved2 && ! -e $WS/moved3/state/bawn && ! -e $WS/moved3/bawn ]] || escaped "the plans were moved"
    [[ -z $(find "$WS" -name policy.yaml) ]] || escaped "a policy was made"
}
# Whatever the variables say.
export HOME=$T/home XDG_CACHE_HOME=$T/xdg/cache
want='EACCES|ENOENT|EEXIST|EROFS' try_all
# Nobody is told of what is made where containers are allowed: then it has to be there, or nothing
# runs; best effort or not.
for options in --allow-containers "--allow-containers --best-effort"; do
    rm -rf "$WS/.config" "$WS/.cache" "$WS/.local"
    # shellcheck disable=SC2086 # words
    sandbox $options -- touch ran
    sandbox_refused "the command could make it"
done
# One that is missing is enough, unless bawn has made it.
for missing in .config/bawn .cache/bawn .local/state/bawn; do
    mkdir -p "$WS/.config/bawn" "$WS/.cache/bawn" "$WS/.local/state/bawn/sessions"
    rm -rf "${WS:?}/$missing"
    sandbox --allow-containers -- touch ran
    [[ -d $WS/$missing ]] || sandbox_refused "$missing"
    rm -f "$WS/ran"
done
mkdir -p "$WS/.local/state/bawn/sessions"
want='EROFS|EEXIST|EACCES' try_all
sandbox --allow-containers -- true
if ((STATUS == 0)); then
    want='EROFS|EEXIST|EACCES' try_all --allow-containers
fi
