/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that is replaced while it waits for an answer, and has the same number afterwards.
 *   g_replace FIRST SECOND   its first thread opens FIRST for writing and waits; another one then
 *                            makes it this program anew, which opens SECOND
 *   g_replace SECOND         that
 * Writes a line to what it opened, and prints the verdict.
 */
#include "verdict.h"

#include <fcntl.h>
#include <pthread.h>

static char **words;

static int write_to(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

    if (fd < 0)
        return errno;
    (void)!write(fd, "written\n", 8);
    close(fd);
    return 0;
}

static void *replace(void *unused)
{
    char *again[] = {words[0], words[2], NULL};

    sleep(2);
    execv("/proc/self/exe", again);
    _exit(3);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    words = argv;
    if (argc == 3 && pthread_create(&thread, NULL, replace, NULL) != 0)
        return 2;
    if (argc != 2 && argc != 3)
        return 2;
    verdict_say(verdict_word(write_to(argv[1])), argv[1]);
    return 0;
}
