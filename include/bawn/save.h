/* SPDX-License-Identifier: Apache-2.0 */
/* Remembering an answer: one rule into a policy file, or out of it. */
#ifndef BAWN_SAVE_H
#define BAWN_SAVE_H

#include <bawn/query.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A rule in the words of 'bawn policy save': what a person types, what messages print. */
enum bawn_rule_kind {
    BAWN_RULE_READ,      /* "read PATH": sandbox.paths, mode ro */
    BAWN_RULE_WRITE,     /* "write PATH": the same, mode rw */
    BAWN_RULE_DENY,      /* "deny PATTERN": sandbox.deny */
    BAWN_RULE_ASK,       /* "ask PATTERN" */
    BAWN_RULE_PROTECT,   /* "protect PATTERN" */
    BAWN_RULE_CONFIRM,   /* "confirm PATTERN" */
    BAWN_RULE_HOST,      /* "host NAME[:PORT]": sandbox.network.allow */
    BAWN_RULE_ASK_HOST,  /* "ask-host NAME[:PORT]" */
    BAWN_RULE_DENY_HOST, /* "deny-host NAME[:PORT]" */
    BAWN_RULE_HOST_PORT, /* "host-port PORT": sandbox.network.host_ports */
    BAWN_RULE_SOCKET,    /* "socket PATH": sandbox.network.unix_sockets */
    BAWN_RULE_REOPEN,    /* "reopen ENTRY": sandbox.reopen */
    BAWN_RULE_PRESET,    /* "preset NAME": presets */
    BAWN_RULE_KINDS,
};

struct bawn_rule {
    enum bawn_rule_kind kind;
    const char *text; /* a path starts as those of the policy do: a relative one in the workspace */
};

/* The word of a kind, "read"; and the kind of a word, BAWN_RULE_KINDS where it is none. */
BAWN_API const char *bawn_rule_word(enum bawn_rule_kind kind);
BAWN_API enum bawn_rule_kind bawn_rule_kind(const char *word);

/* Which file. */
enum bawn_scope {
    BAWN_SCOPE_USER,    /* bawn/policy.yaml in the user's configuration */
    BAWN_SCOPE_PROJECT, /* .bawn/policy.yaml of the project */
    BAWN_SCOPE_LOCAL,   /* .bawn/local.yaml of it */
    BAWN_SCOPE_ORG,     /* /etc/bawn/policy.yaml; root's */
};

enum bawn_save_flags {
    BAWN_SAVE_DRY_RUN = 1, /* writes nothing, and makes no directory */
    /* The rules may open what is on the built-in lists of secrets and protected paths: who asks has
     * confirmed the very path. Without it such a rule is refused. */
    BAWN_SAVE_REOPEN = 2,
};

/* What was written, or would be. */
struct bawn_saved;

/*
 * Puts rules into a file of the store, all of them or none. Comments, order and the way the
 * file is written stay. load says whose: its workspace and environment. The file is
 * replaced as a whole, under a lock, or stays as it was.
 *
 * bawn loads the policy with the new text first. It refuses, with -EACCES, a rule that would
 * not have its effect: what the org denies stays denied, and *err names the rule that
 * decides, with its file and line. A rule that is there already changes nothing.
 *
 * A project's file may widen only as far as the user approved it. If it was approved, or
 * is new, saving approves the new content, too. In one that was not, rules that narrow can
 * be saved, but none that widens: that would approve what nobody has read.
 *
 * ret_report may be NULL; else it is set on failure, too, where the policy cannot be loaded or the
 * file not be extended.
 */
BAWN_API int bawn_policy_save(const struct bawn_load *load, enum bawn_scope scope,
                              const struct bawn_rule *rules, size_t count, unsigned flags,
                              struct bawn_saved **ret_saved, struct bawn_report **ret_report,
                              struct bawn_error *err);

/* Takes rules out again, all of them or none. -ENOENT: one is not in the file. */
BAWN_API int bawn_policy_forget(const struct bawn_load *load, enum bawn_scope scope,
                                const struct bawn_rule *rules, size_t count, unsigned flags,
                                struct bawn_saved **ret_saved, struct bawn_report **ret_report,
                                struct bawn_error *err);

BAWN_API void bawn_saved_free(struct bawn_saved *saved);
/* The strings belong to it. The path of the file. */
BAWN_API const char *bawn_saved_file(const struct bawn_saved *saved);
/* What changed, as a unified diff; "" where nothing did. */
BAWN_API const char *bawn_saved_diff(const struct bawn_saved *saved);
/* The lines of the file that one of the rules added, changed or took out; "": it was there already.
 * This is what to show to a person before the answer. */
BAWN_API const char *bawn_saved_lines(const struct bawn_saved *saved, size_t index);
/* Whether the file was written, and whether the new content of a project's file was approved. */
BAWN_API bool bawn_saved_is_written(const struct bawn_saved *saved);
BAWN_API bool bawn_saved_is_approved(const struct bawn_saved *saved);

/*
 * The rule that would allow exactly what was refused, and no more. With
 * directory a path's rule is for the directory that it is in, where that holds no secret
 * and is neither the home nor above it; else for the path itself. *ret_text is
 * freed with free(). *ret_reopens: it takes BAWN_SAVE_REOPEN. -EACCES: no rule of the
 * user's can allow it, and err says why; -EEXIST: it is allowed.
 */
BAWN_API int bawn_policy_rule_for(const struct bawn_policy *policy, enum bawn_operation operation,
                                  const char *what, bool directory, enum bawn_rule_kind *ret_kind,
                                  char **ret_text, bool *ret_reopens, struct bawn_error *err);

#ifdef __cplusplus
}
#endif
#endif
