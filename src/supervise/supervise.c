/* SPDX-License-Identifier: Apache-2.0 */
#include "supervise/supervise.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/scratch.h"
#include "kernel/sys.h"
#include "supervise/answer.h"
#include "supervise/call.h"
#include "supervise/core.h"
#include "supervise/dials.h"
#include "supervise/identity.h"
#include "supervise/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { OWN_ARCH = (int)AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { OWN_ARCH = (int)AUDIT_ARCH_AARCH64 };
#endif

struct supervisor {
    struct supervisor_options options;
    bool is_ready;  /* for calls */
    bool has_rules; /* in guard */
    struct guard guard;
    struct core core;
    struct callers callers;
    struct dirs dirs;
    int self_fd; /* /proc/self/fd */
    int kept_fd; /* the home that is kept, or -EBADF */
    struct identity identity;
    struct waiters waiters;
    struct dials dials;
    struct reports reports;
    struct questions questions;
    struct seccomp_notif *notif; /* as large as the kernel's */
    size_t notif_size;
};

int supervisor_new(const struct supervisor_options *options, struct supervisor **ret_supervisor,
                   struct bawn_error *err)
{
    struct supervisor *supervisor = calloc(1, sizeof(*supervisor));
    sigset_t all;

    if (!supervisor)
        return error_memory(err);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    supervisor->options = *options;
    supervisor->reports.report = options->report;
    supervisor->reports.context = options->context;
    dirs_init(&supervisor->dirs);
    supervisor->self_fd = supervisor->kept_fd = -EBADF;
    supervisor_listen(supervisor, options->notify_fd, options->root_fd);
    *ret_supervisor = supervisor;
    return 0;
}

void supervisor_listen(struct supervisor *supervisor, int notify_fd, int root_fd)
{
    supervisor->options.notify_fd = notify_fd;
    supervisor->options.root_fd = root_fd;
    callers_init(&supervisor->callers, notify_fd);
    dials_init(&supervisor->dials, &supervisor->options, &supervisor->callers);
    questions_init(&supervisor->questions, &supervisor->options);
}

int supervisor_read_rules(struct supervisor *supervisor, struct bawn_error *err)
{
    int r =
        supervisor->has_rules ? 0 : guard_init(&supervisor->guard, supervisor->options.image, err);

    if (r < 0)
        guard_done(&supervisor->guard);
    else
        supervisor->has_rules = true;
    return r;
}

void supervisor_free(struct supervisor *supervisor)
{
    if (!supervisor)
        return;
    waiters_done(&supervisor->waiters);
    dials_done(&supervisor->dials);
    questions_done(&supervisor->questions);
    reports_done(&supervisor->reports);
    callers_done(&supervisor->callers);
    dirs_done(&supervisor->dirs);
    cleanup_close(&supervisor->self_fd);
    cleanup_close(&supervisor->kept_fd);
    supervisor_rest(supervisor);
    if (supervisor->has_rules)
        guard_done(&supervisor->guard);
    identity_leave(&supervisor->identity);
    free(supervisor->notif);
    free(supervisor);
}

/* Room for a notification, as large as this kernel's are. */
static int make_room(struct supervisor *supervisor, struct bawn_error *err)
{
    struct seccomp_notif_sizes sizes;

    if (supervisor->notif)
        return 0;
    supervisor->notif_size = sizeof(*supervisor->notif);
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 &&
        sizes.seccomp_notif > supervisor->notif_size)
        supervisor->notif_size = sizes.seccomp_notif;
    supervisor->notif = calloc(1, supervisor->notif_size);
    return supervisor->notif ? 0 : error_memory(err);
}

/* Nobody inside can put something else at the place of a mount. */
static int open_kept(struct supervisor *supervisor, struct bawn_error *err)
{
    const struct image *image = supervisor->options.image;

    image_each (image, PART_MOUNTS, struct image_mount, step) {
        if (step->step == STEP_KEPT)
            supervisor->kept_fd =
                sys_openat2(supervisor->options.root_fd, image_string(image, step->target),
                            O_PATH | O_DIRECTORY | O_CLOEXEC,
                            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
        if (step->step == STEP_KEPT && supervisor->kept_fd < 0)
            return error_errno(err, errno, "open the kept home");
    }
    return 0;
}

static int get_ready(struct supervisor *supervisor, struct bawn_error *err)
{
    const struct image *image = supervisor->options.image;
    int r;

    if (supervisor->is_ready)
        return 0;
    r = make_room(supervisor, err);
    if (r < 0)
        return r;
    r = identity_init(&supervisor->identity, image->host_uid, image->host_gid, err);
    if (r < 0)
        return r;
    supervisor->self_fd = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (supervisor->self_fd < 0)
        return error_errno(err, errno, "open of /proc/self/fd");
    r = open_kept(supervisor, err);
    if (r < 0)
        return r;
    r = supervisor_read_rules(supervisor, err);
    if (r < 0)
        return r;
    core_init(&supervisor->core, supervisor->options.notify_fd);
    supervisor->is_ready = true;
    return 0;
}

static int open_start(struct call *call, int which, int fd)
{
    int start = caller_open_dir(call->caller, fd);

    if (start < 0)
        return start;
    call->starts[which] = start;
    return 0;
}

/* Whether the call takes an empty path for the descriptor beside it. */
static bool takes_empty(const struct call *call, int which)
{
    int number = call->kind->number;

    return which == 0 && ((number == SYS_linkat && (call_int(call, 4) & AT_EMPTY_PATH)) ||
                          (number == SYS_fchmodat2 && (call_int(call, 3) & AT_EMPTY_PATH)));
}

static int read_path(struct call *call, int which)
{
    signed char at = call->kind->paths[which];
    int r =
        at < 0 ? 0 : caller_read_path(call->caller, call->notif->data.args[at], call->paths[which]);

    if (r == 0 && at >= 0 && !call->paths[which][0] && !takes_empty(call, which))
        r = -ENOENT;
    return r;
}

static int find_start(struct call *call, int which)
{
    signed char dir = call->kind->dirs[which];
    int fd = dir < 0 ? AT_FDCWD : call_int(call, dir);

    if (call->kind->paths[which] < 0 && dir < 0)
        return 0;
    /* A call on a descriptor knows no current directory. */
    if (call->kind->paths[which] < 0)
        return fd < 0 ? -EBADF : open_start(call, which, fd);
    /* For one limit of openat2 the directory counts even where the path is absolute. */
    if (call->paths[which][0] == '/' && !(call->how.resolve & RESOLVE_IN_ROOT))
        return 0;
    return open_start(call, which, fd);
}

static int take_path(struct call *call, int which)
{
    int r = read_path(call, which);

    return r < 0 ? r : find_start(call, which);
}

static int read_text(struct call *call)
{
    int r;

    if (call->kind->text < 0)
        return 0;
    r = caller_read_path(call->caller, call->notif->data.args[call->kind->text], call->text);
    return r == -ENAMETOOLONG && call->kind->perform == change_attribute ? -ERANGE : r;
}

/* All that must be known of the caller; what is wrong with it is found in the kernel's order. */
static int gather(struct call *call)
{
    int r = 0;

    if (call->kind->prepare)
        r = call->kind->prepare(call);
    if (r == 0)
        r = read_text(call);
    if (r == 0)
        r = take_path(call, 0);
    if (r == 0)
        call->second = take_path(call, 1);
    return r;
}

static void call_drop(struct call *call)
{
    for (int i = 0; i < 2; i++) {
        cleanup_close(&call->starts[i]);
        call->starts[i] = -EBADF;
    }
    cleanup_close(&call->socket);
    free(call->value);
    call->value = NULL;
}

static int wait_elsewhere(struct supervisor *supervisor, const struct call *call)
{
    int r;
    bool connects = call->kind->perform == connect_perform;
    struct waiter waiter = {.id = call->notif->id,
                            .object = call->fd >= 0 ? call->fd : call->socket,
                            .status = caller_status(call->caller),
                            .flags = (int)call->how.flags,
                            .socket = connects ? call->socket : -EBADF,
                            .address = connects && call->fd < 0 ? call->value : NULL,
                            .address_bytes = (socklen_t)call->value_size};

    if (waiter.status < 0)
        return waiter.status;
    r = waiters_add(&supervisor->waiters, supervisor->options.notify_fd, &waiter);
    if (r < 0)
        report_limit(call, -r);
    return r;
}

/* Where it is told what is hidden by absence, that is found out afterwards: it is no refusal. */
static int perform_read(struct call *call)
{
    bool tells = call->options->image->flags & IMAGE_EXPLAINS;
    int start = tells ? fcntl(call->starts[0], F_DUPFD_CLOEXEC, 0) : -EBADF;
    int r = call->kind->perform(call);

    if (tells) {
        cleanup_close(&call->starts[0]);
        call->starts[0] = start;
    }
    if (tells && r == -ENOENT) {
        call->is_told = true;
        (void)explain_perform(call);
        call->is_told = false;
    }
    return r;
}

static int perform(struct supervisor *supervisor, struct call *call)
{
    int r;

    if (call->is_told)
        return explain_perform(call);
    if (call->is_ours) {
        identity_leave(&supervisor->identity);
        return call->kind->perform(call);
    }
    r = identity_enter(&supervisor->identity);
    if (r == 0)
        r = call->is_reading ? perform_read(call) : call->kind->perform(call);
    if (r == 0 && call->must_wait)
        r = wait_elsewhere(supervisor, call);
    if (call->has_umask)
        (void)umask(call->own_umask);
    return r;
}

static void handle(struct supervisor *supervisor, struct call *call)
{
    int notify_fd = supervisor->options.notify_fd;
    int r = gather(call);

    /* SECURITY: only now is it certain that all this was the caller's and not that of a later
     * thread with its id. */
    if (!answer_is_wanted(notify_fd, call->notif->id)) {
        questions_forget(&supervisor->questions, call->notif->id);
        return;
    }
    if (r == 0)
        r = perform(supervisor, call);
    /* It is made anew when the answer comes. */
    if (questions_holds(&supervisor->questions, call->notif->id))
        return;
    questions_forget(&supervisor->questions, call->notif->id);
    /* What is wrong with a call that is only looked at the kernel says. */
    if (call->is_told) {
        answer_continue(notify_fd, call->notif->id);
        return;
    }
    if (r == -EROFS)
        report_read_only(call);
    if (r == -EACCES && call->hidden[0])
        report_refusal(call, call->hidden, EACCES);
    if (r == 0 && (call->must_wait || call->is_kept))
        return;
    if (r == 0 && call->is_continued)
        answer_continue(notify_fd, call->notif->id);
    else if (r == 0 && call->fd >= 0)
        answer_fd(notify_fd, call->notif->id, &call->fd, call->how.flags & O_CLOEXEC,
                  &supervisor->core, call->caller->tid);
    else
        answer_value(notify_fd, call->notif->id, r);
}

/* Else it is one of those that are only looked at (sandbox.process.explain). */
static bool is_terminal_opened(const struct seccomp_notif *notif)
{
    const struct call_kind *kind = call_find(notif->data.nr);

    return !kind || (kind->perform != explain_perform &&
                     (kind->perform != open_perform ||
                      !explain_is_told((uint32_t)notif->data.args[kind->paths[0] + 1])));
}

/*
 * Pid 1 runs below the filter too, and nobody can read its memory. It is our
 * own program, and the one thing that it opens to write is a new terminal: that is what it
 * gets, whatever it names.
 */
static void open_terminal(struct supervisor *supervisor)
{
    const struct supervisor_options *options = &supervisor->options;
    autoclose int fd = -EBADF;
    int r = identity_enter(&supervisor->identity);

    if (r == 0)
        fd = openat(options->root_fd, "dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NOFOLLOW);
    if (r == 0 && fd < 0)
        r = -errno;
    if (r < 0)
        answer_value(options->notify_fd, supervisor->notif->id, r);
    else
        answer_fd(options->notify_fd, supervisor->notif->id, &fd, true, NULL, 0);
}

static void dispatch(struct supervisor *supervisor)
{
    const struct seccomp_notif *notif = supervisor->notif;
    scratch struct call call;

    if ((pid_t)notif->pid == supervisor->options.init_pid) {
        if (is_terminal_opened(notif))
            open_terminal(supervisor);
        else
            answer_continue(supervisor->options.notify_fd, notif->id);
        return;
    }

    core_note(&supervisor->core, (pid_t)notif->pid);
    /* Not zeroed whole: the paths are large, and each is filled before it is read. */
    call.options = &supervisor->options;
    call.guard = &supervisor->guard;
    call.reports = &supervisor->reports;
    call.questions = &supervisor->questions;
    call.identity = &supervisor->identity;
    call.caller = callers_find(&supervisor->callers, (pid_t)notif->pid, notif->id);
    call.notif = notif;
    call.kind = (int)notif->data.arch == OWN_ARCH ? call_find(notif->data.nr) : NULL;
    call.starts[0] = call.starts[1] = -EBADF;
    call.paths[0][0] = call.paths[1][0] = call.text[0] = '\0';
    call.how = (struct open_how){0};
    call.named = NULL;
    call.fd = -EBADF;
    call.value = NULL;
    call.socket = -EBADF;
    call.must_wait = call.is_ours = call.is_continued = call.is_kept = call.is_reading = false;
    call.hidden[0] = '\0';
    call.is_told = call.kind && call.kind->perform == explain_perform;
    call.dials = &supervisor->dials;
    call.own_umask = supervisor->identity.umask;
    call.has_umask = false;
    call.locator = (struct locator){.root_fd = supervisor->options.root_fd,
                                    .self_fd = supervisor->self_fd,
                                    .kept_fd = supervisor->kept_fd,
                                    .caller = call.caller,
                                    .guard = &supervisor->guard,
                                    .dirs = &supervisor->dirs,
                                    .is_exact = read_is_held(&call, 0),
                                    .hidden = call.hidden};
    if (!call.kind) {
        answer_value(supervisor->options.notify_fd, notif->id, -ENOSYS);
        return;
    }
    handle(supervisor, &call);
    call_drop(&call);
    cleanup_close(&call.fd);
}

int supervisor_serve(struct supervisor *supervisor, uint32_t events, struct bawn_error *err)
{
    int r;

    if (supervisor->waiters.count)
        waiters_reap(&supervisor->waiters);
    /* KERNEL: POLLERR means that a signal came while it was looked, and no more. */
    if (!(events & POLLIN))
        return events & POLLHUP ? -EPIPE : 0;
    r = get_ready(supervisor, err);
    if (r < 0)
        return r;
    memset(supervisor->notif, 0, supervisor->notif_size);
    /* KERNEL: does not block, though the caller may have died meanwhile: that it asked is counted
     * until it is read. */
    if (answer_request(supervisor->options.notify_fd, SECCOMP_IOCTL_NOTIF_RECV, supervisor->notif) <
        0) {
        /* ENOENT: killed before it could be read. */
        if (errno == EINTR || errno == ENOENT)
            return 0;
        return error_errno(err, errno, "reading a notification");
    }
    dispatch(supervisor);
    return 0;
}

_Static_assert(SUPERVISOR_POLLED == DIALS_MAX + 2, "one for each, for bawn-net, and for answers");

static int sooner_ms(int one_ms, int other_ms)
{
    return one_ms < 0 || (other_ms >= 0 && other_ms < one_ms) ? other_ms : one_ms;
}

size_t supervisor_await(const struct supervisor *supervisor, struct pollfd *ret_polled,
                        int *ret_timeout_ms)
{
    int patience_ms = core_patience_ms(&supervisor->core);
    int dial_ms, question_ms;
    size_t count = dials_await(&supervisor->dials, ret_polled, &dial_ms);

    count += questions_await(&supervisor->questions, ret_polled + count, &question_ms);
    *ret_timeout_ms = sooner_ms(patience_ms, sooner_ms(dial_ms, question_ms));
    return count;
}

void supervisor_rest(struct supervisor *supervisor)
{
    if (supervisor->core.bound)
        core_rest(&supervisor->core);
}

void supervisor_go_on(struct supervisor *supervisor, const struct pollfd *polled, size_t count)
{
    const struct seccomp_notif *answered;
    bool has_questions = supervisor->questions.count > 0;

    identity_leave(&supervisor->identity);
    dials_go_on(&supervisor->dials, polled, count - has_questions);
    if (!has_questions)
        return;
    questions_hear(&supervisor->questions);
    while ((answered = questions_next(&supervisor->questions))) {
        memset(supervisor->notif, 0, supervisor->notif_size);
        memcpy(supervisor->notif, answered, sizeof(*answered));
        dispatch(supervisor);
    }
}
