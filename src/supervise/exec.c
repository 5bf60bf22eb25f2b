/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running what a rule asks about.
 *
 * How it works: nobody can run a program for somebody else. So the kernel decides, and not what was
 * read from the caller's memory: what a rule asks about lies on a mount that nothing can be run
 * from (plan/mounts.c). The call is held, and the question asked. After a yes exactly this file is
 * mounted over itself, by which it can be run, and the caller makes the call itself. Should its
 * path lead elsewhere by then, the mount there decides. That is why a yes holds while the session
 * lasts. What a script is run by is looked at in the same way, because the kernel opens that
 * itself.
 *
 * What got its name after the start has no such mount. It gets one when it is first asked about.
 */
#include "base/cleanup.h"
#include "base/mutant.h"
#include "kernel/process.h"
#include "kernel/sys.h"
#include "supervise/call.h"
#include "supervise/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* As the kernel has them. */
enum { SCRIPT_BYTES = 256, SCRIPTS_DEEP = 5, LOST = 255 };

static bool is_at(const struct call *call)
{
    return call->kind->number == SYS_execveat;
}

static int flags_of(const struct call *call)
{
    return is_at(call) ? call_int(call, 4) : 0;
}

/*
 * Whether pid 1 starts a command: our own program, with pid 1's memory, which only root can read.
 * Nobody is asked about that, and the mount refuses it. SECURITY: so it is to whoever runs a
 * program that the owner of the sandbox may not read.
 */
static bool is_first(const struct call *call)
{
    struct stat ours;
    struct stat its;

    if (fstatat(caller_proc(call->caller), "exe", &its, 0) < 0)
        return errno == EACCES;
    return stat("/proc/self/exe", &ours) == 0 && ours.st_dev == its.st_dev &&
           ours.st_ino == its.st_ino;
}

static int start_at(struct call *call, int fd)
{
    int start = caller_open_dir(call->caller, fd);

    if (start < 0)
        return start;
    call->starts[0] = start;
    return 0;
}

int exec_prepare(struct call *call)
{
    int at = is_at(call) ? 1 : 0;
    int r;

    if (is_first(call)) {
        call->is_continued = true;
        return 0;
    }
    r = caller_read_path(call->caller, call->notif->data.args[at], call->paths[0]);
    if (r < 0)
        return r;
    if (!call->paths[0][0] && !(flags_of(call) & AT_EMPTY_PATH))
        return -ENOENT;
    return call->paths[0][0] == '/' ? 0 : start_at(call, at ? call_int(call, 0) : AT_FDCWD);
}

static bool can_run_from(int object)
{
    struct statvfs fs;

    return fstatvfs(object, &fs) == 0 && !(fs.f_flag & ST_NOEXEC);
}

/*
 * Holds:    the call, and all that the supervisor has open.
 * Must:     mount this one file over itself in the sandbox, whatever has its name by now.
 * Mustn't:  run or read anything of the sandbox's, or walk a path there.
 */
static _Noreturn void mount_there(const struct call *call, int object, bool can_run)
{
    struct sys_mount_attr attr = {.attr_set = can_run ? 0 : SYS_MOUNT_NOEXEC,
                                  .attr_clr = can_run ? SYS_MOUNT_NOEXEC : 0};
    int users, mounts, tree;

    identity_leave(call->identity);
    users = caller_open_users(call->caller);
    mounts = caller_open_mounts(call->caller);
    if (users < 0 || mounts < 0 || setns(users, CLONE_NEWUSER) < 0 ||
        setns(mounts, CLONE_NEWNS) < 0)
        _exit(LOST);
    tree = sys_open_tree(object, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (tree < 0 || sys_mount_setattr(tree, "", AT_EMPTY_PATH, &attr) < 0 ||
        sys_move_mount(tree, "", object, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        _exit(LOST);
    _exit(0);
}

/* KERNEL: fails where the host's own mount lets nothing be run, and where the file lost its name.
 */
static bool mount_file(const struct call *call, int object, bool can_run)
{
    pid_t pid = process_split(-EBADF, NULL);
    int status = 0;

    if (pid == 0)
        mount_there(call, object, can_run);
    return pid > 0 && waitpid(pid, &status, __WALL) == pid && status == 0;
}

/* 0: it may be run, as far as it is for the rules; or a negative errno. */
static int judge(const struct call *call, const struct followed *found)
{
    const char *path = found->at.path;
    struct path_decision decision;

    /* What is no program the kernel refuses without a question. */
    if (!S_ISREG(found->st.st_mode) || !(found->st.st_mode & 0111) ||
        !guard_asks(call->guard, path, PATH_READ, &decision))
        return 0;
    /* KERNEL: what is open stays on the mount that it was opened by. */
    if (found->is_open && !can_run_from(found->object))
        return call_refuse(call, path, EACCES);
    if (!questions_put(call, path, QUESTION_EXEC, &decision)) {
        /* Where it cannot be barred the answer to this call is no all the same. */
        if (LAYER("mount") && can_run_from(found->object))
            (void)mount_file(call, found->object, false);
        return call_refuse(call, path, EACCES);
    }
    if (!can_run_from(found->object) && !mount_file(call, found->object, true))
        return call_refuse(call, path, EACCES);
    return 0;
}

/* Whether it is a script, and the path of what it is run by. */
static bool read_script(const struct call *call, int object, char path[static LIMIT_PATH_BYTES])
{
    autoclose int fd = locate_open(&call->locator, object, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    char line[SCRIPT_BYTES] = "";
    ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
    const char *name = line + 2 + strspn(line + 2, " \t");
    size_t length = strcspn(name, " \t\n");

    if (got < 3 || line[0] != '#' || line[1] != '!' || length == 0)
        return false;
    memcpy(path, name, length);
    path[length] = '\0';
    return true;
}

static int find(struct call *call, int flags, struct followed *found)
{
    return call->paths[0][0] ? call_follow(call, !(flags & AT_SYMLINK_NOFOLLOW), found)
                             : call_follow_fd(call, found);
}

/* One file: 1: it is a script, and the call's path what that is run by. */
static int judge_one(struct call *call, int flags)
{
    autofollowed struct followed found = FOLLOWED_NONE;
    int r = find(call, flags, &found);

    /* The kernel says why: no mount is decided by this. */
    if (r < 0)
        return 0;
    r = judge(call, &found);
    if (r < 0 || !S_ISREG(found.st.st_mode) || !read_script(call, found.object, call->paths[0]))
        return r;
    cleanup_close(&call->starts[0]);
    call->starts[0] = -EBADF;
    r = call->paths[0][0] == '/' ? 0 : start_at(call, AT_FDCWD);
    return r < 0 ? r : 1;
}

int exec_perform(struct call *call)
{
    int flags = flags_of(call);
    int r = 1;

    if (call->is_continued)
        return 0;
    if (call->options->image->flags & (IMAGE_EXPLAINS | IMAGE_OBSERVES)) {
        call->is_told = true;
        (void)explain_perform(call);
        call->is_told = false;
        r = identity_enter(call->identity) < 0 ? -EACCES : 1;
    }
    for (int depth = 0; r == 1 && depth < SCRIPTS_DEEP; depth++) {
        r = judge_one(call, flags);
        flags = 0;
    }
    call->is_continued = r >= 0;
    return r < 0 ? r : 0;
}
