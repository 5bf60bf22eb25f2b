/* SPDX-License-Identifier: Apache-2.0 */
/* What a command used becomes rules to propose: what 'bawn learn' does. */
#ifndef BAWN_LEARN_H
#define BAWN_LEARN_H

#include <bawn/save.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bawn_learned;

BAWN_API int bawn_learned_new(struct bawn_learned **ret_learned, struct bawn_error *err);
BAWN_API void bawn_learned_free(struct bawn_learned *learned);

/* One line of what 'bawn run --events FD' writes, of a run with sandbox.process.observe. Lines of
 * other kinds are passed over. Memory is bounded: what finds no room is counted. */
BAWN_API int bawn_learned_take(struct bawn_learned *learned, const char *line, size_t length,
                               struct bawn_error *err);

/* Whether the command was started, when this is the exit status of the run. */
BAWN_API bool bawn_learned_has_started(const struct bawn_learned *learned, int status);

/*
 * Makes the rules that the policy of load lacks for what was used; once. Many files
 * become their directory, and paths that a preset for a toolchain covers become that preset.
 * SECURITY: no rule opens what is on the built-in list of secrets, or what a rule refuses; none is
 * for a home, for what holds one, or for a directory of the system.
 */
BAWN_API int bawn_learned_propose(struct bawn_learned *learned, const struct bawn_load *load,
                                  struct bawn_error *err);

/* Why a rule is proposed. The strings belong to the object; they are raw: escape what is shown. */
struct bawn_evidence {
    const char *program; /* the first that used it; "": nobody knows */
    const char *first;   /* the first path or host of it that was seen */
    uint64_t uses;       /* how often */
    size_t paths;        /* how many different paths */
};
BAWN_API size_t bawn_learned_count(const struct bawn_learned *learned);
BAWN_API const struct bawn_rule *bawn_learned_rules(const struct bawn_learned *learned);
BAWN_API const struct bawn_evidence *bawn_learned_evidence(const struct bawn_learned *learned,
                                                           size_t index);

/* What was refused, or only lent, and is not proposed; with the reason. NULL behind the last. */
struct bawn_unlearned {
    const char *operation; /* "read", "write", "connect", ... */
    const char *what;
    const char *why;
    const char *program;
    uint64_t uses;
};
BAWN_API const struct bawn_unlearned *bawn_learned_refused(const struct bawn_learned *learned,
                                                           size_t index);

/* How many uses were seen that there was no room for. */
BAWN_API uint64_t bawn_learned_left_out(const struct bawn_learned *learned);

#ifdef __cplusplus
}
#endif
#endif
