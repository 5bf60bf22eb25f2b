/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a rule hides or protects by one of their names, and which have more. */
#include "api/hardlinks.h"

#include "api/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * How it works: a rule is about a name, but a file can have several. So the
 * files that literal rules name, and those in directories that they hide, are
 * counted: one with more links than were met at such places has a name
 * elsewhere. It is told, and the walk of what is granted looks for it.
 */
enum { DIR_ENTRIES = 256 };

/* Whether a rule refuses, rather than being a grant that says less. */
static bool refuses(const struct path_rule *rule)
{
    return rule->read >= ACCESS_ASK || (rule->write >= ACCESS_ASK && !rule->read_only);
}

/* Each name counts once, however many rules are about it. */
static const char *take_name(struct hardlinks *hardlinks, const char *path, bool *ret_known)
{
    char *name;

    *ret_known = true;
    vec_each (&hardlinks->names, known) {
        if (strcmp(*known, path) == 0)
            return *known;
    }
    *ret_known = false;
    name = strdup(path);
    if (name && vec_push(&hardlinks->names, name))
        return name;
    free(name);
    return NULL;
}

bool hardlinks_count(struct hardlinks *hardlinks, const struct path_rule *rule, const char *path,
                     const struct stat *st)
{
    struct held_file file = {
        .dev = st->st_dev, .ino = st->st_ino, .links = st->st_nlink, .met = 1, .rule = rule};
    bool is_known;

    if (!S_ISREG(st->st_mode) || st->st_nlink < 2)
        return true;
    file.path = take_name(hardlinks, path, &is_known);
    if (!file.path)
        return false;
    vec_each (&hardlinks->files, known) {
        if (known->dev == st->st_dev && known->ino == st->st_ino) {
            known->met += !is_known;
            /* Of several rules the strictest. */
            if (rule->read > known->rule->read)
                known->rule = rule;
            return true;
        }
    }
    return vec_push(&hardlinks->files, file);
}

bool hardlinks_count_dir(struct hardlinks *hardlinks, const struct path_rule *rule,
                         const char *dir_path, bool *ret_closed)
{
    DIR *dir = view_glance_dir(AT_FDCWD, dir_path);
    const struct dirent *entry;
    char path[LIMIT_PATH_BYTES];
    bool is_good = true;
    struct stat st;

    *ret_closed = !dir && errno == EACCES;
    if (!dir)
        return true;
    for (int i = 0; is_good && i < DIR_ENTRIES && (entry = readdir(dir)); i++) {
        int length = snprintf(path, sizeof(path), "%s/%s", dir_path, entry->d_name);

        if ((entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN) && length > 0 &&
            (size_t)length < sizeof(path) && view_glance(dirfd(dir), entry->d_name, &st))
            is_good = hardlinks_count(hardlinks, rule, path, &st);
    }
    (void)closedir(dir);
    return is_good;
}

/* Those whose names were all met need no further look. */
static void drop_known(struct hardlinks *hardlinks)
{
    size_t kept = 0;

    vec_each (&hardlinks->files, file) {
        if (file->met < file->links)
            hardlinks->files.items[kept++] = *file;
    }
    hardlinks->files.count = kept;
}

/* What lies behind a door that is closed to us may have other names, which nobody knows then. An
 * earlier command may have closed it. */
static void warn_closed(const struct path_rule *rule, struct bawn_report *report)
{
    if (rule->layer->authority == AUTHORITY_BUILTIN)
        return;
    report_add(report, BAWN_WARNING, "policy.hard_link", rule->origin,
               "bawn cannot look at '%s': if it has further hard links, bawn does not hold them",
               rule->path);
    report_hint(report, "look at the modes of the directories on the way to it");
}

int hardlinks_find(struct hardlinks *hardlinks, const struct policy *policy,
                   const struct view *view, struct bawn_report *report)
{
    *hardlinks = (struct hardlinks){0};
    vec_each (&policy->rules, at) {
        const struct path_rule *rule = *at;
        bool is_good = true;
        bool is_closed = false;
        struct stat st;

        if (rule->wild || !refuses(rule) || view_knows_absent(view, rule->path))
            continue;
        if (!view_glance(AT_FDCWD, rule->path, &st))
            is_closed = errno == EACCES;
        else if (S_ISDIR(st.st_mode) && rule->read >= ACCESS_ASK)
            is_good = hardlinks_count_dir(hardlinks, rule, rule->path, &is_closed);
        else
            is_good = hardlinks_count(hardlinks, rule, rule->path, &st);
        if (is_closed)
            warn_closed(rule, report);
        if (!is_good)
            return -ENOMEM;
    }
    drop_known(hardlinks);
    vec_each (&hardlinks->files, file) {
        report_add(report, BAWN_WARNING, "policy.hard_link", file->rule->origin,
                   "'%s' is %s, but has %lu hard links: its other names may not be", file->path,
                   file->rule->read >= ACCESS_ASK ? "hidden" : "protected",
                   (unsigned long)file->links);
        report_hint(report,
                    "find them with 'find DIR -samefile %s'; bawn also holds those among the first "
                    "files of each granted tree",
                    file->path);
    }
    return 0;
}

void hardlinks_done(struct hardlinks *hardlinks)
{
    vec_each (&hardlinks->names, name)
        free(*name);
    vec_done(&hardlinks->names);
    vec_done(&hardlinks->files);
}

const struct held_file *hardlinks_match(const struct hardlinks *hardlinks, int dir_fd,
                                        const struct dirent *entry)
{
    struct stat st;

    vec_each (&hardlinks->files, file) {
        if (file->ino == entry->d_ino && view_glance(dir_fd, entry->d_name, &st) &&
            st.st_dev == file->dev && st.st_ino == file->ino)
            return file;
    }
    return NULL;
}

const struct path_rule *hardlinks_strictest(const struct hardlinks *hardlinks)
{
    const struct path_rule *strictest = NULL;

    vec_each (&hardlinks->files, file) {
        if (!strictest || file->rule->read > strictest->read)
            strictest = file->rule;
    }
    return strictest;
}
