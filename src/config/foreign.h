/* SPDX-License-Identifier: Apache-2.0 */
/* What Claude Code's and srt's settings have in common: a table of keys and what each becomes. */
#ifndef CONFIG_FOREIGN_H
#define CONFIG_FOREIGN_H

#include "config/source.h"

struct foreign {
    const struct config_source *source;
    bool asks_unlisted;            /* hosts that no rule names are asked about */
    const struct node *filesystem; /* its "filesystem" section, or NULL */
};

/* What the loader of a key is given: the format, the value and the full key. Returns 0 or -ENOMEM.
 */
struct foreign_row {
    const char *key; /* below the settings' root, e.g. "filesystem.allowWrite" */
    int (*load)(const struct foreign *foreign, const struct node *node, const char *key);
};

/* Ends with a NULL key: "filesystem", "network" and "credentials". */
extern const struct foreign_row foreign_common[];

/* Loads a map by two tables; the second may be NULL. prefix is shown before keys. */
int foreign_load(const struct foreign *foreign, const struct node *map, const char *prefix,
                 const struct foreign_row *common, const struct foreign_row *own);

/* Loaders that several rows use. */
int foreign_meaningless(const struct foreign *foreign, const struct node *node, const char *key);
int foreign_unsupported(const struct foreign *foreign, const struct node *node, const char *key);
/* Something that forbids, and that bawn does not hold. */
int foreign_unheld(const struct foreign *foreign, const struct node *node, const char *key);

/* The value of a key that is true or false; false with a complaint when it is neither. */
bool foreign_read_bool(const struct foreign *foreign, const struct node *node, const char *key,
                       bool *ret_value);

/* A host of an allow (NET_ALLOW), ask or deny list. */
int foreign_host(const struct foreign *foreign, const struct node *node, unsigned verdict,
                 const char *host);

/* Grants a path, if it is one: bawn cannot grant by pattern. mode is ro or rw. */
int foreign_grant(const struct foreign *foreign, const struct node *node, const char *base,
                  const char *mode, const char *text, const char *key);

/* A setting, without a complaint when a project may not set it: the foreign file did not ask. */
int foreign_imply(const struct foreign *foreign, enum setting_id id, const char *value,
                  struct origin origin);

#endif
