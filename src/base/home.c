/* SPDX-License-Identifier: Apache-2.0 */
#include "base/home.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSWD_BYTES = 16 << 20, FIELD_UID = 2, FIELD_HOME = 5, FIELD_COUNT = 7 };

/* Whether a line is of that user; it is cut into its fields. */
static bool is_of(char *line, uid_t uid, char *fields[FIELD_COUNT])
{
    char number[16];
    size_t count = 0;

    while (count < FIELD_COUNT && (fields[count] = strsep(&line, ":")))
        count++;
    (void)snprintf(number, sizeof(number), "%u", (unsigned)uid);
    return count == FIELD_COUNT && strcmp(fields[FIELD_UID], number) == 0;
}

bool home_find(uid_t uid, char ret_home[LIMIT_PATH_BYTES])
{
    autofree char *text = NULL;
    char *fields[FIELD_COUNT];
    size_t length;
    char *rest;

    if (file_read(AT_FDCWD, "/etc/passwd", PASSWD_BYTES, &text, &length, NULL) < 0)
        return false;
    rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        const char *home;

        if (!is_of(line, uid, fields))
            continue;
        home = fields[FIELD_HOME];
        length = strlen(home);
        while (length > 1 && home[length - 1] == '/')
            length--;
        if (*home != '/' || length < 2 || length >= LIMIT_PATH_BYTES)
            return false;
        (void)snprintf(ret_home, LIMIT_PATH_BYTES, "%.*s", (int)length, home);
        return true;
    }
    return false;
}
