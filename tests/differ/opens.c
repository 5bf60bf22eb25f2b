/* SPDX-License-Identifier: Apache-2.0 */
/* Opens of all kinds. */
#include "differ/steps.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { BLOCKED_US = 60000 };

static bool is_fifo(int dir, const char *path, uint64_t flags)
{
    struct stat st;

    return fstatat(dir, path, &st, (flags & O_NOFOLLOW) ? AT_SYMLINK_NOFOLLOW : 0) == 0 &&
           S_ISFIFO(st.st_mode);
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

void step_open(struct actor *actor)
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

void step_openat2(struct actor *actor)
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
