/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filtered network inside another one's: the proxy of the outer sandbox is the upstream proxy of
 * ours, unless the policy names one.
 *
 * How it works: an address that the outer sandbox gives out stands for a name there, and says
 * nothing of where it leads. So names are left to it, and its rules hold for all that ours let
 * through. It is known by its root and by who answers for names.
 */
#include "api/assembly.h"
#include "api/outer.h"
#include "base/cleanup.h"
#include "policy/build.h"
#include "wire/net.h"

#include <string.h>

static const char outer_proxy[] = "http://127.0.0.1:800";
_Static_assert(NET_PORT == 800, "as it is written here");

enum { RESOLV_BYTES = 8192 };

static bool filters_around(struct view *view)
{
    static const char server[] = "\nnameserver " NET_DNS_ADDRESS "\n";
    autofree char *text = NULL;
    struct stat root;
    size_t length;

    /* Noted, so that a plan knows where it was made. */
    return view_stat(view, "/", &root) && outer_is_there() &&
           view_read(view, "/etc/resolv.conf", RESOLV_BYTES, &text, &length, NULL) == 0 &&
           strstr(text, server);
}

void assembly_use_outer_proxy(struct assembly *assembly)
{
    struct policy *policy = assembly->policy;
    struct setting *proxy = &policy->settings[SETTING_NETWORK_UPSTREAM_PROXY];

    if (policy_number(policy, SETTING_NETWORK_MODE) != NETWORK_PROXY || proxy->is_set ||
        !filters_around(assembly->view))
        return;
    vec_each (&policy->layers, layer) {
        if ((*layer)->authority == AUTHORITY_BUILTIN)
            *proxy = (struct setting){.is_set = true,
                                      .text = outer_proxy,
                                      .layer = *layer,
                                      .origin = {.file = "the sandbox around this one"}};
    }
}
