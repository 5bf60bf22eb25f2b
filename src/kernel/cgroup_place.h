/* SPDX-License-Identifier: Apache-2.0 */
/* Where our own control groups are in the filesystem. */
#ifndef KERNEL_CGROUP_PLACE_H
#define KERNEL_CGROUP_PLACE_H

#include "kernel/cgroup.h"

#include <stddef.h>

/* The hierarchies that hold limits: the one of v2, and those of four v1 controllers. */
enum cgroup_tree { TREE_V2, TREE_MEMORY, TREE_PIDS, TREE_CPU, TREE_BLKIO, TREE_COUNT };
enum { TREES_ALL = (1 << TREE_COUNT) - 1 };

struct cgroup_place {
    char path[CGROUP_PATH_BYTES]; /* our own group's directory; "": not where we can see it */
    size_t top;                   /* length of the part that is the mount point */
};

struct cgroup_places {
    struct cgroup_place trees[TREE_COUNT];
};

/* Finds those of the trees that are wanted: bit 1 << tree. What is not found is "". */
int cgroup_places_read(struct cgroup_places *ret_places, unsigned wanted, struct bawn_error *err);

/* The same from the texts of /proc/self/cgroup and /proc/self/mountinfo, which are cut up. */
void cgroup_places_parse(struct cgroup_places *ret_places, unsigned wanted, char *groups,
                         char *mounts);

/* One level up; false at the mount point. */
bool cgroup_place_up(struct cgroup_place *place);

/* A small file: at most size - 1 bytes of its text. 0 or a negative errno. */
int cgroup_read(int dir_fd, const char *file, char *text, size_t size);

/* Whether word is one of the items of a list. */
bool cgroup_list_has(const char *list, const char *separators, const char *word);

#endif
