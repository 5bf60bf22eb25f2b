/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/programs.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "kernel/sys.h"
#include "policy/resolve.h"
#include "wire/rules.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* How far a chain of programs is followed up. */
enum { ANCESTORS = 64 };

void programs_init(struct programs *programs, const struct image *image, int root_fd, pid_t init)
{
    *programs = (struct programs){.image = image, .root_fd = root_fd, .init = init};
    programs->count = rules_programs(image, programs->paths);
}

static int open_inside(int root_fd, const char *path)
{
    return sys_openat2(root_fd, path, O_PATH | O_NOFOLLOW | O_CLOEXEC,
                       RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

/* SECURITY: a link that the command can change would make any program the named one. */
static enum look look_inside(void *context, const char *path, char *target, size_t target_size)
{
    const struct programs *programs = context;
    autoclose int fd = open_inside(programs->root_fd, path);
    struct statvfs mount;
    struct stat found;
    ssize_t length;

    if (fd < 0 || fstat(fd, &found) < 0)
        return LOOK_ABSENT;
    if (S_ISDIR(found.st_mode))
        return LOOK_DIRECTORY;
    if (!S_ISLNK(found.st_mode))
        return LOOK_OTHER;
    length = fstatvfs(fd, &mount) == 0 && (mount.f_flag & ST_RDONLY)
                 ? readlinkat(fd, "", target, target_size)
                 : -1;
    if (length < 0 || (size_t)length >= target_size)
        return LOOK_ABSENT;
    target[length] = '\0';
    return LOOK_LINK;
}

static void find(struct programs *programs, const char *path, struct who_program *ret_file)
{
    const struct image *image = programs->image;
    struct looker looker = {.look = look_inside, .context = programs};
    char moved[2 * LIMIT_PATH_BYTES], resolved[LIMIT_PATH_BYTES];
    autoclose int fd = -EBADF;

    /* Rules speak of the host. */
    path = path_moved(path, image_string(image, image->workspace),
                      image_string(image, image->workspace_at), moved, sizeof(moved));
    if (resolve_path(NULL, "/", path, &looker, resolved, NULL) == 0)
        fd = open_inside(programs->root_fd, resolved);
    if (fd < 0 || !who_file(fd, image->host_uid, ret_file) || !ret_file->is_held)
        *ret_file = (struct who_program){0};
}

void programs_find(struct programs *programs)
{
    for (unsigned i = 0; i < programs->count; i++)
        find(programs, programs->paths[i], &programs->files[i]);
}

static uint64_t match(const struct programs *programs, const struct who_program *program)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < programs->count; i++) {
        if (programs->files[i].inode != 0 && programs->files[i].inode == program->inode &&
            programs->files[i].device == program->device)
            bits |= UINT64_C(1) << i;
    }
    return bits;
}

uint64_t programs_of(const struct programs *programs, pid_t pid, int dir_fd)
{
    autoclose int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
    struct who_program program;
    uint64_t bits = 0;

    for (int i = 0; i < ANCESTORS && fd >= 0 && pid != programs->init; i++) {
        int parent;

        if (!who_program(fd, programs->image->host_uid, &program) || !program.is_held)
            break;
        bits |= match(programs, &program);
        parent = who_parent(fd, &pid);
        (void)close(fd);
        fd = parent;
    }
    return bits;
}
