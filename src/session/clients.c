/* SPDX-License-Identifier: Apache-2.0 */
#include "session/clients.h"

#include "base/clock.h"

/* Of each second. Names in the log come last. */
enum { SECOND_MS = 1000, NAME_USEC = 100000, PROGRAM_USEC = 250000 };

struct search {
    const struct programs *programs; /* NULL: only who */
    struct net_answer *answer;
};

static bool on_holder(void *context, pid_t pid, int dir_fd)
{
    const struct search *search = context;
    struct net_answer *answer = search->answer;

    if (answer->pid == 0) {
        answer->pid = pid;
        who_name(dir_fd, answer->comm, answer->exe);
        answer->programs = ~UINT64_C(0);
    }
    /* SECURITY: one that is none of them speaks by the same socket. */
    if (search->programs)
        answer->programs &= programs_of(search->programs, pid, dir_fd);
    return search->programs;
}

static void look(struct clients *clients, const struct net_question *question,
                 struct net_answer *answer)
{
    struct search search = {.answer = answer};
    uint64_t number;

    if (who_socket(clients->launch->diag_fd, &question->ends, &number) < 0)
        return;
    if (question->wants_programs && clients->programs.count > 0) {
        programs_find(&clients->programs);
        search.programs = &clients->programs;
    }
    if (who_has(clients->launch->pid, number, on_holder, &search) < 0 || !search.programs)
        answer->programs = 0;
}

void clients_init(struct clients *clients, const struct launch *launch, const struct image *image)
{
    *clients = (struct clients){.launch = launch};
    programs_init(&clients->programs, image, launch->root_fd, launch->pid);
}

void clients_answer(struct clients *clients, const struct net_question *question,
                    struct net_answer *ret_answer)
{
    int64_t began = clock_usec();
    int64_t most = question->wants_programs ? PROGRAM_USEC : NAME_USEC;

    *ret_answer = (struct net_answer){.kind = NET_WHO, .number = question->number};
    if (began / 1000 - clients->second_ms >= SECOND_MS) {
        clients->second_ms = began / 1000;
        clients->spent_usec = 0;
    }
    if (clients->launch->diag_fd < 0 || clients->spent_usec >= most)
        return;
    look(clients, question, ret_answer);
    clients->spent_usec += clock_usec() - began;
}
