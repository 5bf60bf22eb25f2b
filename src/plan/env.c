/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the command: an allow-list, never the caller's whole one. */
#include "plan/plan.h"
#include "policy/build.h"
#include "policy/network.h"
#include "wire/net.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_listed(const struct policy *policy, enum list_id list, const char *name,
                      size_t length)
{
    vec_each (&policy->items, item) {
        if (item->list == list && env_matches(item->value, name, length))
            return true;
    }
    return false;
}

static int add_env(struct plan *plan, const char *name, size_t length, const char *value,
                   bool passed)
{
    struct env_step step = {.name = arena_strndup(&plan->arena, name, length),
                            .value = arena_strdup(&plan->arena, value),
                            .passed = passed};

    if (!step.name || !step.value)
        return -ENOMEM;
    vec_each (&plan->env, other) {
        if (strcmp(other->name, step.name) == 0) {
            *other = step;
            return 0;
        }
    }
    return vec_push(&plan->env, step) ? 0 : -ENOMEM;
}

enum proxy_value { PROXY_URL, PROXY_ALL, PROXY_NONE, PROXY_ON };

/*
 * What tells programs of the proxy. Without it they reach the same hosts, but a
 * program that is refused by a proxy gets the reason as text.
 *
 * Only variables whose readers heed no_proxy too: a server inside, on loopback, is not behind
 * the proxy. So there is none for pip (PIP_PROXY), rsync (RSYNC_PROXY) and Yarn: pip reads
 * https_proxy, and the others are redirected. No SOCKS in all_proxy: Python's httpx makes no
 * client with one unless it has a further package, and gRPC refuses it. JAVA_TOOL_OPTIONS
 * prints a line in each program.
 */
static const struct {
    const char *name;
    enum proxy_value value;
} proxy_table[] = {
    /* curl and git read http_proxy in lower case only, others only capitals. */
    {"http_proxy", PROXY_URL},
    {"HTTP_PROXY", PROXY_URL},
    {"https_proxy", PROXY_URL},
    {"HTTPS_PROXY", PROXY_URL},
    /* Of libcurl and Python, for schemes without one of their own. */
    {"all_proxy", PROXY_ALL},
    {"ALL_PROXY", PROXY_ALL},
    {"no_proxy", PROXY_NONE},
    {"NO_PROXY", PROXY_NONE},
    /* Node's own fetch and http heed the others only with it. */
    {"NODE_USE_ENV_PROXY", PROXY_ON},
    /* npm and pnpm put them before the others. */
    {"npm_config_proxy", PROXY_URL},
    {"npm_config_https_proxy", PROXY_URL},
    {"npm_config_noproxy", PROXY_NONE},
    /* cargo puts it before the settings of git. */
    {"CARGO_HTTP_PROXY", PROXY_URL},
    /* gRPC puts them before the others. */
    {"grpc_proxy", PROXY_URL},
    {"no_grpc_proxy", PROXY_NONE},
};

/* Whether the policy passes on this very variable. */
static bool is_passed(const struct policy *policy, const char *name)
{
    vec_each (&policy->items, item) {
        if (item->list == LIST_ENV_PASS && strcmp(item->value, name) == 0)
            return true;
    }
    return false;
}

static int add_proxy(struct plan *plan)
{
    const struct policy *policy = plan->policy;
    uint64_t mode = policy_number(policy, SETTING_NETWORK_MODE);
    uint64_t http = policy_number(policy, SETTING_NETWORK_HTTP_PROXY_PORT);
    uint64_t socks = policy_number(policy, SETTING_NETWORK_SOCKS_PROXY_PORT);
    char url[40], all[40];
    const char *const values[] = {[PROXY_URL] = url,
                                  [PROXY_ALL] = all,
                                  [PROXY_NONE] = "localhost,127.0.0.1,::1",
                                  [PROXY_ON] = "1"};
    int r = 0;

    if ((mode != NETWORK_PROXY && mode != NETWORK_ISOLATED) || network_is_routed(policy) ||
        !policy_number(policy, SETTING_NETWORK_PROXY_ENV))
        return 0;
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u", http ? (unsigned)http : NET_PORT);
    (void)snprintf(all, sizeof(all), socks ? "socks5h://127.0.0.1:%u" : "http://127.0.0.1:%u",
                   socks  ? (unsigned)socks
                   : http ? (unsigned)http
                          : NET_PORT);
    for (size_t i = 0; r == 0 && i < sizeof(proxy_table) / sizeof(proxy_table[0]); i++) {
        const char *name = proxy_table[i].name;

        if (!is_passed(policy, name) && !is_listed(policy, LIST_ENV_DENY, name, strlen(name)))
            r = add_env(plan, name, strlen(name), values[proxy_table[i].value], false);
    }
    return r;
}

/* git looks for the repository above where it is, but not past the edge of a file system: what is
 * around the workspace may be one of our own, and an overlay is. */
static int add_git(struct plan *plan)
{
    static const char name[] = "GIT_DISCOVERY_ACROSS_FILESYSTEM";
    const struct policy *policy = plan->policy;

    return policy->repository && strcmp(policy->repository, policy->workspace) != 0
               ? add_env(plan, name, sizeof(name) - 1, "1", false)
               : 0;
}

int plan_env(struct plan *plan, const char *const *environ)
{
    static const char *const own[][2] = {
        {"HISTFILE", "/dev/null"}, {"TMPDIR", "/tmp"}, {"TMPPREFIX", "/tmp/zsh"}};
    const struct policy *policy = plan->policy;
    int r = 0;

    for (; r == 0 && environ && *environ; environ++) {
        size_t length = strcspn(*environ, "=");

        if ((*environ)[length] == '=' && length > 0 && !env_is_dangerous(*environ, length) &&
            is_listed(policy, LIST_ENV_PASS, *environ, length) &&
            !is_listed(policy, LIST_ENV_DENY, *environ, length))
            r = add_env(plan, *environ, length, *environ + length + 1, true);
    }
    for (size_t i = 0; r == 0 && i < sizeof(own) / sizeof(own[0]); i++)
        r = add_env(plan, own[i][0], strlen(own[i][0]), own[i][1], false);
    if (r == 0)
        r = add_proxy(plan);
    if (r == 0)
        r = add_git(plan);
    vec_each (&policy->items, item) {
        if (r == 0 && item->list == LIST_ENV_SET && !env_is_fixed(item->key) &&
            !env_is_dangerous(item->key, strlen(item->key)) &&
            !is_listed(policy, LIST_ENV_DENY, item->key, strlen(item->key)))
            r = add_env(plan, item->key, strlen(item->key), item->value, false);
    }
    return r;
}
