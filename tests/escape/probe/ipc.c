/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipc make|find|drop KEY: objects of System V and POSIX IPC under one key.
 * find tells of each kind whether it is there.
 */
#include "verdict.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

static void say(const char *kind, int id)
{
    verdict_say(verdict_word(verdict_of(id)), kind);
}

int main(int argc, char **argv)
{
    char name[64];
    key_t key;
    int make;

    if (argc < 3)
        return 2;
    key = (key_t)strtol(argv[2], NULL, 0);
    make = strcmp(argv[1], "make") == 0;
    snprintf(name, sizeof name, "/bawn-escape-%x", (unsigned)key);
    if (strcmp(argv[1], "drop") == 0) {
        shmctl(shmget(key, 0, 0), IPC_RMID, NULL);
        msgctl(msgget(key, 0), IPC_RMID, NULL);
        semctl(semget(key, 0, 0), 0, IPC_RMID);
        mq_unlink(name);
        shm_unlink(name);
        return 0;
    }
    say("shmget", shmget(key, make ? 4096 : 0, make ? IPC_CREAT | 0666 : 0));
    say("msgget", msgget(key, make ? IPC_CREAT | 0666 : 0));
    say("semget", semget(key, make ? 1 : 0, make ? IPC_CREAT | 0666 : 0));
    say("mq_open", (int)mq_open(name, make ? O_RDWR | O_CREAT : O_RDWR, 0666, NULL));
    say("shm_open", shm_open(name, make ? O_RDWR | O_CREAT : O_RDWR, 0666));
    return 0;
}
