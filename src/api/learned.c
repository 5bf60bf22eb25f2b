/* SPDX-License-Identifier: Apache-2.0 */
/* What a command used, as its events tell it. */
#include "api/learned.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "config/node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HOSTS_MAX = 256, SCRIPT_HOPS = 4 };

int bawn_learned_new(struct bawn_learned **ret_learned, struct bawn_error *err)
{
    *ret_learned = calloc(1, sizeof(**ret_learned));
    return *ret_learned ? 0 : error_memory(err);
}

void bawn_learned_free(struct bawn_learned *learned)
{
    if (!learned)
        return;
    free(learned->command);
    free(learned->cwd);
    learned_done(&learned->paths);
    vec_each (&learned->hosts, host)
        free(host->what);
    vec_done(&learned->hosts);
    vec_each (&learned->unlearned, unlearned) {
        free((char *)unlearned->what);
        free((char *)unlearned->why);
        free((char *)unlearned->program);
    }
    vec_done(&learned->unlearned);
    vec_each (&learned->rules, rule)
        free((char *)rule->text);
    vec_done(&learned->rules);
    vec_each (&learned->evidence, evidence) {
        free((char *)evidence->program);
        free((char *)evidence->first);
    }
    vec_done(&learned->evidence);
    free(learned);
}

/* 126 and 127 may be the command's own, if somebody inside did anything. */
bool bawn_learned_has_started(const struct bawn_learned *learned, int status)
{
    return learned->has_started && (learned->has_acted || (status != 126 && status != 127));
}

size_t bawn_learned_count(const struct bawn_learned *learned)
{
    return learned->rules.count;
}

const struct bawn_rule *bawn_learned_rules(const struct bawn_learned *learned)
{
    return learned->rules.items;
}

const struct bawn_evidence *bawn_learned_evidence(const struct bawn_learned *learned, size_t index)
{
    return index < learned->evidence.count ? &learned->evidence.items[index] : NULL;
}

const struct bawn_unlearned *bawn_learned_refused(const struct bawn_learned *learned, size_t index)
{
    return index < learned->unlearned.count ? &learned->unlearned.items[index] : NULL;
}

uint64_t bawn_learned_left_out(const struct bawn_learned *learned)
{
    return learned->left_out + learned->paths.left_out;
}

static const char *text_of(const struct node *event, const char *key)
{
    const struct node *node = node_get(event, key);

    return node && node->text ? node->text : "";
}

static uint64_t number_of(const struct node *event, const char *key, uint64_t otherwise)
{
    const char *text = text_of(event, key);

    return *text ? strtoull(text, NULL, 10) : otherwise;
}

static bool is_run(const struct node *event)
{
    return strncmp(text_of(event, "call"), "execve", 6) == 0;
}

/* What people call the program: its first word, without the directory; of one that is run its file.
 */
static void name_program(const struct node *event, char ret_name[static LEARNED_PROGRAM_BYTES])
{
    const struct node *argv = node_get(event, "argv");
    const char *word = argv && argv->first && argv->first->text ? argv->first->text : "";
    const char *slash;

    if (is_run(event))
        word = text_of(event, "path");
    slash = strrchr(word, '/');

    word = slash && slash[1] ? slash + 1 : word;
    (void)snprintf(ret_name, LEARNED_PROGRAM_BYTES, "%s", *word ? word : text_of(event, "comm"));
}

static int take_host(struct bawn_learned *learned, const struct node *event, const char *program)
{
    struct use use = {.is_lookup = strcmp(text_of(event, "call"), "lookup") == 0,
                      .uses = number_of(event, "times", 1)};
    const char *what = text_of(event, "path");

    vec_each (&learned->hosts, known) {
        if (strcmp(known->what, what) == 0) {
            known->uses += use.uses;
            return 0;
        }
    }
    if (learned->hosts.count == HOSTS_MAX) {
        learned->left_out += use.uses;
        return 0;
    }
    (void)snprintf(use.program, sizeof(use.program), "%s", program);
    use.what = strdup(what);
    if (use.what && vec_push(&learned->hosts, use))
        return 0;
    free(use.what);
    return -ENOMEM;
}

int learned_take_interpreters(struct bawn_learned *learned, const char *path, const char *program)
{
    char script[LIMIT_PATH_BYTES];
    int r = 0;

    (void)snprintf(script, sizeof(script), "%s", path);
    for (unsigned hops = 0; r == 0 && hops < SCRIPT_HOPS; hops++) {
        autoclose int fd = open(script, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        char line[256];
        ssize_t length = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
        char *start = line + 2;

        if (length < 4 || line[0] != '#' || line[1] != '!')
            return 0;
        line[length] = '\0';
        start += strspn(start, " \t");
        start[strcspn(start, " \t\r\n")] = '\0';
        if (*start != '/')
            return 0;
        (void)snprintf(script, sizeof(script), "%s", start);
        r = learned_add(&learned->paths, script, false, false, program, 1);
    }
    return r;
}

static int take_path(struct bawn_learned *learned, const struct node *event, const char *program)
{
    const char *path = text_of(event, "path");
    bool writes = strcmp(text_of(event, "op"), "write") == 0;
    uint64_t uses = number_of(event, "times", 1);
    int r;

    if (*path != '/' || strlen(path) >= LIMIT_PATH_BYTES)
        return 0;
    if (!writes && strcmp(text_of(event, "op"), "read") != 0)
        return 0;
    r = learned_add(&learned->paths, path, writes, false, program, uses);
    return r == 0 && is_run(event) ? learned_take_interpreters(learned, path, program) : r;
}

static int take_start(struct bawn_learned *learned, const struct node *event)
{
    const struct node *argv = node_get(event, "argv");

    learned->has_started = true;
    learned->command = strdup(argv && argv->first && argv->first->text ? argv->first->text : "");
    learned->cwd = strdup(text_of(event, "cwd"));
    return learned->command && learned->cwd ? 0 : -ENOMEM;
}

int bawn_learned_take(struct bawn_learned *learned, const char *line, size_t length,
                      struct bawn_error *err)
{
    struct arena arena = {0};
    const struct node *event = node_from_json(&arena, "events", line, length, NULL);
    const char *what = event ? text_of(event, "event") : "";
    char program[LEARNED_PROGRAM_BYTES] = "";
    int r = 0;

    if (event)
        name_program(event, program);
    if (strcmp(what, "start") == 0 && !learned->has_started)
        r = take_start(learned, event);
    else if (strcmp(what, "used") == 0 || strcmp(what, "refused") == 0)
        r = take_path(learned, event, program);
    else if (strcmp(what, "barred") == 0 || strcmp(what, "reached") == 0)
        r = take_host(learned, event, program);
    if (event && *what) {
        learned->has_acted = learned->has_acted || (*text_of(event, "comm") &&
                                                    strcmp(text_of(event, "comm"), "bawn") != 0);
        learned->left_out += number_of(event, "lost", 0);
        learned->left_out += number_of(event, "lost_before", 0);
    }
    arena_done(&arena);
    return r < 0 ? error_memory(err) : 0;
}
