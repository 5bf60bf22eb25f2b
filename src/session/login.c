/* SPDX-License-Identifier: Apache-2.0 */
#include "session/login.h"

#include "base/cleanup.h"
#include "base/environ.h"
#include "base/error.h"
#include "base/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool find(char *const *variables, char path[LIMIT_PATH_BYTES])
{
    const char *config = environ_get(variables, "XDG_CONFIG_HOME");
    const char *home = environ_get(variables, "HOME");
    int length;

    if (config && *config == '/')
        length =
            snprintf(path, LIMIT_PATH_BYTES, "%s/" PLACES_CONFIG "/" PLACES_PROXY_LOGIN, config);
    else if (home && *home == '/')
        length = snprintf(path, LIMIT_PATH_BYTES,
                          "%s/" PLACES_CONFIG_USUAL "/" PLACES_CONFIG "/" PLACES_PROXY_LOGIN, home);
    else
        return false;
    return length < LIMIT_PATH_BYTES;
}

static int refuse(const char *path, const char *why, const char *hint, struct bawn_error *err)
{
    (void)error_set(err, EACCES, "run.proxy_login", "%s is not used: %s", path, why);
    error_hint(err, "%s", hint);
    return -EACCES;
}

/* It goes into a header as one word. */
static bool is_login(const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length);

    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    }
    return colon && colon > text;
}

int login_read(char *const *variables, char *text, size_t size, struct bawn_error *err)
{
    char path[LIMIT_PATH_BYTES];
    autoclose int fd = -EBADF;
    struct stat status;
    ssize_t got;

    if (find(variables, path))
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &status) < 0)
        return error_errno(err, errno, "open %s", path);
    if (!S_ISREG(status.st_mode) || (status.st_uid != geteuid() && status.st_uid != 0))
        return refuse(path, "it is not a file of the user's own", "make it anew, mode 600", err);
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        return refuse(path, "others may read or write it", "chmod 600 the file", err);
    got = read(fd, text, size);
    if (got > 0 && text[got - 1] == '\n')
        got--;
    if (got > 0 && got < (ssize_t)size && is_login(text, (size_t)got)) {
        text[got] = '\0';
        return (int)got;
    }
    explicit_bzero(text, size);
    return refuse(path, "it does not have one line USER:PASSWORD", "write that, and nothing else",
                  err);
}
