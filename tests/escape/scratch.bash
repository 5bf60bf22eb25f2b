#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scratch.bash KEEP... -- COMMAND: runs COMMAND where the whole filesystem is a copy that is thrown
# away, so that attempts which nothing contains hurt nobody. Runs as pid 1 of namespaces of its own;
# KEEP are directories that are shown as they are, read-only; so is data/, which lists what is protected.
set -euo pipefail
set -- "$(realpath "$(dirname "$0")/../../data")" "$@"

mount --make-rprivate /
mount -t tmpfs -o mode=755 scratch /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work scratch /mnt/root
mount -t tmpfs -o mode=1777 scratch /mnt/root/tmp
mount -t tmpfs -o mode=755 scratch /mnt/root/run
while [[ $1 != -- ]]; do
    mkdir -p "/mnt/root$1"
    mount --bind "$1" "/mnt/root$1"
    mount -o remount,bind,ro "/mnt/root$1"
    shift
done
shift
# Nodes of its own: what is made in /dev is gone afterwards, too.
mount -t tmpfs -o mode=755 scratch /mnt/root/dev
find /dev -mindepth 1 -maxdepth 1 \( -type c -o -type b -o -type l \) -exec cp -a {} /mnt/root/dev/ \;
mkdir -p /mnt/root/dev/pts /mnt/root/dev/mqueue /mnt/root/dev/net
mkdir -m 1777 /mnt/root/dev/shm
mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts /mnt/root/dev/pts
ln -sf pts/ptmx /mnt/root/dev/ptmx
mount -t mqueue mqueue /mnt/root/dev/mqueue
mount --rbind /sys /mnt/root/sys
[[ ${BAWN_TEST_WITHOUT:-} ]] && mount -o remount,bind,ro /mnt/root/sys
mount -t proc proc /mnt/root/proc
mkdir -p /mnt/root/mnt/old
cd /mnt/root
pivot_root . mnt/old
cd /
umount -l /mnt/old
ip link set lo up 2>/dev/null || true
# Pids as large as those of a machine that has run for a while.
echo 20000 2>/dev/null >/proc/sys/kernel/ns_last_pid || true
# Out: what would reach the machine itself, whatever the filesystem is. The command is not pid 1, which
# no signal ends.
setpriv --bounding-set=-sys_module,-sys_rawio,-sys_time,-sys_boot,-wake_alarm "$@" || exit $?
