/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of cgroup share: knobs, and the two versions. */
#ifndef KERNEL_CGROUP_PART_H
#define KERNEL_CGROUP_PART_H

#include "kernel/cgroup.h"
#include "kernel/cgroup_place.h"

enum { CGROUP_LEVELS = 12 }; /* how far up a place is looked for */

/* One file of a group. 0 or a negative errno. */
int cgroup_write(int dir_fd, const char *file, const char *value);
int cgroup_write_number(int dir_fd, const char *file, uint64_t value);
/* 0 when there is no such file, or no number in it ("max"). */
uint64_t cgroup_read_number(int dir_fd, const char *file);
/* The number behind "NAME " at the start of a line; 0 when there is none. */
uint64_t cgroup_field(const char *text, const char *name);

/* Makes the directory PARENT/NAME the group's at index. 0 or a negative errno. */
int cgroup_make(struct cgroup *group, size_t index, const char *parent, const char *name);
/* A limit that is asked for goes into a file; in force, it is noted in held. */
int cgroup_limit(struct cgroup *group, size_t index, enum cgroup_limit limit, const char *file,
                 uint64_t value);

/* Whether rates of a disk are asked for, and there is one. */
bool cgroup_has_rates(const struct cgroup_limits *limits);

/* cgroup_v2.c, cgroup_v1.c, cgroup_systemd.c */
int cgroup_v2_new(struct cgroup *group, const char *name, const struct cgroup_limits *limits,
                  struct bawn_error *err);
int cgroup_v2_new_in(struct cgroup *group, const char *parent, const char *name,
                     const struct cgroup_limits *limits);
void cgroup_v2_measure(const struct cgroup *group, struct cgroup_metrics *metrics);
int cgroup_v1_new(struct cgroup *group, const char *name, const struct cgroup_limits *limits,
                  struct bawn_error *err);
void cgroup_v1_measure(const struct cgroup *group, struct cgroup_metrics *metrics);
int cgroup_systemd_new(struct cgroup *group, const char *name, const struct cgroup_limits *limits,
                       struct bawn_error *err);

/* cgroup_remove.c: the whole tree below path, itself too; 0 when it is gone. fd may be -EBADF. */
int cgroup_remove_tree(const char *path, int fd, bool kills);

#endif
