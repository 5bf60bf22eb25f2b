/* SPDX-License-Identifier: Apache-2.0 */
/* Options as rows of tables: the parser, the help, the man page and the completions read them. */
#ifndef VERBS_OPTION_H
#define VERBS_OPTION_H

#include "base/strbuf.h"
#include "base/vec.h"

#include <bawn/error.h>
#include <stdbool.h>

enum option_id {
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_WORKSPACE,
    OPTION_POLICY,
    OPTION_PROFILE,
    OPTION_OVERLAY_ALL,
    OPTION_PRESET,
    OPTION_PATH, /* a path of the policy; its mode is the name of the option */
    OPTION_KEY,  /* a value of the policy; its key is in the row */
    OPTION_SET,
    OPTION_ENV,
    OPTION_CLAUDE,
    OPTION_ISOLATED,
    OPTION_SIZE,
    OPTION_BY,
    OPTION_NESTED,
    OPTION_BUILTIN,
    OPTION_FORMAT,
    OPTION_YES,
    OPTION_DETACH,
    OPTION_STATS,
    OPTION_BEST_EFFORT,
    OPTION_ALL,
    OPTION_GRACE,
    OPTION_IMAGE,
    OPTION_COLS,
    OPTION_ROWS,
    OPTION_DEBUG_LOG,
    OPTION_EVENTS,
    OPTION_SOCKET,
    OPTION_STDIO,
    OPTION_RULES,
    OPTION_VERIFY,
    OPTION_LOG_FORMAT,
    OPTION_FD,
    OPTION_WRITE_BACK,
    OPTION_SESSION,
    OPTION_REVIEW,
    OPTION_LOG_SIZE,
    OPTION_FOLLOW,
    OPTION_TAIL,
    OPTION_RAW,
    OPTION_UID,
    OPTION_PROXY_PORT,
    OPTION_TRANSPARENT,
    OPTION_DNS_PORT,
    OPTION_PORT,
    OPTION_LOOPBACK,
    OPTION_SCOPE,
    OPTION_DRY_RUN,
    OPTION_REOPEN,
    OPTION_PROMPT,
    OPTION_LIST,
    OPTION_ANSWER_YES,
    OPTION_ANSWER_NO,
    OPTION_ANSWER_SCOPE,
    OPTION_ANSWER_SAVE,
    OPTION_STAT,
    OPTION_PATCH,
    OPTION_FILE,
    OPTION_CONFLICTS,
    OPTION_PROTECTED,
    OPTION_SKIP,
    OPTION_INTERACTIVE,
    OPTION_FORCE,
    OPTION_OLDER,
};

/* What a shell can offer where any text may stand. */
enum option_fill { FILL_NOTHING, FILL_FILES, FILL_DIRS };

struct option {
    enum option_id id;
    char letter;  /* 0: only the long form */
    bool repeats; /* each value counts; otherwise a second value is an error */
    bool open;    /* words are those known here: others are passed on */
    enum option_fill fill;
    const char *name;         /* without "--" */
    const char *value;        /* what its value is called; NULL: a flag */
    const char *help;         /* a sentence */
    const char *const *words; /* the values it takes, ended by NULL; NULL: any */
    const char *key;          /* OPTION_KEY: the policy key */
};

/* Rows under one heading. Verbs list the groups they take, ended by NULL. */
struct option_group {
    const char *title;
    const struct option *rows;
    size_t count;
};

struct option_given {
    const struct option *option;
    const char *value; /* NULL for a flag; otherwise borrowed from the arguments */
};

/* What a command line said. */
struct options {
    VEC(struct option_given) given;
    VEC(const char *) words; /* the arguments that are no options */
    bool is_ended;           /* there was a "--" */
    size_t ended_at;         /* how many words were before it */
};

void options_done(struct options *options);
#define autooptions __attribute__((cleanup(options_done)))

/*
 * Adds what args (ended by NULL) say to options. With stop_at_word it ends
 * before the first argument that is no option. Returns how many arguments
 * were used. command is what complaints call the reader, e.g. "bawn check".
 */
int options_parse(struct options *options, const struct option_group *const *groups,
                  char *const *args, bool stop_at_word, const char *command,
                  struct bawn_error *err);

bool options_has(const struct options *options, enum option_id id);
/* The value of an option that does not repeat, or NULL. */
const char *options_value(const struct options *options, enum option_id id);

/* Forgets that it was given. */
void options_drop(struct options *options, enum option_id id);

/* Lists ended by NULL: whether one has the word, which is nearest to it (or NULL),
 * and "a, b or c" with that last conjunction. */
bool words_have(const char *const *words, const char *word);
const char *words_nearest(const char *const *words, const char *word);
void words_join(struct strbuf *out, const char *const *words, const char *conjunction);

/* A word that is none of the list: "what: why", with the nearest one in the hint. */
int words_refuse(const char *const *words, const char *what, const char *word,
                 struct bawn_error *err);

#endif
