/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/remount.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mounts.h"
#include "base/text.h"
#include "kernel/sys.h"
#include "launch/closed.h"
#include "launch/root.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

enum { STATX_WANTS_MOUNT = 0x1000, STATX_MOUNT_AT = 18 };

/* A line of mountinfo; the strings lie in the list. */
struct line {
    unsigned long id, parent;
    char *point;
    unsigned long flags;
    bool is_ours, was_ours;
};

struct list {
    char *text;
    struct line *lines;
    size_t count;
    int proc_fd;
    unsigned long flags; /* for each */
    struct closed *closed;
};

bool remount_is_needed(void)
{
    /* Too small a size is the first thing that the kernel refuses, before it looks at anything. */
    return syscall(SYS_mount_setattr, -1, "", 0, NULL, 0) == 0 || errno != EINVAL;
}

int remount_open_proc(struct bawn_error *err)
{
    int fd = openat(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? error_errno(err, errno, "open /proc") : fd;
}

/* KERNEL(5.8): stx_mnt_id; libc's struct may be older. */
int remount_mount_id(int fd, unsigned long *ret_id)
{
    uint64_t status[32] = {0};

    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_WANTS_MOUNT, status) < 0)
        return -errno;
    *ret_id = (unsigned long)status[STATX_MOUNT_AT];
    return 0;
}

/* KERNEL: what is locked must be set again; how times are kept stays as it is when nothing is
 * said about it. */
static unsigned long read_flags(char *words)
{
    static const struct {
        const char *word;
        unsigned long flag;
    } known[] = {
        {"ro", MS_RDONLY}, {"nosuid", MS_NOSUID}, {"nodev", MS_NODEV}, {"noexec", MS_NOEXEC}};
    unsigned long flags = 0;

    while (words) {
        char *word = strsep(&words, ",");

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            if (strcmp(word, known[i].word) == 0)
                flags |= known[i].flag;
    }
    return flags;
}

/* "ID PARENT MAJOR:MINOR ROOT POINT FLAGS ..." */
static bool read_line(char *text, struct line *line)
{
    char *fields[6] = {NULL};

    for (size_t i = 0; i < 6 && text; i++)
        fields[i] = strsep(&text, " ");
    if (!fields[4] || !fields[5])
        return false;
    line->id = strtoul(fields[0], NULL, 10);
    line->parent = strtoul(fields[1], NULL, 10);
    line->point = fields[4];
    text_unescape_octal(line->point);
    line->flags = read_flags(fields[5]);
    return true;
}

static int read_lines(int proc_fd, struct list *list, struct bawn_error *err)
{
    int result = mounts_read(proc_fd, "self/mountinfo", &list->text, err);
    size_t room = 0;
    char *rest = list->text;

    if (result < 0)
        return result;
    for (const char *at = list->text; at && *at; at++)
        room += *at == '\n';
    list->lines = calloc(room + 1, sizeof(*list->lines));
    if (!list->lines)
        return error_memory(err);
    while (rest && *rest && list->count < room) {
        if (!read_line(strsep(&rest, "\n"), &list->lines[list->count++]))
            return error_set(err, EBADMSG, "launch.mounts", "cannot read the list of mounts");
    }
    return 0;
}

/* Marks a mount and all that is mounted below it. */
static void choose(const struct list *list, unsigned long top)
{
    const struct line *end = list->lines + list->count;
    bool found = true;

    for (struct line *line = list->lines; line < end; line++)
        line->is_ours = line->id == top;
    while (found) {
        found = false;
        for (struct line *line = list->lines; line < end; line++) {
            for (const struct line *above = list->lines; !line->is_ours && above < end; above++)
                line->is_ours = above->is_ours && above->id == line->parent;
            found |= line->is_ours && !line->was_ours;
            line->was_ours = line->is_ours;
        }
    }
}

static bool is_below(const char *path, const char *dir)
{
    size_t length = strlen(dir);

    return strncmp(path, dir, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Whether a later mount lies over it: then nobody reaches it by any name. */
static bool is_covered(const struct list *list, const struct line *line)
{
    for (const struct line *other = line + 1; other < list->lines + list->count; other++)
        if (is_below(line->point, other->point))
            return true;
    return false;
}

static int set_flags(int proc_fd, int fd, unsigned long flags)
{
    char name[32];

    /* SECURITY: by descriptor: a name in a tree of the caller's may lead elsewhere by now. */
    (void)snprintf(name, sizeof(name), "self/fd/%d", fd);
    return fchdir(proc_fd) < 0 || mount(NULL, name, NULL, flags, NULL) < 0 ? -errno : 0;
}

/* Below the new root, as a target. */
static const char *target_of(const struct line *line)
{
    static const char root[] = ROOT_POINT "/";

    return line->point && strncmp(line->point, root, sizeof(root) - 1) == 0
               ? line->point + sizeof(root) - 1
               : NULL;
}

static int mask_closed(const struct list *list, const struct line *line, struct bawn_error *err)
{
    const char *target = target_of(line);

    if (!target)
        return error_errno(err, EACCES, "open %s", line->point);
    if (chdir(ROOT_POINT) < 0)
        return error_errno(err, errno, "enter the new root");
    return closed_mask(list->closed, target, err);
}

static int remount(const struct list *list, const struct line *line, struct bawn_error *err)
{
    const char *target = target_of(line);
    autoclose int fd = -EBADF;
    unsigned long id = 0;
    int result;

    if (target && closed_hides(list->closed, target))
        return 0;
    fd = sys_openat2(AT_FDCWD, line->point, O_PATH | O_CLOEXEC,
                     RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    if (fd < 0 && errno == EACCES)
        return mask_closed(list, line, err);
    if (fd < 0 || remount_mount_id(fd, &id) < 0 || id != line->id)
        return is_covered(list, line) ? 0
                                      : error_set(err, ESTALE, "launch.mounts",
                                                  "%s: the mount has moved", line->point);
    result = set_flags(list->proc_fd, fd, MS_REMOUNT | MS_BIND | line->flags | list->flags);
    return result < 0 ? error_errno(err, -result, "remount %s", line->point) : 0;
}

static int remount_lines(struct list *list, int fd, struct bawn_error *err)
{
    unsigned long top = 0;
    int result = remount_mount_id(fd, &top);

    if (result < 0)
        return error_errno(err, -result, "statx");
    result = read_lines(list->proc_fd, list, err);
    if (result < 0)
        return result;
    choose(list, top);
    for (size_t i = 0; i < list->count; i++) {
        if (result == 0 && list->lines[i].is_ours)
            result = remount(list, &list->lines[i], err);
    }
    return result;
}

int remount_tree(int proc_fd, int fd, uint64_t attributes, struct closed *closed,
                 struct bawn_error *err)
{
    struct list list = {.proc_fd = proc_fd,
                        .flags = (attributes & SYS_MOUNT_RDONLY ? MS_RDONLY : 0UL) |
                                 (attributes & SYS_MOUNT_NOSUID ? MS_NOSUID : 0UL) |
                                 (attributes & SYS_MOUNT_NODEV ? MS_NODEV : 0UL),
                        .closed = closed};
    /* First: what the host mounts below from now on does not come here any more. */
    int result = set_flags(proc_fd, fd, MS_REC | MS_PRIVATE);

    if (result < 0)
        return error_errno(err, -result, "make mounts private");
    result = remount_lines(&list, fd, err);
    free(list.text);
    free(list.lines);
    return result;
}
