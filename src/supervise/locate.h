/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding where a caller's path leads, from outside and from the caller's root.
 *
 * How it works: a path becomes an open directory and a last name. The decision
 * is made on the directory's own path, the call is made on its descriptor: no
 * path is walked twice. The kernel walks in one openat2 whatever has no link in
 * it; the rest is walked here, name by name: each link is judged by its own
 * name, "self" must be the caller and a magic link must be the caller's own.
 */
#ifndef SUPERVISE_LOCATE_H
#define SUPERVISE_LOCATE_H

#include "base/limits.h"
#include "supervise/caller.h"
#include "supervise/dirs.h"
#include "supervise/guard.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct locator {
    int root_fd; /* of the caller */
    int self_fd; /* /proc/self/fd of the supervisor: no path is walked to get there */
    int kept_fd; /* the home that is kept, or -EBADF */
    struct caller *caller;
    const struct guard *guard;
    struct dirs *dirs;
    bool refuses_magic; /* as RESOLVE_NO_MAGICLINKS */
    bool is_exact; /* paths are asked for each time, and links with hidden names not followed */
    char *hidden;  /* with it: the path of such a link, when one was met; of the call */
    /* Other than ACCESS_UNSET: a link was followed through which nothing may be written. */
    struct path_decision bar;
};

struct location {
    int dir;                 /* O_PATH, owned */
    bool is_anchored;        /* surely inside: reached from the root, or known to be there */
    bool is_known;           /* in a directory that was found before, which none of /proc is */
    bool has_slash;          /* the path ended in one */
    char name[NAME_MAX + 1]; /* "." where the path names the directory itself */
    char path[LIMIT_PATH_BYTES + NAME_MAX + 2]; /* of it all, inside */
};

#define LOCATION_NONE                                                                              \
    {                                                                                              \
        .dir = -EBADF                                                                              \
    }
#define autolocation __attribute__((cleanup(location_done)))
void location_done(struct location *location);

/* *start, where a relative path begins, is taken. */
int locate(struct locator *locator, int *start, const char *path, struct location *ret_location);

/* Judges the links on a path that the kernel is to walk, the last name among them. */
void locate_judge_links(struct locator *locator, int start, const char *path);

/*
 * Where the symbolic link at a location leads: a path, to be located from the
 * same directory, in text; or for a link of /proc to what the caller has
 * open, that thing as an O_PATH descriptor in *ret_object (else -EBADF).
 */
struct located_link {
    char text[LIMIT_PATH_BYTES];
    int object;
    bool is_read_open; /* how the caller has it open already */
    bool is_write_open;
};

/*
 * Follows the links that the last name of a path is, one after another: the
 * caller's path first, then what each link says. A slash behind the path is
 * behind what its links say, too.
 */
struct locate_steps {
    /* Locates a path; a relative one starts at at->dir, where the link is, which is taken. NULL: as
     * locate does. */
    int (*find)(void *context, const char *path, struct location *at);
    /* Looks at what is there, or does what is to be done with it. 1: it is a link to be followed;
     * else the result. */
    int (*visit)(void *context, const struct location *at);
    void *context;
};
/* Returns what visit returned. Or 1: the last link was one of /proc, and *ret_link has a descriptor
 * of its target, which the caller closes. */
int locate_follow(struct locator *locator, const struct locate_steps *steps, const char *path,
                  struct location *at, struct located_link *ret_link);

/* Path of an O_PATH descriptor, as its own mount namespace has it. */
int locate_path(const struct locator *locator, int fd, char path[static LIMIT_PATH_BYTES]);
/* Opens for good what an O_PATH descriptor holds: a descriptor, or a negative errno. */
int locate_open(const struct locator *locator, int fd, int flags, mode_t mode);

/* Whether there is something at a path inside; for what is told, not for what is decided. */
bool locate_is_there(const struct locator *locator, const char *path);

/* Whether the descriptor is what its path names in the caller's root, by the same mount. */
bool locate_is_inside(const struct locator *locator, int fd);
/* The path of a directory from which paths start, if it was inside by that path a moment ago; or
 * NULL. Borrowed, until the next call. */
const char *locate_start(const struct locator *locator, int start);
/* Whether it was once, and the path that it was opened by is gone: path is what locate_path says.
 */
bool locate_was_inside(const struct locator *locator, int fd, const char *path,
                       char ret_old[static LIMIT_PATH_BYTES]);

/* Whether the thing at the location, of this status, was put into a directory for all, such as
 * /tmp, by another user: neither by the caller nor by the directory's owner. */
bool locate_is_planted(const struct location *location, const struct stat *status);

/* 0, or a negative errno: why no name can be looked for where the location is. The kernel says so
 * before it looks at the name. */
int locate_search(const struct location *location);

/* Whether something is mounted at the location. */
bool locate_is_mount_point(const struct location *location);

/* Whether both are the same file by the same mount. */
bool locate_is_same(int a, int b);
/* Whether the two are surely on different mounts. */
bool locate_is_across(int a, int b);
/* Whether it is certainly on that mount. */
bool locate_is_on(int fd, int mount_fd);

/* Which process of the sandbox's /proc a path is about: its id, 0 none, -EACCES unknown. */
pid_t locate_proc_pid(const char *path);
bool locate_is_proc(int fd);

int locate_openat2(int dir, const char *path, uint64_t flags, uint64_t resolve);

#endif
