/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that make, move and remove names, and change what they stand for. */
#include "differ/steps.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

void step_mkdir(struct actor *actor)
{
    mode_t mode = choose_mode(actor) & 01777;
    bool is_at = actor_chance(actor, 50);
    struct argument path;
    unsigned may = 0;
    int dir = AT_FDCWD;

    /* Most can be used. */
    if (actor_chance(actor, 90))
        mode |= 0700;
    tell(actor, is_at ? "mkdirat" : "mkdir");
    if (is_at)
        dir = choose_dir(actor, &may);
    argument_choose(actor, &path, may | MAY_BE_ROOT | IS_NEW);
    tell_argument(actor, &path);
    tell(actor, " %o", mode);
    CALL(actor,
         is_at ? syscall(SYS_mkdirat, dir, path.path, mode) : syscall(SYS_mkdir, path.path, mode));
    tell_result(actor);
    tell_end(actor);
    argument_remember(actor, dir, &path);
}

void step_mknod(struct actor *actor)
{
    static const mode_t kinds[] = {S_IFIFO,  S_IFIFO,  S_IFIFO, S_IFREG, S_IFREG, 0,
                                   S_IFSOCK, S_IFSOCK, S_IFDIR, S_IFLNK, S_IFCHR};
    mode_t mode = PICK_OF(actor, kinds) | (choose_mode(actor) & 01777);
    dev_t device = S_ISCHR(mode) ? makedev(1, 3) : 0;
    bool is_at = actor_chance(actor, 50);
    struct argument path;
    unsigned may = 0;
    int dir = AT_FDCWD;

    tell(actor, is_at ? "mknodat" : "mknod");
    if (is_at)
        dir = choose_dir(actor, &may);
    argument_choose(actor, &path, may | IS_NEW);
    tell_argument(actor, &path);
    tell(actor, " %o", mode);
    CALL(actor, is_at ? syscall(SYS_mknodat, dir, path.path, mode, device)
                      : syscall(SYS_mknod, path.path, mode, device));
    tell_result(actor);
    tell_end(actor);
    argument_remember(actor, dir, &path);
}

void step_symlink(struct actor *actor)
{
    bool is_at = actor_chance(actor, 50);
    struct argument target;
    struct argument path;
    unsigned may = 0;
    int dir = AT_FDCWD;

    tell(actor, is_at ? "symlinkat" : "symlink");
    argument_target(actor, &target);
    tell_argument(actor, &target);
    if (is_at)
        dir = choose_dir(actor, &may);
    argument_choose(actor, &path, may | IS_NEW);
    tell_argument(actor, &path);
    CALL(actor, is_at ? syscall(SYS_symlinkat, target.path, dir, path.path)
                      : syscall(SYS_symlink, target.path, path.path));
    tell_result(actor);
    tell_end(actor);
    argument_remember(actor, dir, &path);
}

void step_link(struct actor *actor)
{
    static const int flags[] = {0,
                                0,
                                AT_SYMLINK_FOLLOW,
                                AT_SYMLINK_FOLLOW,
                                AT_EMPTY_PATH,
                                AT_SYMLINK_FOLLOW | AT_EMPTY_PATH,
                                1 << 20};
    bool is_at = actor_chance(actor, 60);
    int flag = PICK_OF(actor, flags);
    struct argument from;
    struct argument to;
    unsigned may = 0;
    int dir = AT_FDCWD;
    int to_dir = AT_FDCWD;
    bool is_empty;

    tell(actor, is_at ? "linkat" : "link");
    if (is_at)
        dir = choose_dir(actor, &may);
    argument_choose(actor, &from, may);
    if (is_at && (flag & AT_EMPTY_PATH) && actor_chance(actor, 80))
        from.text[0] = '\0';
    is_empty = is_at && (flag & AT_EMPTY_PATH);
    tell_argument(actor, &from);
    if (is_at)
        to_dir = choose_dir(actor, &may);
    argument_choose(actor, &to, may | IS_NEW);
    if (is_empty)
        (void)snprintf(to.text, sizeof(to.text), "%s/empty", actor->base);
    tell_argument(actor, &to);
    if (is_at)
        tell(actor, " %x", (unsigned)flag);
    CALL(actor, is_at ? syscall(SYS_linkat, dir, from.path, to_dir, to.path, flag)
                      : syscall(SYS_link, from.path, to.path));
    tell_result(actor);
    tell_end(actor);
    /* Whether the kernel lets it be depends on who opened the file: nothing may come of it. */
    if (is_empty)
        CALL(actor, syscall(SYS_unlink, to.text));
    else
        argument_remember(actor, to_dir, &to);
}

void step_rename(struct actor *actor)
{
    static const unsigned flags[] = {0,
                                     0,
                                     RENAME_NOREPLACE,
                                     RENAME_NOREPLACE,
                                     RENAME_EXCHANGE,
                                     RENAME_EXCHANGE,
                                     RENAME_NOREPLACE | RENAME_EXCHANGE,
                                     1 << 10};
    static const char *const names[] = {"rename", "renameat", "renameat2"};
    uint32_t form = actor_pick(actor, 3);
    unsigned flag = PICK_OF(actor, flags);
    struct argument from;
    struct argument to;
    unsigned may = 0;
    int dir = AT_FDCWD;
    int to_dir = AT_FDCWD;

    tell(actor, "%s", names[form]);
    if (form > 0)
        dir = choose_dir(actor, &may);
    argument_choose(actor, &from, may);
    tell_argument(actor, &from);
    if (form > 0)
        to_dir = choose_dir(actor, &may);
    argument_choose(actor, &to, may | IS_NEW);
    tell_argument(actor, &to);
    if (form == 2)
        tell(actor, " %x", flag);
    CALL(actor, form == 0   ? syscall(SYS_rename, from.path, to.path)
                : form == 1 ? syscall(SYS_renameat, dir, from.path, to_dir, to.path)
                            : syscall(SYS_renameat2, dir, from.path, to_dir, to.path, flag));
    tell_result(actor);
    tell_end(actor);
    argument_remember(actor, to_dir, &to);
}

void step_remove(struct actor *actor)
{
    static const int flags[] = {
        0, 0, 0, 0, AT_REMOVEDIR, AT_REMOVEDIR, AT_REMOVEDIR, AT_SYMLINK_NOFOLLOW};
    static const char *const names[] = {"unlink", "rmdir", "unlinkat", "unlinkat"};
    uint32_t form = actor_pick(actor, 4);
    int flag = PICK_OF(actor, flags);
    struct argument path;
    unsigned may = 0;
    int dir = AT_FDCWD;

    tell(actor, "%s", names[form]);
    if (form > 1)
        dir = choose_dir(actor, &may);
    argument_choose(actor, &path, may | MAY_BE_ROOT);
    tell_argument(actor, &path);
    if (form > 1)
        tell(actor, " %x", (unsigned)flag);
    CALL(actor, form == 0   ? syscall(SYS_unlink, path.path)
                : form == 1 ? syscall(SYS_rmdir, path.path)
                            : syscall(SYS_unlinkat, dir, path.path, flag));
    tell_result(actor);
    tell_end(actor);
}

void step_truncate(struct actor *actor)
{
    static const long sizes[] = {0, 1, 7, 100, 4096, 5000, 20000, -1};
    long size = PICK_OF(actor, sizes);
    bool is_open = actor_chance(actor, 30);
    struct argument path;
    unsigned slot;
    int fd = -1;

    tell(actor, is_open ? "ftruncate" : "truncate");
    if (is_open) {
        fd = choose_slot(actor, &slot);
    } else {
        argument_choose(actor, &path, 0);
        tell_argument(actor, &path);
    }
    tell(actor, " %ld", size);
    CALL(actor,
         is_open ? syscall(SYS_ftruncate, fd, size) : syscall(SYS_truncate, path.path, size));
    tell_result(actor);
    tell_end(actor);
}

void step_chmod(struct actor *actor)
{
    static const int flags[] = {
        0, 0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, 1};
    static const char *const names[] = {"chmod", "fchmod", "fchmodat", "fchmodat2"};
    uint32_t form = actor_pick(actor, 4);
    int flag = PICK_OF(actor, flags);
    mode_t mode = choose_mode(actor) & 01777;
    struct argument path;
    unsigned slot;
    unsigned may = 0;
    int dir = AT_FDCWD;

    if (actor_chance(actor, 85))
        mode |= 0700;
    tell(actor, "%s", names[form]);
    if (form == 1)
        dir = choose_slot(actor, &slot);
    if (form > 1)
        dir = choose_dir(actor, &may);
    argument_choose(actor, &path, may);
    if (form == 3 && (flag & AT_EMPTY_PATH) && actor_chance(actor, 70))
        path.text[0] = '\0';
    if (form != 1)
        tell_argument(actor, &path);
    tell(actor, " %o", mode);
    if (form == 3)
        tell(actor, " %x", (unsigned)flag);
    CALL(actor, form == 0   ? syscall(SYS_chmod, path.path, mode)
                : form == 1 ? syscall(SYS_fchmod, dir, mode)
                : form == 2 ? syscall(SYS_fchmodat, dir, path.path, mode)
                            : syscall(SYS_fchmodat2, dir, path.path, mode, flag));
    tell_result(actor);
    tell_end(actor);
}

void step_attribute(struct actor *actor)
{
    static const char *const keys[] = {"user.a", "user.a", "user.b", "user.b",    "user.c",
                                       "user.",  "bad",    "",       "trusted.a", "system.a"};
    static const char *const names[] = {"setxattr",    "lsetxattr",    "fsetxattr",
                                        "removexattr", "lremovexattr", "fremovexattr"};
    static const long numbers[] = {SYS_setxattr,    SYS_lsetxattr,    SYS_fsetxattr,
                                   SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr};
    static const int flags[] = {0, 0, 0, XATTR_CREATE, XATTR_REPLACE, 4};
    static const size_t sizes[] = {0, 1, 3, 10, 100, 70000};
    static const char value[100] = "value value value value value value value value value value";
    uint32_t form = actor_pick(actor, 6);
    const char *key = PICK_OF(actor, keys);
    int flag = PICK_OF(actor, flags);
    size_t size = PICK_OF(actor, sizes);
    const char *from = actor_chance(actor, 95) ? value : (const char *)8;
    struct argument path;
    unsigned slot;
    int fd = -1;

    tell(actor, "%s", names[form]);
    if (form % 3 == 2) {
        fd = choose_slot(actor, &slot);
    } else {
        argument_choose(actor, &path, 0);
        tell_argument(actor, &path);
    }
    tell(actor, " \"%s\"", key);
    if (form < 3)
        tell(actor, " %s %zu %d", from == value ? "value" : "bad", size, flag);
    if (form % 3 == 2)
        CALL(actor, syscall(numbers[form], fd, key, from, size, flag));
    else
        CALL(actor, syscall(numbers[form], path.path, key, from, size, flag));
    tell_result(actor);
    tell_end(actor);
}

void step_bind(struct actor *actor)
{
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct sockaddr_un name = {0};
    socklen_t length = sizeof(address);
    int fd = socket(AF_UNIX, PICK_OF(actor, types) | SOCK_CLOEXEC, 0);
    bool is_short = actor_chance(actor, 50);
    struct argument path;
    size_t size;

    /* KERNEL(6.9): before, nobody could take a descriptor from such a thread. */
    if (actor->is_apart) {
        close(fd);
        return;
    }
    argument_choose(actor, &path, IS_NEW);
    size = strlen(path.text);
    if (size > sizeof(address.sun_path))
        size = sizeof(address.sun_path);
    memcpy(address.sun_path, path.text, size);
    if (is_short)
        length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    tell(actor, "bind");
    tell_argument(actor, &path);
    tell(actor, " %u", actor->shares ? 0 : length);
    CALL(actor, syscall(SYS_bind, fd, &address, length));
    tell_result(actor);
    length = sizeof(name);
    /* Without a path it gets a name that nobody can know. */
    if (actor->error == 0 && !actor->shares && size > 0 &&
        getsockname(fd, (struct sockaddr *)&name, &length) == 0) {
        tell(actor, " %u ", length);
        tell_text(actor, name.sun_path, strnlen(name.sun_path, sizeof(name.sun_path)));
    }
    tell_end(actor);
    argument_remember(actor, AT_FDCWD, &path);
    close(fd);
}

/* bawn refuses set-id bits, as README and THREATS say: what comes of it is undone, so that both
 * sides go on alike. */
void step_set_id(struct actor *actor)
{
    static const mode_t modes[] = {04755, 02755, 06711};
    mode_t mode = PICK_OF(actor, modes);
    uint32_t form = actor_pick(actor, 4);
    char path[ARGUMENT_BYTES];

    (void)snprintf(path, sizeof(path), "%s/set-id", actor->base);
    tell(actor, "set-id %u %o", form, mode);
    if (form < 3)
        (void)close(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (form == 0)
        CALL(actor, syscall(SYS_chmod, path, mode));
    else if (form == 1)
        CALL(actor, syscall(SYS_fchmodat, AT_FDCWD, path, mode));
    else if (form == 2)
        CALL(actor, syscall(SYS_fchmodat2, AT_FDCWD, path, mode, 0));
    else
        CALL(actor, syscall(SYS_mknod, path, S_IFREG | mode, 0));
    tell_result(actor);
    CALL(actor, unlink(path));
    tell_end(actor);
}
