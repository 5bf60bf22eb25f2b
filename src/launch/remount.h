/* SPDX-License-Identifier: Apache-2.0 */
/* Read-only and private mounts for kernels without mount_setattr, or under a filter that refuses
 * it: one mount at a time, as /proc/self/mountinfo lists them. */
#ifndef LAUNCH_REMOUNT_H
#define LAUNCH_REMOUNT_H

#include <bawn/error.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether mount_setattr is not to be had here. */
bool remount_is_needed(void);

/* The procfs around us, before the new root covers it; the list of mounts is read there. */
int remount_open_proc(struct bawn_error *err);

/*
 * Makes the mount that fd is the root of, and all below it, private, and gives
 * them the attributes (SYS_MOUNT_*) beside those they have. It is mounted
 * somewhere, and nothing of the caller's runs yet. What lies in a directory that is
 * closed to us is masked. Changes the directory.
 */
struct closed;
int remount_tree(int proc_fd, int fd, uint64_t attributes, struct closed *closed,
                 struct bawn_error *err);

/* The number that the mount of fd has in the list of mounts. */
int remount_mount_id(int fd, unsigned long *ret_id);

#endif
