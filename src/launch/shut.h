/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of the host whose sockets nobody inside can connect to. */
#ifndef LAUNCH_SHUT_H
#define LAUNCH_SHUT_H

#include <bawn/error.h>

/*
 * Shows the tree that fd is open on (O_PATH, mounted somewhere in the new root)
 * through a read-only overlay, in place. proc_fd: see remount_open_proc. name is
 * for messages. Changes the directory.
 */
int shut_tree(int proc_fd, int fd, const char *name, struct bawn_error *err);

#endif
