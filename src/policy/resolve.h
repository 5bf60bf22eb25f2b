/* SPDX-License-Identifier: Apache-2.0 */
/* Where a path leads, as the kernel would walk it inside the sandbox. */
#ifndef POLICY_RESOLVE_H
#define POLICY_RESOLVE_H

#include "base/limits.h"
#include "policy/model.h"

/* What is at a path on the host, without following a final symbolic link. */
enum look {
    LOOK_ABSENT,
    LOOK_DIRECTORY,
    LOOK_OTHER, /* a file, socket, device... */
    LOOK_LINK,
    LOOK_UNKNOWN, /* the host does not say: no permission */
};

/* Looks at the host. For a link its target is written to target, with a NUL. */
struct looker {
    enum look (*look)(void *context, const char *path, char *target, size_t target_size);
    /* Told of each link that is followed, and what is still to be walked behind it; may be NULL. */
    void (*follows)(void *context, const char *link, const char *rest);
    /* Asked where it counts what a file is, not only whether it is a link; NULL: this one. */
    const struct looker *closer;
    void *context;
};

/*
 * Resolves path, which starts in the workspace when it is relative, to an
 * absolute path without symbolic links. The file need not exist. policy may be
 * NULL: then every link of the host is followed; else only those that are
 * visible inside.
 *
 * Returns 0, or a negative errno with the reason: -ELOOP, -ENAMETOOLONG,
 * -EINVAL (empty), -ENOENT (".." behind something that does not exist or is
 * not visible), -ENOTDIR, -EACCES (the host does not say), -EXDEV (a link of
 * procfs that names an open file or another process).
 */
int resolve_path(const struct policy *policy, const char *workspace, const char *path,
                 const struct looker *looker, char ret_path[LIMIT_PATH_BYTES],
                 struct bawn_error *err);

#endif
