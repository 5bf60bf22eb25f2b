/* SPDX-License-Identifier: Apache-2.0 */
/* What the files behind include/bawn share. */
#ifndef API_API_H
#define API_API_H

#include "api/repository.h"
#include "api/view.h"
#include "base/environ.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "kernel/facts.h"
#include "plan/plan.h"
#include "policy/model.h"
#include "policy/resolve.h"

#include <bawn/bawn.h>

struct bawn_policy {
    struct policy policy;
    char **environ;                /* the caller's, as it was at loading */
    struct view *view;             /* all that was looked at for it */
    bool is_at_once;               /* see bawn_load_at_once */
    struct git_identity *identity; /* of one that is; or NULL */
    struct repository repository;
    size_t linked; /* what may have names that no rule is about, and nothing tells of new ones */
    char *told;    /* of bawn_policy_inside: the image that all strings are in */
};

struct bawn_host {
    struct host_facts facts;
};

struct bawn_plan {
    struct plan plan;
    const struct bawn_policy *source;
    struct view *view;       /* all that was looked at for it; perhaps the policy's own */
    struct host_facts facts; /* the plan borrows them */
};

/* The view for what is made from a policy: its own, where that is still as the host is. */
struct view *view_of(const struct bawn_policy *policy);
/* Frees it, unless it is the policy's. */
void view_leave(const struct bawn_policy *policy, struct view *view);

/* One thing that was asked to be loaded after the files of the layers. */
struct load_step {
    enum { LOAD_FILE, LOAD_TEXT, LOAD_SET, LOAD_PATH } kind;
    char *name;  /* path of a file, key of a value, mode of a path */
    char *value; /* text of a document, value, path */
    char *extra; /* format of a document, origin of a value or path; may be NULL */
    size_t length;
};

/* What a policy file would say, in place of what is on disk. */
struct load_instead {
    const char *path; /* NULL: nothing is replaced; as assemble.c names it */
    const char *text;
    size_t length;
    bool is_approved;
};

struct bawn_load {
    char *workspace;
    char **environ;
    bool isolated;
    bool claude;
    bool matches;    /* look for the files that patterns hide */
    bool makes;      /* make the directories that are to be made */
    bool at_once;    /* one plan is made of it, now */
    bool no_profile; /* for tests: nothing built in but, unless no_lists, the two lists */
    bool no_lists;
    char *profile;
    const char *org_dir;    /* PLACES_ORG */
    const char *claude_dir; /* "/etc/claude-code" */
    VEC(char *) presets;
    VEC(struct load_step) steps;
    struct load_instead instead; /* borrowed */
};

/* What a looker sees, with each symbolic link that is met: in links, each ended by NUL. */
struct link_notes {
    struct looker looker;
    const struct looker *host;
    struct strbuf links;
};
void link_notes_init(struct link_notes *notes, const struct looker *host);
void link_notes_done(struct link_notes *notes);
/* The next link; start with NULL. NULL behind the last. */
const char *link_notes_next(const struct link_notes *notes, const char *link);

/* The directory of the work, resolved; one that can be entered. */
int load_workspace(const struct bawn_load *load, struct view *view, char **ret_path,
                   struct bawn_error *err);

/* What the caller's environment says of home; absolute and resolved. */
int load_home(struct view *view, char ret_home[LIMIT_PATH_BYTES], struct bawn_error *err);

/*
 * Where configuration is, absolute and resolved. SECURITY: variables may name a
 * place that an earlier command could write, as with tools that keep all files
 * of a project in it. What lies in the workspace is the project's, unless it is
 * in the home that the user database names: that place is sealed in every sandbox
 * of the user's.
 */
struct config_places {
    char user[LIMIT_PATH_BYTES];    /* "": there is none */
    char project[LIMIT_PATH_BYTES]; /* "": there is none */
};
int load_config_places(struct view *view, const char *workspace, struct config_places *ret_places,
                       struct bawn_error *err);

/* The project's directory that holds NAME, the workspace or above it; false when there is none. */
bool load_find_project(struct view *view, const char *workspace, const char *home, const char *name,
                       char ret_dir[LIMIT_PATH_BYTES]);

/* Adds the rules of a finished policy again where their symbolic links lead. */
int links_follow(struct policy *policy, struct view *view, struct bawn_report *report,
                 struct bawn_error *err);

/* The part of a pattern before its first wildcard, as a path; returns where the rest starts. */
const char *links_literal_prefix(const char *pattern, struct strbuf *ret_prefix);

/* Gives each file that a pattern hides in a tree that is shown a rule of its own, unless without
 * patterns, and each further name of a file that is hidden or protected. */
int matches_find(struct policy *policy, struct view *view, bool with_patterns, size_t *ret_linked,
                 struct bawn_report *report, struct bawn_error *err);

/* SHA-256 in hex. */
void hash_text(const char *text, size_t length, char ret_hex[65]);

/* The record of approved project files; "" where there is no place for one. */
int approvals_path(const struct config_places *places, char ret_path[LIMIT_PATH_BYTES],
                   struct bawn_error *err);
bool approvals_has(const char *record, const char *file, const char *sha256);

/* The files that are built in: "profiles/default.yaml". NULL when there is no such file. */
struct builtin_file {
    const char *name;
    const char *text; /* of the two lists: packed (config/packed.h) */
    size_t length;
};
extern const struct builtin_file builtin_files[];
const struct builtin_file *builtin_find(const char *folder, const char *name);

/* What to do about a name that is none: the nearest one, or all there are in the folder. */
void builtin_hint(const char *folder, const char *name, struct strbuf *out);

/* An answer; takes both texts. Returns the verdict, or -ENOMEM: one without its reasons is none. */
int decision_give(enum bawn_verdict verdict, const char *code, struct strbuf *text,
                  struct strbuf *rule, const struct origin *origin, const char *target,
                  struct bawn_decision **ret_decision, struct bawn_error *err);

/* The program that somebody asks about, as the kernel would know it inside. */
struct by_program {
    const struct policy *policy;
    char path[LIMIT_PATH_BYTES]; /* of its file; "": no rule can be for it */
};

/* name: a path, or one in PATH. -EINVAL: there is none inside. */
int program_by(const struct bawn_policy *policy, const char *name, struct by_program *ret_program,
               struct bawn_error *err);
/* For struct net_asker: whether a rule is for it. context: a struct by_program. */
bool program_is_by(void *context, const struct net_rule *rule);

/* May a program be run by its name alone? As exec would look for it. */
int decide_program(const struct bawn_policy *policy, const char *name,
                   struct bawn_decision **ret_decision, struct bawn_error *err);

#endif
