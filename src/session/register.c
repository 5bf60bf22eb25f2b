/* SPDX-License-Identifier: Apache-2.0 */
/* The session's entry in the registry. */
#include "base/cleanup.h"
#include "base/environ.h"
#include "base/error.h"
#include "base/path.h"
#include "kernel/process.h"
#include "session/control.h"
#include "session/layers.h"
#include "session/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum {
    TRIES = 16,
    BACKLOG = 16,
    REGISTER_AFTER_MS = 25, /* most commands have ended by then, and nobody has missed the entry */
};

/* No vowels and nothing that looks like another: easy to type, and never a word. */
static int make_sid(char sid[SID_BYTES], struct bawn_error *err)
{
    static const char letters[] = "bcdfghjkmnpqrstvwxz23456789";
    unsigned char bytes[SID_LENGTH];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return error_errno(err, errno, "getrandom");
    for (size_t i = 0; i < SID_LENGTH; i++)
        sid[i] = letters[bytes[i] % (sizeof(letters) - 1)];
    sid[SID_LENGTH] = '\0';
    return 0;
}

int session_name(struct session *session, bool anew, struct bawn_error *err)
{
    return *session->sid && !anew ? 0 : make_sid(session->sid, err);
}

static int make_socket(struct control *control, int dir_fd, struct bawn_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int result = -1;

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" REGISTRY_CONTROL,
                   dir_fd);
    if (fd >= 0) {
        /* SECURITY: 0600 from its birth on. */
        mode_t mask = umask(0177);

        result = bind(fd, (struct sockaddr *)&address, sizeof(address));
        (void)umask(mask);
    }
    if (result < 0 || listen(fd, BACKLOG) < 0)
        return error_errno(err, errno, "make the control socket");
    return control_listen(control, take_fd(&fd), err);
}

/* -EEXIST without a message: the name is taken. */
static int make_record(const struct control *control, int dir_fd, const char *sid,
                       struct bawn_error *err)
{
    struct session *session = control->session;
    struct record_facts facts = {.sid = sid,
                                 .image = session->request->image,
                                 .argv = session->request->argv,
                                 .changes = session->layers ? session->layers->name : NULL,
                                 .group = session->group,
                                 .is_detached = session->request->is_detached,
                                 .has_terminal = session->has_terminal};
    autostrbuf struct strbuf text = {0};
    autoclose int fd = -EBADF;

    record_write(&text, &facts);
    strbuf_add(&text, "\n");
    if (text.failed)
        return error_memory(err);
    if (facts.is_detached && recorder_reserve(session, sid, text.text, text.length) == -EEXIST)
        return -EEXIST;
    (void)unlinkat(dir_fd, REGISTRY_RECORD, 0);
    fd = openat(dir_fd, REGISTRY_RECORD, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text.text, text.length) != (ssize_t)text.length)
        return error_errno(err, errno ? errno : EIO, "write the session's record");
    return 0;
}

/* The directory under the name it is made under. The last session may just have taken the
 * registry away. */
static int make_directory(struct control *control, const char *name, struct bawn_error *err)
{
    struct registry *registry = &control->registry;
    int fd;

    for (int i = 0; i < TRIES; i++) {
        int result = registry_open(registry, control->session->request->environ, true, err);

        if (result < 0)
            return result;
        if (mkdirat(registry->fd, name, 0700) == 0) {
            fd = openat(registry->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            return fd < 0 ? error_errno(err, errno, "open the session's directory") : fd;
        }
        if (errno != ENOENT)
            break;
        registry_close(registry);
    }
    return error_errno(err, errno, "make the session's directory in %s", registry->path);
}

static int publish(struct control *control, int dir_fd, const char *name, struct bawn_error *err)
{
    struct session *session = control->session;
    struct keeper_page *page = session->keeper.page;

    for (int i = 0; i < TRIES; i++) {
        const char *sid = session->sid;
        int result = session_name(session, i > 0, err);

        if (result == 0)
            result = make_record(control, dir_fd, sid, err);
        if (result == -EEXIST)
            continue;
        if (result < 0)
            return result;
        memcpy(page->sid, sid, SID_BYTES);
        if (renameat(control->registry.fd, name, control->registry.fd, sid) == 0) {
            memcpy(control->sid, sid, SID_BYTES);
            /* The trail may have another name: see session/audit.c. */
            if (i > 0)
                session_tell(session, "named", MEMBER_TEXT("sid", sid));
            return 0;
        }
        /* SECURITY: it is another's: not to be removed with us. */
        page->sid[0] = '\0';
        recorder_forget(&session->recorder);
        if (errno != EEXIST && errno != ENOTEMPTY)
            break;
    }
    return error_errno(err, errno, "name the session");
}

int control_reserve(struct control *control, struct bawn_error *err)
{
    struct session *session = control->session;
    struct keeper_page *page;
    autorecords struct record_list others = {0};
    char name[64];
    int result = session_keep(session, err);

    if (result < 0)
        return result;
    page = session->keeper.page;
    (void)snprintf(name, sizeof(name), ".new-%d-%llu", (int)getpid(),
                   (unsigned long long)process_start(getpid()));
    memcpy(page->unfinished, name, sizeof(name));
    /* This one lives long enough to look after what others left. */
    if (session->group->kind != CGROUP_NONE)
        cgroup_sweep(session->group->kind);
    result = registry_open(&control->registry, session->request->environ, true, err);
    if (result < 0)
        return result;
    memcpy(page->registry, control->registry.path, sizeof(page->registry));
    (void)record_list_read(&control->registry, &others, NULL);
    registry_close(&control->registry);
    control->dir_fd = make_directory(control, name, err);
    return control->dir_fd < 0 ? control->dir_fd : 0;
}

/* The name it is made under. */
static const char *unfinished(const struct control *control)
{
    return control->session->keeper.page->unfinished;
}

static void forget_unfinished(struct control *control)
{
    registry_remove(&control->registry, unfinished(control));
    (void)close(take_fd(&control->dir_fd));
}

int control_register(struct control *control, struct bawn_error *err)
{
    int result = control->dir_fd < 0 ? control_reserve(control, err) : 0;

    if (result < 0)
        return result;
    result = make_socket(control, control->dir_fd, err);
    if (result == 0)
        result = publish(control, control->dir_fd, unfinished(control), err);
    if (result < 0)
        forget_unfinished(control);
    else
        (void)close(take_fd(&control->dir_fd));
    return result;
}

void control_unregister(struct control *control)
{
    if (control && control->dir_fd >= 0)
        forget_unfinished(control);
    if (control && control->sid[0])
        registry_remove(&control->registry, control->sid);
}

static bool is_shown(const struct image *image, const char *path)
{
    image_each (image, PART_MOUNTS, struct image_mount, step) {
        if ((step->step == STEP_BIND || step->step == STEP_OVERLAY) &&
            path_is_below(path, image_string(image, step->source)))
            return true;
    }
    return false;
}

/*
 * SECURITY: a tree that the command sees may have the registry in it. What is
 * not there cannot be covered, and a cover is lost with what it covers: so it is
 * there before the start, and an entry of ours keeps it there.
 */
int session_hide_registry(struct session *session, const char **ret_hidden, struct bawn_error *err)
{
    const struct session_request *request = session->request;
    int result;

    *ret_hidden = NULL;
    if (!places_find_sessions(environ_get(request->environ, "XDG_RUNTIME_DIR"),
                              session->registry) ||
        !is_shown(request->image, session->registry))
        return 0;
    *ret_hidden = session->registry;
    result = control_new(session, err);
    if (result == 0)
        result = control_reserve(session->control, err);
    session->is_unlisted = result < 0;
    /* Nobody finds it then, which is no reason not to run; unless there is no other way to it. */
    return request->is_detached ? result : 0;
}

static int on_register(void *context)
{
    struct session *session = context;

    if (!session->is_unlisted && !session->request->is_detached) {
        session_let_go(session);
        /* A command that runs already is not ended for it. */
        if (session->control || control_new(session, NULL) == 0)
            (void)control_register(session->control, NULL);
    }
    return session_write_audit(session);
}

static int welcome_owner(struct session *session, struct bawn_error *err)
{
    struct control_message ready = {.kind = CONTROL_STARTED};
    int result = session->control ? 0 : control_new(session, err);

    if (result == 0)
        result = control_add_owner(session->control, session->request->owner_fd, err);
    if (result == 0)
        control_answer(&session->control->clients[0], &ready, NULL, 0, -EBADF);
    return result;
}

int session_publish(struct session *session, struct bawn_error *err)
{
    const struct session_request *request = session->request;
    int result = request->owner_fd >= 0 ? welcome_owner(session, err) : 0;

    if (result < 0)
        return result;
    loop_set_timer(&session->loop, &session->register_timer, REGISTER_AFTER_MS, 0, on_register,
                   session);
    if (session->is_unlisted || !request->is_detached)
        return 0;
    result = session->control ? 0 : control_new(session, err);
    if (result == 0)
        result = control_register(session->control, err);
    if (result == 0)
        recorder_start(session);
    return result;
}
