/* SPDX-License-Identifier: Apache-2.0 */
/* One more command in a session. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>

extern char **environ;

int client_fill_streams(const struct bawn_command *command, int none, int fds[CONTROL_FDS],
                        struct bawn_error *err)
{
    struct stat status;

    for (int i = 0; i < CONTROL_FDS; i++) {
        fds[i] = command && command->fds[i] >= 0 ? command->fds[i] : none;
        if (fstat(fds[i], &status) < 0 || S_ISDIR(status.st_mode))
            return error_set(err, EBADF, "session.stream", "standard stream %d: not a stream", i);
    }
    return 0;
}

/* The caller's terminal stays outside, and the first one is the model of the one inside. */
static int replace_terminal(const struct bawn_command *command, int stream,
                            const struct termios *state, struct control_message *message,
                            struct bawn_error *err)
{
    if (!(command->flags & BAWN_COMMAND_TERMINAL))
        return error_set(err, ENOTTY, "session.stream", "standard stream %d is a terminal", stream);
    if (!(message->flags & CONTROL_TTY)) {
        message->state = *state;
        (void)ioctl(command->fds[stream], TIOCGWINSZ, &message->size);
    }
    message->flags |= 1U << stream;
    return 0;
}

/* KERNEL: EBADF is also said of one that is only named (O_PATH). */
static bool is_closed(int fd)
{
    return errno == EBADF && fcntl(fd, F_GETFD) < 0;
}

/* What is handed in, or -EBADF where there is nothing or a terminal. What may be a stream the
 * session judges. */
static int look_at_streams(const struct bawn_command *command, int fds[CONTROL_FDS],
                           struct control_message *message, struct bawn_error *err)
{
    struct termios state;

    for (int i = 0; i < CONTROL_FDS; i++) {
        fds[i] = command->fds[i];
        if (fds[i] < 0)
            continue;
        if (tcgetattr(fds[i], &state) == 0) {
            int result = replace_terminal(command, i, &state, message, err);

            if (result < 0)
                return result;
            fds[i] = -EBADF;
        } else if (is_closed(fds[i])) {
            return error_set(err, EBADF, "session.stream", "standard stream %d: not a stream", i);
        }
    }
    return 0;
}

/* None, which is opened if need be, stands for what is not handed in. */
static int fill_rest(int fds[CONTROL_FDS], int *none, struct bawn_error *err)
{
    for (int i = 0; i < CONTROL_FDS; i++) {
        if (fds[i] >= 0)
            continue;
        if (*none < 0)
            *none = file_open_null(O_RDWR, err);
        if (*none < 0)
            return *none;
        fds[i] = *none;
    }
    return 0;
}

/* A size is that of the caller's terminal, unless another is given; or it asks for a terminal where
 * there are no streams. */
static int choose_size(const struct bawn_command *command, struct control_message *message,
                       struct bawn_error *err)
{
    bool has_model = message->flags & CONTROL_TTY;

    if (command->cols == 0 && command->rows == 0)
        return 0;
    if (!has_model && (command->cols == 0 || command->rows == 0))
        return error_set(err, EINVAL, "session.size", "a terminal of %u columns and %u rows",
                         command->cols, command->rows);
    for (int i = 0; i < CONTROL_FDS; i++) {
        if (command->fds[i] < 0)
            message->flags |= 1U << i;
    }
    if (!(message->flags & CONTROL_TTY))
        return error_set(err, EINVAL, "session.size",
                         "cols and rows are given, and no stream is -1 to be the terminal");
    if (!has_model)
        control_terminal_state(&message->state);
    if (command->cols)
        message->size.ws_col = command->cols;
    if (command->rows)
        message->size.ws_row = command->rows;
    return 0;
}

static int send_command(struct bawn_session *session, const struct bawn_command *command,
                        struct control_message *message, const int fds[CONTROL_FDS],
                        struct bawn_error *err)
{
    char *const *variables =
        command->environ ? (char *const *)(uintptr_t)command->environ : environ;
    autofree char *bytes = NULL;
    size_t size;
    int result = control_strings_join(message, (char *const *)(uintptr_t)command->argv, variables,
                                      &bytes, &size);

    if (result < 0)
        return error_errno(err, -result, "send the command to session%s%s",
                           session->sid[0] ? " " : "", session->sid);
    return client_tell(session, message, bytes, size, fds, err);
}

int bawn_session_exec(struct bawn_session *session, const struct bawn_command *command,
                      struct bawn_error *err)
{
    struct control_message message = {.kind = CONTROL_EXEC, .job = session->last_job + 1};
    autoclose int none = -EBADF;
    int fds[CONTROL_FDS] = {-EBADF, -EBADF, -EBADF};
    bool has_terminal;
    int result;

    if (command->flags & ~(unsigned)BAWN_COMMAND_TERMINAL)
        return error_set(err, EINVAL, "session.flags", "flags %#x: not known to this version",
                         command->flags);
    result = look_at_streams(command, fds, &message, err);
    if (result == 0)
        result = choose_size(command, &message, err);
    if (result == 0)
        result = fill_rest(fds, &none, err);
    if (result < 0)
        return result;
    has_terminal = message.flags & CONTROL_TTY;
    if (has_terminal &&
        !vec_push(&session->shown, ((struct client_shown){.job = message.job, .fd = -EBADF})))
        return error_memory(err);
    result = send_command(session, command, &message, fds, err);
    if (result < 0) {
        session->shown.count -= has_terminal;
        return result;
    }
    session->last_job++;
    return (int)session->last_job;
}
