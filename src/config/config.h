/* SPDX-License-Identifier: Apache-2.0 */
/* Text of any known format into one layer of a policy. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "config/node.h"
#include "policy/model.h"

enum config_format {
    FORMAT_UNKNOWN,
    FORMAT_BAWN,      /* bawn YAML */
    FORMAT_SANDBOXES, /* YAML, the older "sandboxes: {NAME: {path, mode}}" */
    FORMAT_CLAUDE,    /* the sandbox and permissions parts of Claude Code's settings.json */
    FORMAT_SRT,       /* srt settings JSON */
};

/* FORMAT_UNKNOWN when the name is none. */
enum config_format config_format_find(const char *name);

/* A document that was read, and not yet put into a policy. */
struct config_document {
    const char *file; /* for complaints; must outlive the policy */
    enum config_format format;
    struct arena arena;
    struct node *root;
};

/*
 * Reads a document whose file is set. FORMAT_UNKNOWN tells the format from the
 * content. Returns 0, or -EINVAL with a complaint.
 */
int config_parse(struct config_document *document, enum config_format format, const char *text,
                 size_t length, struct bawn_report *report);
void config_document_done(struct config_document *document);

/* The profile that a bawn document names, or NULL; and the first of its presets (a list of scalar
 * nodes), or NULL. Both must be known before the first layer is made. */
const struct node *config_profile(const struct config_document *document);
const struct node *config_presets(const struct config_document *document);
/* The first of the keys it locks, likewise. */
const struct node *config_locks(const struct config_document *document);

/* Where the values of a document go. */
struct config_source {
    struct policy *policy;
    const struct layer *layer;
    const char *file; /* for complaints; must outlive the policy */
    const char *base; /* what relative paths start from */
    struct bawn_report *report;
};

/* Puts a document into a layer. Complaints go to the report, and 0 is returned even then; -ENOMEM
 * when memory is short. */
int config_load(const struct config_source *source, const struct config_document *document);

/* A built-in list, packed (packed.h): {secrets: [{path, why}]} or {protected: [{path, why}]}. */
int config_read_list(const struct config_source *source, enum rule_kind kind, const char *bytes,
                     size_t length);

/* One value by its key, as on the command line. */
int config_set(const struct config_source *source, const char *key, const char *value,
               struct origin origin);

/* One path with a mode, as on the command line. */
int config_set_path(const struct config_source *source, const char *mode, const char *path,
                    struct origin origin);

/* The keys of bawn YAML, for its manual: by index from 0; false past the last. */
struct config_key {
    const char *key;
    char takes[160];
    const char *help;
};
bool config_key(size_t index, struct config_key *ret_key);

#endif
