/* SPDX-License-Identifier: Apache-2.0 */
#include "session/log.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const char *shown, struct bawn_error *err)
{
    (void)error_set(err, EPERM, "run.debug_log", "--debug-log %s: not a plain file of yours alone",
                    shown);
    error_hint(err, "name a new file in a directory that no sandbox can write to, or - for "
                    "standard error");
    return -EPERM;
}

int log_open(struct log *log, const char *path, bool is_json, struct bawn_error *err)
{
    autoclose int fd = -EBADF;
    struct stat status;
    char shown[256];

    log->is_json = is_json;
    if (strcmp(path, "-") == 0) {
        log->fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        return log->fd < 0 ? error_errno(err, errno, "use standard error as the log") : 0;
    }
    text_escape(shown, sizeof(shown), path, strlen(path), TEXT_ONE_LINE);
    /* SECURITY: a command may have put a link or a pipe there in an earlier run. */
    fd = openat(AT_FDCWD, path,
                O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                0600);
    if (fd < 0 && errno != ELOOP && errno != ENXIO) {
        (void)error_errno(err, errno, "open the log %s", shown);
        error_hint(err, "name a file that you can write to, or - for standard error");
        return -err->errnum;
    }
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1 ||
        status.st_uid != geteuid())
        return refuse(shown, err);
    log->fd = take_fd(&fd);
    return 0;
}

void log_members(const struct log *log, const char *event, const struct member *members,
                 size_t count)
{
    autostrbuf struct strbuf line = {0};
    char now[MEMBERS_TIME_BYTES];

    if (!log || log->fd < 0)
        return;
    members_time(now);
    if (log->is_json) {
        json_open(&line, NULL, '{');
        json_put_string(&line, "time", now);
        json_put_uint(&line, "launcher", (uint64_t)getpid());
        json_put_string(&line, "event", event);
        members_as_json(&line, members, count, true);
        json_close(&line, '}');
    } else {
        strbuf_addf(&line, "%s %d %s", now, (int)getpid(), event);
        members_as_text(&line, members, count, true);
    }
    strbuf_add(&line, "\n");
    /* A log that takes no more is no reason to fail. */
    if (!line.failed && write(log->fd, line.text, line.length) < 0)
        return;
}
