/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a rule hides or protects by one of their names, and which have more. */
#ifndef API_HARDLINKS_H
#define API_HARDLINKS_H

#include "api/api.h"

#include <dirent.h>
#include <sys/stat.h>

struct held_file {
    dev_t dev;
    ino_t ino;
    nlink_t links;
    nlink_t met; /* names that rules hold already */
    const struct path_rule *rule;
    const char *path; /* the first of them */
};

struct hardlinks {
    VEC(struct held_file) files;
    VEC(char *) names; /* met so far, owned */
};

/* Finds them and says so. hardlinks_done also after a failure, which is -ENOMEM. */
int hardlinks_find(struct hardlinks *hardlinks, const struct policy *policy,
                   const struct view *view, struct bawn_report *report);
void hardlinks_done(struct hardlinks *hardlinks);

/* Adds a file that a rule is about, if it has more than one link. False: no memory. */
bool hardlinks_count(struct hardlinks *hardlinks, const struct path_rule *rule, const char *path,
                     const struct stat *st);

/* The same for the first files of a directory that a rule hides. */
bool hardlinks_count_dir(struct hardlinks *hardlinks, const struct path_rule *rule,
                         const char *dir_path, bool *ret_closed);

/* The file that a directory has under another name, or NULL. */
const struct held_file *hardlinks_match(const struct hardlinks *hardlinks, int dir_fd,
                                        const struct dirent *entry);

/* Of the rules about these files one that hides, if there is any; NULL: there are no files. */
const struct path_rule *hardlinks_strictest(const struct hardlinks *hardlinks);

#endif
