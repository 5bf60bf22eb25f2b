/* SPDX-License-Identifier: Apache-2.0 */
/* The policy as data: layers, rules and settings, each with the place it came from. */
#ifndef POLICY_MODEL_H
#define POLICY_MODEL_H

#include "base/arena.h"
#include "base/map.h"
#include "base/report.h"
#include "base/vec.h"
#include "policy/netrule.h"
#include "policy/pathtree.h"
#include "policy/setting.h"

#include <stdbool.h>
#include <stdint.h>

/* Layers in reading order: a later one is read over an earlier one. */
enum layer_id {
    LAYER_BUILTIN,
    LAYER_ORG,
    LAYER_USER,
    LAYER_PROJECT,
    LAYER_LOCAL,
    LAYER_POLICY,
    LAYER_ENVIRONMENT,
    LAYER_FLAGS,
};

/* Who speaks, the weakest first. What a stronger one denied, a weaker one cannot re-open. */
enum authority {
    AUTHORITY_BUILTIN,  /* the profile: defaults that anybody below may change */
    AUTHORITY_PROJECT,  /* may only narrow */
    AUTHORITY_APPROVED, /* a project file whose content the user approved */
    AUTHORITY_USER,
    AUTHORITY_ORG,
    AUTHORITY_COUNT,
};

/* The name of the layer with what was found out of the workspace's repository. */
#define LAYER_REPOSITORY "repository"

struct layer {
    enum layer_id id;
    enum authority authority;
    unsigned order;     /* position in reading order; files of one layer differ */
    const char *name;   /* "user", or "preset git" */
    const char *file;   /* NULL when it is not a file */
    const char *sha256; /* of the content, in hex; NULL when it is not a file */
};

/* What a rule says of one operation, the laxest first. */
enum access {
    ACCESS_UNSET, /* nothing: a less specific rule decides */
    ACCESS_ALLOW,
    ACCESS_OVERLAY, /* allowed; writes go to a layer that is reviewed later */
    ACCESS_PRIVATE, /* allowed, on a fresh tmpfs: nothing of the host is there */
    ACCESS_ASK,
    ACCESS_DENY,
};

enum rule_kind {
    RULE_PATH,      /* sandbox.paths: a literal path and all below it */
    RULE_PATTERN,   /* sandbox.deny, ask, protect, confirm */
    RULE_SECRET,    /* the built-in list of secrets */
    RULE_PROTECTED, /* the built-in list of paths that stay unwritable */
    RULE_SEALED,    /* a policy file: unwritable, and no rule re-opens it */
};

struct path_rule {
    enum rule_kind kind;
    const char *path;    /* absolute; a pattern when wild is set */
    const char *spelled; /* as the policy spells it */
    const char *name;    /* the key below sandbox.paths; NULL for others */
    const char *reason;  /* why a built-in entry is there; NULL for others */
    const char *link;    /* the path this one was reached from by symbolic links, or NULL */
    enum access read;
    enum access write;
    bool wild;
    bool is_repeat; /* a built-in entry at a further place, a link to a policy file, or a part of a
                       rule's tree */
    bool read_only; /* mode ro: the denial of writes is a lack of a grant, not a denial */
    bool is_new;    /* a directory that is made where there is none */
    bool is_kept;   /* private, but what was written there is there again the next time */
    bool only_dir;  /* says nothing but that what is made at this very path is a directory */
    const char *const *suffixes; /* NULL-terminated, each with its dot; NULL: any */
    uint64_t max_file_bytes;     /* 0: any */
    const struct layer *layer;
    struct origin origin;
};

/* One value of a list. */
struct item {
    enum list_id list;
    const char *key; /* for maps and tool rules; NULL for plain lists */
    const char *value;
    enum access access; /* for tool and command rules */
    bool is_implied;    /* by a setting */
    const struct layer *layer;
    struct origin origin;
};

/* One scalar. */
struct setting {
    bool is_set;
    uint64_t number;  /* bool, word index, count, bytes, percent, seconds, port */
    const char *text; /* as it was written */
    const struct layer *layer;
    struct origin origin;
};

/* The names a path may start with, and what they stand for here. */
struct place {
    const char *name;  /* "HOME" */
    const char *path;  /* absolute, no symbolic links where it exists */
    const char *usual; /* where it would be by default, when that is elsewhere; else NULL */
};

/* What only a policy has that a sandbox is told about itself: then those who ask are inside. */
struct told_self {
    const char *cwd; /* of who asks; NULL: this is no such policy */
    const char *workspace_at;
    bool is_around; /* another sandbox is around this one, and may refuse more */
};

struct policy {
    struct arena arena;
    struct told_self told;
    const char *home;
    const char *workspace;
    const char *repository; /* the work tree that the workspace is in, if git is to work there */
    const char
        *kept_home; /* the host's directory that is the home with sandbox.home: keep; or NULL */
    const struct place *places; /* HOME first; ends with a NULL name */
    VEC(const struct layer *) layers;
    VEC(struct path_rule *) rules;
    struct pathtree tree;
    VEC(struct net_rule *) net_rules;
    struct netindex net_index;
    struct netindex direct_index; /* what goes past the upstream proxy */
    struct setting settings[SETTING_COUNT];
    VEC(struct item) items;
    const char *readable; /* the summaries that refusals end with: "/a, /b", or "none" */
    const char *writable;
    const char *hosts;
};

#endif
