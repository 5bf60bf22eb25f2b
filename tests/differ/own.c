/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has of its own, or shares with others: umask, directory, descriptors; and its
 * children. */
#include "differ/steps.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_BYTES = 256 * 1024, SIZE_MAX_BYTES = 100000 };

void step_umask(struct actor *actor)
{
    static const mode_t masks[] = {022, 022, 0, 077, 027, 0777, 0111, 0444};
    mode_t mask = PICK_OF(actor, masks);

    if (actor->shares)
        return;
    CALL(actor, umask(mask));
    tell(actor, "umask %o was %lo", mask, (unsigned long)actor->result);
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

void step_chdir(struct actor *actor)
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

void step_home(struct actor *actor)
{
    if (actor->shares)
        return;
    go_home(actor);
    (void)umask(022);
    tell(actor, "home");
    tell_end(actor);
}

/* A directory that is removed while it is open, or the current one. */
void step_gone(struct actor *actor)
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

void step_look(struct actor *actor)
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
void step_use(struct actor *actor)
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
void step_child(struct actor *actor)
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
