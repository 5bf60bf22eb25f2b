/* SPDX-License-Identifier: Apache-2.0 */
/* A policy on its way from many files: what the parts of loading share. */
#ifndef API_ASSEMBLY_H
#define API_ASSEMBLY_H

#include "api/api.h"
#include "config/config.h"

struct pending {
    struct config_document document;
    enum layer_id id;
    enum authority authority;
    const char *base;
    char sha256[65];
};

struct assembly {
    const struct bawn_load *load;
    struct bawn_policy *result;
    struct view *view; /* the result's */
    struct policy *policy;
    struct bawn_report *report;
    struct bawn_error *err;
    VEC(struct pending) documents;
    struct config_places config;
    char *approvals; /* the record, or NULL */
    bool lends_home; /* what is in the home is shown to who is observed */
};

/* A copy that lives as long as the policy. NULL when out of memory. */
const char *assembly_keep(struct assembly *assembly, const char *text);

/* What $NAME in front of a path stands for; home and workspace are known by then. */
int assembly_make_places(struct assembly *assembly);

/* The built-in layer; the documents, which name its parts, are read by then. */
int assembly_load_builtins(struct assembly *assembly);

/* The layer of the BAWN_* variables. */
int assembly_load_variables(struct assembly *assembly);

/* Makes the policy's own files unwritable. */
int assembly_seal(struct assembly *assembly);

/* Of a finished policy: in a filtered network of another sandbox, its proxy is ours, too. */
void assembly_use_outer_proxy(struct assembly *assembly);

/* sandbox.process.observe: settings, before the policy is finished; then what is shown of the home.
 */
int assembly_observe(struct assembly *assembly);
int assembly_observe_home(struct assembly *assembly);

/* Of a finished policy: grants what git needs of the repository that the workspace is in. */
int assembly_grant_repository(struct assembly *assembly);

/* Of a finished policy: overlays over trees in which something is mounted become several. */
int assembly_divide_overlays(struct assembly *assembly);

/* A path into out, which is returned. */
__attribute__((format(printf, 2, 3))) const char *assembly_path(char out[LIMIT_PATH_BYTES],
                                                                const char *format, ...);

/* Paths that are not there: made where that was asked for, else an error on the command line. */
int assembly_examine_missing(struct assembly *assembly);
/* What else of the whole policy would have no effect in silence. */
int assembly_examine(struct assembly *assembly);

#endif
