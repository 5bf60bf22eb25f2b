/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where bawn keeps things of its own. A place is opened once and then used by its
 * descriptor; its path is for messages, and for rules that seal it.
 *
 * org       /etc/bawn: policy.yaml.
 * config    ~/.config/bawn, or in XDG_CONFIG_HOME: policy.yaml, the record of
 *           approvals, and the login at an upstream proxy, which every policy hides.
 * plans     ~/.cache/bawn/plans, in the home that /etc/passwd names. SECURITY: a
 *           plan is a whole policy, and whoever writes one has the caller's
 *           rights. So variables have no say in where it is: every policy seals
 *           this very place, and no sandbox of the user's can ever have written
 *           it. Nobody but root and the caller can replace a directory on the way.
 * homes     ~/.local/state/bawn/homes, in that home too, and reached in the same
 *           way: what sandbox.home: keep keeps, one directory for each workspace.
 *           SECURITY: what is in one was made inside. Nothing outside trusts it,
 *           and every policy hides them all.
 * kept      ~/.local/state/bawn/sessions, in the same home and reached the same way:
 *           what detached commands said and how they ended. SECURITY: every policy
 *           seals and hides the place, for it tells of other sandboxes, and 'bawn wait'
 *           believes it.
 * changes   ~/.local/state/bawn/changes, likewise: one directory for each session with
 *           overlays, by its name: what its commands changed, until somebody takes or drops it.
 *           SECURITY: what is in the layers was made inside.
 * audit     ~/.local/state/bawn/audit, likewise: one file for each session, with what it was
 *           refused; and in heads, how many records each has and the hash of the last.
 * sessions  bawn in XDG_RUNTIME_DIR where that is the user's alone; else /run/bawn
 *           for root, /tmp/bawn-UID for others. It is the user's alone, too. No sandbox
 *           sees it. Besides the sessions there is the socket of 'bawn supervise', and
 *           a file that is locked (F_OFD_SETLK) while questions of all sessions are
 *           answered.
 */
#ifndef BASE_PLACES_H
#define BASE_PLACES_H

#include "base/limits.h"

#include <bawn/error.h>
#include <stdbool.h>

#define PLACES_ORG          "/etc/bawn"
#define PLACES_CONFIG_USUAL ".config" /* in the home; of others, too */
#define PLACES_CONFIG       "bawn"    /* in that */
#define PLACES_POLICY       "policy.yaml"
#define PLACES_APPROVED     "approved"
#define PLACES_PROXY_LOGIN  "proxy-login"
#define PLACES_CACHE        ".cache/bawn" /* in the home */
#define PLACES_PLANS        PLACES_CACHE "/plans"
#define PLACES_STATE        ".local/state/bawn" /* in the home */
#define PLACES_HOMES        PLACES_STATE "/homes"
#define PLACES_KEPT         PLACES_STATE "/sessions"
#define PLACES_CHANGES      PLACES_STATE "/changes"
#define PLACES_AUDIT        PLACES_STATE "/audit"
#define PLACES_HEADS        "heads"      /* in that */
#define PLACES_SUPERVISOR   "supervisor" /* beside the sessions */
#define PLACES_ANSWERED     "answered"   /* the same */

/*
 * A directory of configuration, made if it is missing: a descriptor to read it
 * and to lock it. path is resolved: a link on the way is refused. Whoever can
 * change such a directory can change the policy in it, so nothing more is asked.
 */
int places_open_config(const char *path, struct bawn_error *err);

/* The plans: O_PATH, made if that is asked for. A negative number: there is no such place. */
int places_open_plans(bool makes, char ret_path[LIMIT_PATH_BYTES]);

/* The kept home of that name, or with "" the directory of them all: its path, without links. With
 * makes it is there afterwards, the caller's alone, or there is none: a negative errno. */
int places_find_home(const char *name, bool makes, char ret_path[LIMIT_PATH_BYTES],
                     struct bawn_error *err);

/* The same for what is kept of sessions. -ENOENT: it is not there, and was not to be made. Else err
 * says why. */
int places_open_kept(bool makes, char ret_path[LIMIT_PATH_BYTES], struct bawn_error *err);

/* The same for what sessions changed. */
int places_open_changes(bool makes, char ret_path[LIMIT_PATH_BYTES], struct bawn_error *err);

/* The same for the heads of audit trails, which are in the directory of the trails. */
int places_open_heads(bool makes, char ret_path[LIMIT_PATH_BYTES], struct bawn_error *err);

/* Where sessions are. */
enum places_sessions {
    SESSIONS_NAMED, /* by the variable */
    SESSIONS_USUAL, /* without it */
    SESSIONS_LOGIN, /* where the variable leads in most sessions, for those who do not have it */
    SESSIONS_COUNT,
};
enum { PLACES_SESSIONS_BYTES = 1024 };

/* One of them; runtime is the value of XDG_RUNTIME_DIR, or NULL. False: there is none such. */
bool places_sessions(const char *runtime, enum places_sessions which,
                     char ret_path[PLACES_SESSIONS_BYTES]);

/* Where they are or would be, without links. False: nowhere. */
bool places_find_sessions(const char *runtime, char ret_path[PLACES_SESSIONS_BYTES]);

/* Opens that: O_PATH. Where it is missing it is made, or -ENOENT is returned without a message. One
 * that is not the user's alone is refused. */
int places_open_sessions(const char *runtime, bool makes, char ret_path[PLACES_SESSIONS_BYTES],
                         struct bawn_error *err);

#endif
