/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers what the only session of this user asks, in place of a person.
 *
 *     answerer [DELAY_MS] HOST:PORT=ANSWER...
 *
 * ANSWER is once, session, no, never (no, for the session) or silent; "*" is every host that is not
 * named. Prints a line for each notice, its fields apart by tabs.
 */
#include <bawn/approve.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 500, TRY_USEC = 20000 };

static struct bawn_error err;

static int fail(const char *what)
{
    (void)fprintf(stderr, "answerer: %s: %s\n", what, err.message);
    return 1;
}

static const char *word_for(const struct bawn_notice *notice, char **rules)
{
    const char *any = "silent";

    for (; *rules; rules++) {
        const char *end = strrchr(*rules, '=');

        if (end && strlen(notice->path) == (size_t)(end - *rules) &&
            strncmp(notice->path, *rules, (size_t)(end - *rules)) == 0)
            return end + 1;
        if (strncmp(*rules, "*=", 2) == 0)
            any = *rules + 2;
    }
    return any;
}

static int answer(struct bawn_approver *approver, const struct bawn_notice *notice, char **rules,
                  useconds_t delay)
{
    const char *word = word_for(notice, rules);
    struct bawn_answer given = {
        .is_allowed = strcmp(word, "once") == 0 || strcmp(word, "session") == 0,
        .scope = strcmp(word, "session") == 0 || strcmp(word, "never") == 0 ? BAWN_ANSWER_SESSION
                                                                            : BAWN_ANSWER_ONCE};

    printf("asked\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", notice->path, notice->op, notice->call,
           notice->rule, notice->grant, notice->pid, notice->comm, notice->exe,
           notice->argv[0] ? notice->argv[0] : "");
    if (strcmp(word, "silent") == 0)
        return 0;
    (void)usleep(delay);
    return bawn_approver_answer(approver, notice->id, &given, &err);
}

static int tell(struct bawn_approver *approver, const struct bawn_notice *notice, char **rules,
                useconds_t delay)
{
    switch (notice->kind) {
    case BAWN_NOTICE_ALL:
        printf("ready\n");
        return 0;
    case BAWN_NOTICE_SETTLED:
        printf("settled\t%d\t%d\t%d\n", notice->is_allowed, notice->scope, notice->by);
        return 0;
    case BAWN_NOTICE_ASKED:
        break;
    }
    return answer(approver, notice, rules, delay);
}

int main(int argc, char **argv)
{
    struct bawn_approver *approver = NULL;
    const struct bawn_notice *notice;
    bool has_delay = argc > 1 && !strchr(argv[1], '=');
    useconds_t delay = has_delay ? (useconds_t)strtoul(argv[1], NULL, 10) * 1000 : 0;
    char **rules = argv + 1 + has_delay;
    int result = -1;

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < TRIES && result < 0; i++) {
        result = bawn_approver_open(NULL, &approver, &err);
        if (result < 0)
            (void)usleep(TRY_USEC);
    }
    if (result < 0)
        return fail("open");
    while (result >= 0) {
        struct pollfd ready = {.fd = bawn_approver_fd(approver), .events = POLLIN};

        (void)poll(&ready, 1, -1);
        while (result >= 0 && (result = bawn_approver_next(approver, &notice, &err)) > 0)
            result = tell(approver, notice, rules, delay);
    }
    bawn_approver_close(approver);
    return strcmp(err.code, "session.gone") == 0 ? 0 : fail("hear");
}
