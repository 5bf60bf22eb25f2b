/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a host's firewall that leave one user a proxy on loopback, as text. */
#ifndef PLAN_FIREWALL_H
#define PLAN_FIREWALL_H

#include <bawn/firewall.h>

struct firewall_ids {
    uint32_t first;
    uint32_t last;
};

struct firewall {
    const struct bawn_firewall *reach; /* its user is not read */
    uint32_t uid;
    const char *name; /* or NULL */
    /* Ids that the user can take, besides its own. */
    const struct firewall_ids *further;
    size_t further_count;
};

int firewall_print(const struct firewall *firewall, enum bawn_firewall_format format,
                   char **ret_text, struct bawn_error *err);

#endif
