/* SPDX-License-Identifier: Apache-2.0 */
/* What questions, loading and planning cost as the number of rules grows. Times are minima of
 * interleaved rounds, stated as ratios: machines are noisy. */
#include "api/api.h"
#include "base/cleanup.h"
#include "base/strbuf.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, QUESTIONS = 2000 };

static double now_us(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* Rules of every kind: paths at several depths, literal denials, suffixes, any-depth names, hosts.
 */
static char *policy_text(size_t rules)
{
    struct strbuf out = {0};

    strbuf_add(&out, "sandbox:\n  reads: strict\n  paths:\n"
                     "    work: {root: /srv/work, mode: rw}\n");
    for (size_t i = 0; i < rules * 2 / 5; i++)
        strbuf_addf(&out, "    p%zu: {root: /srv/tree%zu/dir%zu/leaf%zu, mode: %s}\n", i, i % 7,
                    i % 101, i, i % 2 ? "ro" : "rw");
    strbuf_add(&out, "  deny:\n");
    for (size_t i = 0; i < rules * 2 / 5; i++) {
        if (i % 4 == 0)
            strbuf_addf(&out, "    - /srv/work/**/secret%zu\n", i);
        else if (i % 4 == 1)
            strbuf_addf(&out, "    - '*.ext%zu'\n", i);
        else
            strbuf_addf(&out, "    - /srv/work/denied%zu/x\n", i);
    }
    strbuf_add(&out, "  network:\n    mode: proxy\n    allow:\n");
    for (size_t i = 0; i < rules / 5; i++)
        strbuf_addf(&out, "      - \"**.host%zu.example\"\n", i);
    return strbuf_take(&out);
}

static struct bawn_policy *load_rules(const char *text)
{
    struct bawn_policy *policy = NULL;
    struct bawn_load *load = NULL;
    struct bawn_error err = {0};

    if (bawn_load_new(&load, &err) < 0)
        exit(EXIT_FAILURE);
    load->isolated = load->no_profile = true;
    if (bawn_load_workspace(load, "/", &err) < 0 ||
        bawn_load_text(load, "bench.yaml", text, strlen(text), "bawn", &err) < 0 ||
        bawn_policy_load(load, &policy, NULL, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(EXIT_FAILURE);
    }
    bawn_load_free(load);
    return policy;
}

/* One round of questions, allowed and denied, with and without the reason; per question. */
static double ask_round(const struct bawn_policy *policy)
{
    static const char *const paths[] = {"/srv/work/src/main.c", "/srv/work/a/b/secret0",
                                        "/srv/tree1/dir1/leaf1/x", "/usr/include/stdio.h",
                                        "/srv/work/notes.ext1"};
    double start = now_us();

    for (size_t i = 0; i < QUESTIONS; i++) {
        struct bawn_decision *decision = NULL;

        (void)bawn_can_read(policy, paths[i % 5], NULL, NULL);
        (void)bawn_can_write(policy, paths[i % 5], &decision, NULL);
        bawn_decision_free(decision);
        (void)bawn_can_connect(policy, "api.host1.example:443", NULL, NULL);
    }
    return (now_us() - start) / (QUESTIONS * 3);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double bench_questions(void)
{
    autofree char *few_text = policy_text(10);
    autofree char *many_text = policy_text(10000);
    struct bawn_policy *few = load_rules(few_text);
    struct bawn_policy *many = load_rules(many_text);
    double few_us = 1e9;
    double many_us = 1e9;

    for (int i = 0; i < ROUNDS; i++) {
        few_us = least(few_us, ask_round(few));
        many_us = least(many_us, ask_round(many));
    }
    bawn_policy_free(few);
    bawn_policy_free(many);
    (void)printf("one question   10 rules %6.2f us   10,000 rules %6.2f us   ratio %.2f\n", few_us,
                 many_us, many_us / few_us);
    return many_us / few_us;
}

/* Loading, and planning for this host; microseconds per rule. */
static void load_round(const char *text, const struct bawn_host *host, size_t rules,
                       double *load_us, double *plan_us)
{
    struct bawn_plan *plan = NULL;
    struct bawn_policy *policy;
    double start = now_us();
    double middle;

    policy = load_rules(text);
    middle = now_us();
    if (bawn_plan_new(policy, host, &plan, NULL) < 0)
        exit(EXIT_FAILURE);
    *load_us = least(*load_us, (middle - start) / (double)rules);
    *plan_us = least(*plan_us, (now_us() - middle) / (double)rules);
    bawn_plan_free(plan);
    bawn_policy_free(policy);
}

static double bench_loading(void)
{
    static const size_t sizes[] = {1000, 2500, 5000, 10000, 20000};
    enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
    double load_us[COUNT];
    double plan_us[COUNT];
    char *texts[COUNT];
    struct bawn_host *host = NULL;
    double worst = 0;

    if (bawn_host_probe(&host, NULL) < 0)
        exit(EXIT_FAILURE);
    for (size_t i = 0; i < COUNT; i++) {
        load_us[i] = plan_us[i] = 1e9;
        texts[i] = policy_text(sizes[i]);
    }
    for (int round = 0; round < 5; round++)
        for (size_t i = 0; i < COUNT; i++)
            load_round(texts[i], host, sizes[i], &load_us[i], &plan_us[i]);
    for (size_t i = 0; i < COUNT; i++) {
        double total = load_us[i] + plan_us[i];
        double ratio = total / (load_us[1] + plan_us[1]);

        (void)printf("%6zu rules   load %5.2f us/rule   plan %5.2f us/rule   against 2,500: %.2f\n",
                     sizes[i], load_us[i], plan_us[i], ratio);
        if (i >= 1 && ratio > worst)
            worst = ratio;
        free(texts[i]);
    }
    bawn_host_free(host);
    return worst;
}

int main(int argc, char **argv)
{
    bool check = argc > 1 && strcmp(argv[1], "--check") == 0;
    double question = bench_questions();
    double loading = bench_loading();

    if (question > 2.0)
        (void)fprintf(stderr, "a question costs more than twice as much with 10,000 rules\n");
    if (loading > 1.6)
        (void)fprintf(stderr, "loading and planning are not linear in the number of rules\n");
    return check && (question > 2.0 || loading > 1.6) ? EXIT_FAILURE : EXIT_SUCCESS;
}
