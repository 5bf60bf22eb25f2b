/* SPDX-License-Identifier: Apache-2.0 */
#include "base/passwd.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PASSWD_BYTES = 16 << 20,
    PASSWD_USUAL = 8192,
    FIELD_NAME = 0,
    FIELD_UID = 2,
    FIELD_HOME = 5,
    FIELD_COUNT = 7
};

/* Whether a line is of the user with that number; then it is cut into its fields. */
static bool is_of(char *line, const char *number, char *fields[FIELD_COUNT])
{
    const char *at = line;
    size_t length = strlen(number);
    size_t count = 0;

    for (int i = 0; at && i < FIELD_UID; i++) {
        at = strchr(at, ':');
        at = at ? at + 1 : NULL;
    }
    if (!at || strncmp(at, number, length) != 0 || at[length] != ':')
        return false;
    while (count < FIELD_COUNT && (fields[count] = strsep(&line, ":")))
        count++;
    return count == FIELD_COUNT;
}

/* With few calls, for each start looks at it. How many bytes were read, PASSWD_USUAL: there may be
 * more; or -1. */
static ssize_t read_small(char text[static PASSWD_USUAL + 1])
{
    autoclose int fd =
        openat(AT_FDCWD, "/etc/passwd", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : read(fd, text, PASSWD_USUAL);

    text[got > 0 ? got : 0] = '\0';
    return got;
}

/* The line of a user, in its fields. They are in small, or in *ret_large, which the caller frees.
 */
static bool find(uid_t uid, char small[static PASSWD_USUAL + 1], char **ret_large,
                 char *fields[FIELD_COUNT])
{
    size_t length;
    char number[16];
    char *rest = small;
    ssize_t got = read_small(small);

    if (got < 0)
        return false;
    if (got == PASSWD_USUAL) {
        if (file_read(AT_FDCWD, "/etc/passwd", PASSWD_BYTES, ret_large, &length, NULL) < 0)
            return false;
        rest = *ret_large;
    }
    (void)snprintf(number, sizeof(number), "%u", (unsigned)uid);
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (is_of(line, number, fields))
            return true;
    }
    return false;
}

bool passwd_home(uid_t uid, char ret_home[LIMIT_PATH_BYTES])
{
    autofree char *large = NULL;
    char small[PASSWD_USUAL + 1];
    char *fields[FIELD_COUNT];
    const char *home;
    size_t length;

    if (!find(uid, small, &large, fields))
        return false;
    home = fields[FIELD_HOME];
    length = strlen(home);
    while (length > 1 && home[length - 1] == '/')
        length--;
    if (*home != '/' || length < 2 || length >= LIMIT_PATH_BYTES)
        return false;
    (void)snprintf(ret_home, LIMIT_PATH_BYTES, "%.*s", (int)length, home);
    return true;
}

bool passwd_name(uid_t uid, char ret_name[PASSWD_NAME_BYTES])
{
    autofree char *large = NULL;
    char small[PASSWD_USUAL + 1];
    char *fields[FIELD_COUNT];

    return find(uid, small, &large, fields) && *fields[FIELD_NAME] &&
           (size_t)snprintf(ret_name, PASSWD_NAME_BYTES, "%s", fields[FIELD_NAME]) <
               PASSWD_NAME_BYTES;
}
