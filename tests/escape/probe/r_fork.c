/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes or threads without end: r_fork fork|vfork|thread MAX. The answer is
 * how the first refusal read, and "made N". r_fork bomb: never stops, nobody waits.
 */
#include "verdict.h"

#include <pthread.h>
#include <stdlib.h>

static void *stay(void *context)
{
    (void)context;
    pause();
    return NULL;
}

static int make_one(const char *way)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pid_t child;

    if (strcmp(way, "thread") == 0) {
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 64 * 1024);
        return pthread_create(&thread, &attributes, stay, NULL);
    }
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    return verdict_of(child);
}

static void bomb(void)
{
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (;;)
        if (fork() == -1)
            usleep(1000);
}

int main(int argc, char **argv)
{
    int max = argc > 2 ? atoi(argv[2]) : 0, made = 0, errnum = 0;
    char text[32];

    if (argc > 1 && strcmp(argv[1], "bomb") == 0)
        bomb();
    if (argc != 3)
        return 2;
    while (made < max && (errnum = make_one(argv[1])) == 0)
        made++;
    snprintf(text, sizeof(text), "%d", made);
    verdict_say(verdict_word(errnum), "refusal");
    verdict_say(text, "made");
    /* Its own death ends threads; children stay behind on purpose. */
    return 0;
}
