/* SPDX-License-Identifier: Apache-2.0 */
#include "session/breach.h"

#include "base/error.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdio.h>

static bool grew(uint64_t before, uint64_t after)
{
    return after > before;
}

enum breach breach_find(const struct cgroup_metrics *before, const struct cgroup_metrics *after)
{
    static const struct cgroup_metrics nothing;

    if (!before)
        before = &nothing;
    if (grew(before->oom_kills, after->oom_kills))
        return BREACH_MEMORY;
    if (grew(before->pids_refused, after->pids_refused))
        return BREACH_PIDS;
    if (grew(before->throttled_usec, after->throttled_usec))
        return BREACH_CPU;
    return BREACH_NONE;
}

enum breach breach_find_measured(uint64_t memory_bytes, uint64_t threads,
                                 const struct cgroup_limits *limits)
{
    if (limits->memory && memory_bytes > limits->memory)
        return BREACH_MEMORY;
    /* The one that was refused another has ended meanwhile. */
    return limits->pids && threads + 1 >= limits->pids ? BREACH_PIDS : BREACH_NONE;
}

/* The largest unit that shows the size whole; the policy reads it again as it is. */
static void size_words(char *out, size_t size, uint64_t bytes, const char *space)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    while (unit + 1 < sizeof(units) / sizeof(*units) && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(out, size, "%llu%s%s", (unsigned long long)bytes, unit ? space : "",
                   units[unit]);
}

void breach_explain_full(const struct image *image, struct bawn_error *err)
{
    autostrbuf struct strbuf names = {0};
    char is[32], more[32];
    uint64_t bytes = 0;

    image_each (image, PART_MOUNTS, struct image_mount, step) {
        if (step->step == STEP_POOL)
            bytes = step->size_bytes;
        if (step->step == STEP_PRIVATE)
            strbuf_addf(&names, "%s/%s", names.length ? ", " : "",
                        image_string(image, step->target));
    }
    size_words(is, sizeof(is), bytes, " ");
    size_words(more, sizeof(more), bytes * 2, "");
    (void)error_set(err, ENOSPC, "limit.tmp_size",
                    "the private directories are full: %s have %s together (limits.tmp_size)",
                    names.failed ? "they" : names.text, is);
    error_hint(err, "raise it with --set sandbox.limits.tmp_size=%s", more);
}

static void size_about(char *out, size_t size, uint64_t bytes)
{
    if (bytes >= 1ULL << 30)
        (void)snprintf(out, size, "%.1f GiB", (double)bytes / (1 << 30));
    else
        (void)snprintf(out, size, "%.1f MiB", (double)bytes / (1 << 20));
}

/* A limit below which it would be well, with room for as much again. */
static void size_for(char *out, size_t size, uint64_t limit, uint64_t held)
{
    uint64_t most = limit > held ? limit : held;
    uint64_t unit = most >= 1ULL << 30 ? 1ULL << 30 : 1ULL << 20;

    size_words(out, size, (most + unit - 1) / unit * unit * 2, "");
}

struct layers_words {
    char is[64], held[32], more[32];
};

static struct layers_words layers_words(const struct breach_layers *layers)
{
    struct layers_words words = {.is = ""};

    if (layers->is_share)
        size_about(words.is, sizeof(words.is), layers->limit);
    else
        size_words(words.is, sizeof(words.is), layers->limit, " ");
    size_about(words.held, sizeof(words.held), layers->held);
    size_for(words.more, sizeof(words.more), layers->limit, layers->held);
    return words;
}

void breach_explain_layers(const struct breach_layers *layers, struct bawn_error *err)
{
    struct layers_words words = layers_words(layers);

    (void)error_set(err, EDQUOT, "limit.layer_size",
                    "what the command changed takes more than %s%s (limits.layer_size): its layers "
                    "hold %s%s",
                    words.is, layers->is_share ? ", half of the room that was free" : "",
                    words.held,
                    layers->is_deep ? ", and what is in directories too deep to be looked at" : "");
    error_hint(err,
               "raise it with --set sandbox.limits.layer_size=%s; what it changed is still there: "
               "bawn diff %s",
               words.more, layers->session);
}

int breach_refuse_layers(const struct breach_layers *layers, struct bawn_error *err)
{
    struct layers_words words = layers_words(layers);

    (void)error_set(err, EDQUOT, "limit.layer_size",
                    "what session %s changed takes more than %s (limits.layer_size): its layers "
                    "hold %s",
                    layers->session, words.is, words.held);
    error_hint(err,
               "take it with 'bawn apply %s', drop it with 'bawn discard %s', or raise the limit "
               "with --set sandbox.limits.layer_size=%s",
               layers->session, layers->session, words.more);
    return -EDQUOT;
}

void breach_explain(enum breach breach, const struct cgroup_limits *limits, struct bawn_error *err)
{
    char is[32], more[32];

    switch (breach) {
    case BREACH_NONE:
        break;
    case BREACH_MEMORY:
        size_words(is, sizeof(is), limits->memory, " ");
        size_words(more, sizeof(more), limits->memory * 2, "");
        (void)error_set(err, ENOMEM, "limit.memory",
                        "the memory limit of %s was reached (limits.memory)", is);
        error_hint(err, "raise it with --set sandbox.limits.memory=%s", more);
        break;
    case BREACH_PIDS:
        (void)error_set(err, EAGAIN, "limit.pids",
                        "the limit of %llu processes and threads was reached (limits.pids)",
                        (unsigned long long)limits->pids);
        error_hint(err, "raise it with --set sandbox.limits.pids=%llu",
                   (unsigned long long)limits->pids * 2);
        break;
    case BREACH_CPU:
        (void)error_set(err, EBUSY, "limit.cpu",
                        "the CPU limit of %llu %% slowed the command down (limits.cpu)",
                        (unsigned long long)limits->cpu_percent);
        error_hint(err, "raise it with --set sandbox.limits.cpu=%llu",
                   (unsigned long long)limits->cpu_percent * 2);
        break;
    }
}
