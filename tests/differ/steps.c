/* SPDX-License-Identifier: Apache-2.0 */
/* The calls themselves, each with arguments that the seed chooses. */
#include "differ/actor.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

enum { STACK_BYTES = 256 * 1024, SIZE_MAX_BYTES = 100000, DEPTH_MAX = 3, BLOCKED_US = 60000 };

static mode_t choose_mode(struct actor *actor)
{
    static const mode_t modes[] = {0644, 0600, 0666, 0777, 0755, 0700, 0640, 01777,
                                   0444, 0400, 0200, 0,    0751, 0711, 0604, 0100644};

    return PICK_OF(actor, modes);
}

static void tell_slot(struct actor *actor, uint32_t slot)
{
    tell(actor, " s%u%s", slot, actor_is_lost(actor->fds[slot]) ? " lost" : "");
}

/* A directory to start at, told; *ret_may is what the path may be with it. */
static int choose_dir(struct actor *actor, unsigned *ret_may)
{
    uint32_t which = actor_pick(actor, 100);
    uint32_t slot = actor_pick(actor, SLOTS);

    *ret_may = MAY_BE_RELATIVE;
    if (which < 60) {
        tell(actor, " cwd");
        return actor->shares ? actor->base_fd : AT_FDCWD;
    }
    if (which >= 96) {
        tell(actor, " bad");
        return which < 98 ? NO_FD : -7;
    }
    tell_slot(actor, slot);
    return actor->fds[slot];
}

static int choose_slot(struct actor *actor, unsigned *ret_slot)
{
    *ret_slot = actor_pick(actor, SLOTS);
    tell_slot(actor, *ret_slot);
    return actor->fds[*ret_slot];
}

static bool is_fifo(int dir, const char *path, uint64_t flags)
{
    struct stat st;

    return fstatat(dir, path, &st, (flags & O_NOFOLLOW) ? AT_SYMLINK_NOFOLLOW : 0) == 0 &&
           S_ISFIFO(st.st_mode);
}

/* What lies outside of the base is no place to change anything. */
static bool is_outside(const struct actor *actor, const char *link)
{
    char place[ARGUMENT_BYTES];
    ssize_t length = readlink(link, place, sizeof(place) - 1);
    size_t base = strlen(actor->base);

    if (length < 0)
        return true;
    place[length] = '\0';
    return strncmp(place, actor->base, base) != 0 || (place[base] != '/' && place[base] != '\0');
}

/* Keeps what was opened in a slot, but for a directory that leads elsewhere. */
static void keep(struct actor *actor, uint32_t slot)
{
    char link[64];
    struct stat st;

    if (actor->result < 0)
        return;
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%ld", actor->result);
    if (fstat((int)actor->result, &st) == 0 && !S_ISREG(st.st_mode) && is_outside(actor, link)) {
        close((int)actor->result);
        return;
    }
    if (actor->fds[slot] >= 0)
        close(actor->fds[slot]);
    actor->fds[slot] = (int)actor->result;
}

static void tell_opened(struct actor *actor)
{
    if (actor->shares && actor->error == 0)
        tell(actor, " = open");
    else
        tell_result(actor);
    if (actor->error == 0)
        tell_fd(actor, (int)actor->result);
    tell_end(actor);
}

static uint64_t choose_flags(struct actor *actor)
{
    static const struct {
        uint64_t flag;
        uint32_t percent;
    } all[] = {{O_CREAT, 45},    {O_EXCL, 12},   {O_TRUNC, 15},  {O_APPEND, 12},   {O_NOFOLLOW, 12},
               {O_DIRECTORY, 7}, {O_PATH, 6},    {O_TMPFILE, 4}, {O_NONBLOCK, 15}, {O_CLOEXEC, 40},
               {O_SYNC, 2},      {O_NOATIME, 3}, {O_NOCTTY, 5},  {O_ASYNC, 1},     {O_DIRECT, 1},
               {O_LARGEFILE, 5}, {1U << 29, 1},  {O_DSYNC, 1}};
    uint64_t flags = actor_chance(actor, 2) ? O_ACCMODE : actor_pick(actor, 3);

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (actor_chance(actor, all[i].percent))
            flags |= all[i].flag;
    return flags;
}

static void no_signal(int number)
{
    (void)number;
}

/* A pipe that nobody has at the other end is waited for, until a signal comes. */
static void set_alarm(bool is_on)
{
    struct itimerval timer = {.it_value.tv_usec = is_on ? BLOCKED_US : 0,
                              .it_interval.tv_usec = is_on ? BLOCKED_US : 0};
    struct sigaction action = {.sa_handler = no_signal};

    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

static void step_open(struct actor *actor)
{
    uint32_t form = actor_pick(actor, 10);
    uint64_t flags = choose_flags(actor);
    mode_t mode = choose_mode(actor);
    uint32_t slot = actor_pick(actor, SLOTS);
    bool may_wait = actor_chance(actor, 6);
    struct argument path;
    unsigned may = 0;
    int dir = AT_FDCWD;
    bool waits;

    tell(actor, form < 2 ? "creat" : form < 4 ? "open" : "openat");
    if (form < 2)
        flags = O_CREAT | O_WRONLY | O_TRUNC;
    if (form >= 4)
        dir = choose_dir(actor, &may);
    argument_choose(actor, &path, may | MAY_BE_DEVICE | (flags & O_CREAT ? IS_NEW : 0));
    /* Inside, devices are nobody's. */
    if (strcmp(path.text, "/dev/null") == 0 || strcmp(path.text, "/dev/tty") == 0)
        flags &= ~(uint64_t)O_NOATIME;
    waits = !(flags & (O_NONBLOCK | O_PATH)) && (flags & O_ACCMODE) != O_RDWR &&
            is_fifo(dir, path.path, flags);
    /* Where others make pipes too, no look says what will be there. */
    if (form < 2 && (waits || actor->is_racing))
        form = 2;
    if (actor->is_racing || (waits && (!may_wait || actor->shares || actor->between_us > 0)))
        flags |= O_NONBLOCK;
    tell_argument(actor, &path);
    tell(actor, " %lo %o", (unsigned long)flags, mode);
    if (waits && !(flags & O_NONBLOCK))
        set_alarm(true);
    if (form < 2)
        CALL(actor, syscall(SYS_creat, path.path, mode));
    else if (form < 4)
        CALL(actor, syscall(SYS_open, path.path, flags, mode));
    else
        CALL(actor, syscall(SYS_openat, dir, path.path, flags, mode));
    if (waits && !(flags & O_NONBLOCK))
        set_alarm(false);
    tell_opened(actor);
    if (flags & O_CREAT)
        argument_remember(actor, dir, &path);
    keep(actor, slot);
}

static void step_openat2(struct actor *actor)
{
    static const uint64_t limits[] = {0,
                                      RESOLVE_BENEATH,
                                      RESOLVE_IN_ROOT,
                                      RESOLVE_NO_SYMLINKS,
                                      RESOLVE_NO_MAGICLINKS,
                                      RESOLVE_NO_XDEV,
                                      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
                                      RESOLVE_IN_ROOT | RESOLVE_NO_XDEV,
                                      RESOLVE_BENEATH | RESOLVE_IN_ROOT,
                                      RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    static const size_t sizes[] = {sizeof(struct open_how), sizeof(struct open_how), 8, 32, 5000};
    uint32_t slot = actor_pick(actor, SLOTS);
    union {
        struct open_how how;
        unsigned char bytes[8192];
    } how = {.how.flags = choose_flags(actor), .how.resolve = PICK_OF(actor, limits)};
    size_t size = actor_chance(actor, 95) ? sizeof(how.how) : PICK_OF(actor, sizes);
    mode_t mode = choose_mode(actor);
    struct argument path;
    unsigned may;
    int dir;

    if ((how.how.flags & (O_CREAT | __O_TMPFILE)) || actor_chance(actor, 5))
        how.how.mode = mode & 07777;
    /* Inside there are more mounts: nothing may come of it. */
    if (how.how.resolve & RESOLVE_NO_XDEV)
        how.how.flags &= ~(uint64_t)(O_CREAT | O_TRUNC | __O_TMPFILE);
    if (how.how.flags & O_PATH)
        how.how.flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if (actor_chance(actor, 95))
        how.how.flags &= ~(1U << 29);
    if (actor_chance(actor, 3) && size == 32)
        how.bytes[28] = 1;
    tell(actor, "openat2");
    dir = choose_dir(actor, &may);
    argument_choose(actor, &path, may);
    if (actor->is_racing || is_fifo(dir, path.path, how.how.flags))
        how.how.flags |= how.how.flags & O_PATH ? 0 : O_NONBLOCK;
    /* Its name may be another one under such limits: it must not wait for anybody. */
    if (how.how.resolve && !(how.how.flags & O_PATH))
        how.how.flags |= O_NONBLOCK;
    tell_argument(actor, &path);
    tell(actor, " %lo %lo %lx %zu", (unsigned long)how.how.flags, (unsigned long)how.how.mode,
         (unsigned long)how.how.resolve, size);
    /* Somebody renamed something, anywhere, while ".." was walked. */
    do {
        CALL(actor, syscall(SYS_openat2, dir, path.path, &how, size));
    } while (actor->error == EAGAIN);
    tell_opened(actor);
    if (actor->result >= 0 && ((how.how.flags & O_PATH) || (how.how.resolve & RESOLVE_NO_XDEV) ||
                               (how.how.flags & O_NOFOLLOW)))
        close((int)actor->result);
    else
        keep(actor, slot);
}

static void step_mkdir(struct actor *actor)
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

static void step_mknod(struct actor *actor)
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

static void step_symlink(struct actor *actor)
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

static void step_link(struct actor *actor)
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

static void step_rename(struct actor *actor)
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

static void step_remove(struct actor *actor)
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

static void step_truncate(struct actor *actor)
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

static void step_chmod(struct actor *actor)
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

static void step_attribute(struct actor *actor)
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

static void step_bind(struct actor *actor)
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

static void step_umask(struct actor *actor)
{
    static const mode_t masks[] = {022, 022, 0, 077, 027, 0777, 0111, 0444};
    mode_t mask = PICK_OF(actor, masks);

    if (actor->shares)
        return;
    CALL(actor, umask(mask));
    tell(actor, "umask %o was %lo", mask, (unsigned long)actor->result);
    tell_end(actor);
}

static void tell_cwd(struct actor *actor)
{
    char path[ARGUMENT_BYTES];

    if (getcwd(path, sizeof(path))) {
        tell(actor, " ");
        tell_text(actor, path, strlen(path));
    } else {
        tell(actor, " %s", strerrorname_np(errno));
    }
    tell_end(actor);
}

/* Back to where all began, and that can be used. */
static void go_home(struct actor *actor)
{
    char link[64];

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", actor->base_fd);
    CALL(actor, syscall(SYS_chmod, link, 0755));
    if (actor->error == 0)
        CALL(actor, fchdir(actor->base_fd));
    if (actor->error == 0)
        return;
    /* There is no place to go on at. */
    actor->used = 0;
    tell(actor, "lost home");
    tell_result(actor);
    tell_end(actor);
    _exit(0);
}

static void step_chdir(struct actor *actor)
{
    bool is_open = actor_chance(actor, 30);
    struct argument path;
    unsigned slot;

    if (actor->shares)
        return;
    tell(actor, is_open ? "fchdir" : "chdir");
    if (is_open) {
        CALL(actor, fchdir(choose_slot(actor, &slot)));
    } else {
        argument_choose(actor, &path, 0);
        tell_argument(actor, &path);
        CALL(actor, chdir(path.path));
    }
    tell_result(actor);
    tell_cwd(actor);
    if (actor->error == 0 && is_outside(actor, "/proc/self/cwd"))
        go_home(actor);
}

static void step_home(struct actor *actor)
{
    if (actor->shares)
        return;
    go_home(actor);
    (void)umask(022);
    tell(actor, "home");
    tell_end(actor);
}

/* A directory that is removed while it is open, or the current one. */
static void step_gone(struct actor *actor)
{
    bool is_current = actor_chance(actor, 50) && !actor->shares && actor->depth < DEPTH_MAX;
    uint32_t slot = actor_pick(actor, SLOTS);
    char path[ARGUMENT_BYTES];

    (void)snprintf(path, sizeof(path), "%s/gone", actor->base);
    CALL(actor, syscall(SYS_mkdir, path, 0755));
    tell(actor, "gone");
    tell_result(actor);
    CALL(actor, open(path, (slot % 2 ? O_PATH : O_RDONLY) | O_DIRECTORY | O_CLOEXEC));
    tell_opened(actor);
    keep(actor, slot);
    if (is_current && chdir(path) < 0)
        is_current = false;
    CALL(actor, syscall(SYS_rmdir, path));
    tell(actor, "gone rmdir");
    tell_result(actor);
    tell_end(actor);
    if (!is_current)
        return;
    actor->depth++;
    steps_make(actor, 4);
    actor->depth--;
    step_home(actor);
}

static void step_look(struct actor *actor)
{
    char target[ARGUMENT_BYTES];
    struct argument path;
    struct stat st;
    ssize_t length;

    argument_choose(actor, &path, 0);
    tell(actor, "lstat");
    tell_argument(actor, &path);
    CALL(actor, lstat(path.path, &st));
    tell_result(actor);
    if (actor->error == 0)
        tell(actor, " mode=%o size=%ld nlink=%lu", st.st_mode,
             S_ISDIR(st.st_mode) ? 0L : (long)st.st_size, (unsigned long)st.st_nlink);
    length =
        actor->error == 0 && S_ISLNK(st.st_mode) ? readlink(path.path, target, sizeof(target)) : -1;
    if (length >= 0 && strncmp(path.text, "/proc/", 6) != 0 &&
        strncmp(path.text, "/dev/fd", 7) != 0) {
        tell(actor, " -> ");
        tell_text(actor, target, (size_t)length);
    }
    tell_end(actor);
}

/* Others say how the file lies on the disk. */
static int set_flags(int fd, int flags)
{
    int old = 0;

    (void)ioctl(fd, FS_IOC_GETFLAGS, &old);
    flags |= old & ~(FS_NODUMP_FL | FS_NOATIME_FL);
    return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

/* What the descriptors are good for. */
static void step_use(struct actor *actor)
{
    static const char *const names[] = {"read", "write", "lseek", "setfl", "dup", "close", "flags"};
    static const int masks[] = {0, O_APPEND, O_NONBLOCK, O_APPEND | O_NONBLOCK};
    static const int inode_flags[] = {0, FS_NODUMP_FL, FS_NOATIME_FL};
    uint32_t form = actor_pick(actor, sizeof(names) / sizeof(names[0]));
    uint32_t number = actor_pick(actor, 3000);
    int flags = form == 6 ? PICK_OF(actor, inode_flags) : PICK_OF(actor, masks);
    char bytes[3000];
    unsigned slot;
    struct stat st = {0};
    int fd;

    tell(actor, "%s", names[form]);
    fd = choose_slot(actor, &slot);
    tell(actor, " %u", number);
    (void)fstat(fd, &st);
    memset(bytes, 'a' + (int)(number % 26), sizeof(bytes));
    /* Of a pipe or a terminal nobody is at the other end. */
    if (form < 2 && fd >= 0 && (!S_ISREG(st.st_mode) || st.st_size > SIZE_MAX_BYTES)) {
        tell_end(actor);
        return;
    }
    if (form == 0)
        CALL(actor, read(fd, bytes, number));
    else if (form == 1)
        CALL(actor, write(fd, bytes, number));
    else if (form == 2)
        CALL(actor, lseek(fd, number, SEEK_SET));
    else if (form == 3)
        CALL(actor, fcntl(fd, F_SETFL, flags));
    else if (form == 4)
        CALL(actor, dup(fd));
    else if (form == 5)
        CALL(actor, fd < 0 ? -1 : close(fd));
    else
        CALL(actor, set_flags(fd, flags));
    if (form == 4) {
        tell_opened(actor);
        keep(actor, number % SLOTS);
        return;
    }
    tell_result(actor);
    if (form == 5)
        actor->fds[slot] = -1;
    else if (fd >= 0)
        tell_fd(actor, fd);
    tell_end(actor);
}

/* bawn refuses set-id bits, as README and THREATS say: what comes of it is undone, so that both
 * sides go on alike. */
static void step_set_id(struct actor *actor)
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

struct child {
    struct actor *actor;
    unsigned steps;
    uint32_t random;
    int flags;
    int running; /* the kernel clears it */
    sigset_t mask;
};

static int child_run(void *argument)
{
    struct child *child = argument;
    struct actor copy;
    bool was_retrying = child->actor->is_retrying;

    (void)sigprocmask(SIG_SETMASK, &child->mask, NULL);
    if (!(child->flags & CLONE_THREAD))
        actor_set_signals(child->actor);
    else
        child->actor->is_retrying |= child->actor->between_us > 0;

    /* Descriptors of its own. */
    if (!(child->flags & CLONE_FILES)) {
        copy = *child->actor;
        child->actor->is_retrying = was_retrying;
        copy.depth++;
        copy.random = child->random;
        copy.is_apart = child->flags & CLONE_THREAD;
        steps_make(&copy, child->steps);
        child->actor->interrupted = copy.interrupted;
    } else {
        child->actor->depth++;
        steps_make(child->actor, child->steps);
        child->actor->depth--;
        child->actor->is_retrying = was_retrying;
    }
    (void)syscall(child->flags & CLONE_THREAD ? SYS_exit : SYS_exit_group, 0);
    return 0;
}

static void await(const struct child *child, pid_t pid)
{
    int status = 0;

    if (child->flags & CLONE_THREAD) {
        while (__atomic_load_n(&child->running, __ATOMIC_ACQUIRE))
            (void)syscall(SYS_futex, &child->running, FUTEX_WAIT, 1, NULL, NULL, 0);
        return;
    }
    while (waitpid(pid, &status, 0) != pid)
        ;
    if (status != 0) {
        (void)fprintf(stderr, "a process ended with %x\n", (unsigned)status);
        _exit(98);
    }
}

/* Processes and threads that share what a call depends on, or have it alone. */
static void step_child(struct actor *actor)
{
    static const struct {
        const char *name;
        int flags;
    } kinds[] = {
        {"fork", SIGCHLD},
        {"fork with fs", CLONE_FS | SIGCHLD},
        {"fork with files", CLONE_FILES | SIGCHLD},
        {"fork with fs, files", CLONE_FS | CLONE_FILES | SIGCHLD},
        {"vfork", CLONE_VM | CLONE_VFORK | SIGCHLD},
        {"vfork with fs", CLONE_VM | CLONE_VFORK | CLONE_FS | SIGCHLD},
        {"process with memory, files", CLONE_VM | CLONE_FILES | SIGCHLD},
        {"thread",
         CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_CHILD_CLEARTID},
        {"thread without fs",
         CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_CHILD_CLEARTID},
        {"thread without files",
         CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_CHILD_CLEARTID},
        {"thread without both", CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_CHILD_CLEARTID},
    };
    uint32_t kind = actor_pick(actor, sizeof(kinds) / sizeof(kinds[0]));
    struct child child = {.actor = actor,
                          .steps = 1 + actor_pick(actor, 8),
                          .flags = kinds[kind].flags,
                          .running = 1};
    char *stack;
    sigset_t all;
    pid_t pid;

    child.random = actor_pick(actor, UINT32_MAX);
    if (actor->shares || actor->depth >= DEPTH_MAX)
        return;
    tell(actor, "begin %s", kinds[kind].name);
    tell_end(actor);
    stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
                 -1, 0);
    if (stack == MAP_FAILED)
        _exit(97);
    /* It has the thread's own variables, errno among them: nothing is done until it has ended, and
     * no signal comes. */
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &child.mask);
    pid = clone(child_run, stack + STACK_BYTES, child.flags, &child, NULL, NULL, &child.running);
    if (pid < 0)
        _exit(96);
    await(&child, pid);
    (void)sigprocmask(SIG_SETMASK, &child.mask, NULL);
    (void)munmap(stack, STACK_BYTES);
    tell(actor, "end");
    tell_cwd(actor);
}

static const struct {
    void (*make)(struct actor *actor);
    uint32_t weight;
} kinds[] = {
    {step_open, 26},    {step_openat2, 8}, {step_mkdir, 10},    {step_mknod, 5},
    {step_symlink, 8},  {step_link, 7},    {step_rename, 12},   {step_remove, 14},
    {step_truncate, 4}, {step_chmod, 7},   {step_attribute, 6}, {step_bind, 4},
    {step_umask, 3},    {step_chdir, 5},   {step_home, 4},      {step_gone, 1},
    {step_look, 6},     {step_use, 14},    {step_set_id, 1},    {step_child, 3},
};

void steps_make(struct actor *actor, unsigned count)
{
    uint32_t all = 0;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        all += kinds[i].weight;
    for (unsigned step = 0; step < count; step++) {
        uint32_t chosen = actor_pick(actor, all);
        size_t kind = 0;

        while (chosen >= kinds[kind].weight)
            chosen -= kinds[kind++].weight;
        tell(actor, "%*s%s", (int)actor->depth * 2, "",
             actor_is_lost(actor->shares ? actor->base_fd : AT_FDCWD) ? "lost " : "");
        kinds[kind].make(actor);
        actor->used = 0;
    }
}

void steps_begin(struct actor *actor)
{
    static const char *const dirs[] = {"a", "a/b", "a/b/c", "b", "b/a", "c"};

    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        CALL(actor, mkdirat(actor->base_fd, dirs[i], 0755));
        tell(actor, "begin %s", dirs[i]);
        tell_result(actor);
        tell_end(actor);
    }
}
