/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which descriptors the command was born with: found by asking about every
 * number, since /proc/self/fd could be hidden.
 *   e_fds            "open N" for each beyond the three streams, then "done"
 *   e_fds dir NAME   what the streams lead to, when one of them is a directory; 3 is
 *                    where the caller may have put another
 */
#include "verdict.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { NUMBERS = 65536 };

static void list(void)
{
    int open_count = 0;

    for (int fd = 3; fd < NUMBERS; fd++) {
        char what[32];

        if (fcntl(fd, F_GETFD) == -1)
            continue;
        snprintf(what, sizeof(what), "open %d", fd);
        verdict_say("ok", what);
        open_count++;
    }
    verdict_say(open_count == 0 ? "EBADF" : "ok", "descriptors");
}

static void look(const char *name)
{
    for (int fd = 0; fd <= 3; fd++) {
        char what[64];
        struct stat st;
        int file_fd;

        if (fstat(fd, &st) == -1 || !S_ISDIR(st.st_mode))
            continue;
        snprintf(what, sizeof(what), "stream-%d", fd);
        file_fd = openat(fd, name, O_RDONLY | O_CLOEXEC);
        verdict_say(verdict_word(verdict_of(file_fd)), what);
        file_fd = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        snprintf(what, sizeof(what), "stream-%d-parent", fd);
        verdict_say(verdict_word(verdict_of(file_fd)), what);
    }
    verdict_say("ok", "looked");
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "dir") == 0)
        look(argv[2]);
    else
        list();
    return 0;
}
