/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/backend.h"

#include <stdio.h>

void enforcer_words(unsigned by, char *out, size_t size)
{
    static const char *const words[] = {"mount",       "landlock",  "seccomp", "supervisor",
                                        "proxy",       "namespace", "cgroup",  "rlimit",
                                        "application", "watch",     "firewall"};
    size_t used = 0;

    (void)snprintf(out, size, "%s", by ? "" : "not on this host");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (by & 1U << i && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", words[i]);
}

static const struct backend_need native_needs[] = {
    {FEATURE_USER_NS, "user namespaces"},        {FEATURE_MOUNT_NS, "mount namespaces"},
    {FEATURE_PIVOT_ROOT, "pivot_root"},          {FEATURE_PID_NS, "PID namespaces"},
    {FEATURE_NET_NS, "network namespaces"},      {FEATURE_IPC_NS, "IPC namespaces"},
    {FEATURE_SECCOMP, "seccomp filters"},        {FEATURE_PIDFD, "clone3 with a pidfd"},
    {FEATURE_OPEN_TREE, "mounts by descriptor"}, {FEATURE_OPENAT2, "openat2"},
    {FEATURE_CLOSE_RANGE, "close_range"},        {FEATURE_COUNT, NULL},
};

static const struct backend_need landlock_needs[] = {
    {FEATURE_LANDLOCK, "Landlock"},
    {FEATURE_SECCOMP, "seccomp filters"},
    {FEATURE_COUNT, NULL},
};

/* The first that works is used. Nobody asks yet. */
static const struct backend table[BACKEND_COUNT + 1] = {
    [BACKEND_NATIVE] = {.name = "native",
                        .needs = native_needs,
                        .holds = {[GUARANTEE_READ] = BY_MOUNT,
                                  [GUARANTEE_WRITE] = BY_MOUNT,
                                  [GUARANTEE_INSIDE] = BY_MOUNT,
                                  [GUARANTEE_ABSENT] = BY_SUPERVISOR,
                                  [GUARANTEE_LATE] = BY_WATCH,
                                  [GUARANTEE_PATTERN] = BY_MOUNT | BY_SUPERVISOR,
                                  [GUARANTEE_OVERLAY] = BY_MOUNT,
                                  [GUARANTEE_PRIVATE] = BY_MOUNT,
                                  [GUARANTEE_NODE] = BY_MOUNT,
                                  [GUARANTEE_SERVICE] = BY_MOUNT,
                                  [GUARANTEE_OFFLINE] = BY_NAMESPACE,
                                  [GUARANTEE_HOST] = BY_PROXY,
                                  [GUARANTEE_ID] = BY_NAMESPACE,
                                  [GUARANTEE_LIMIT] = BY_CGROUP | BY_RLIMIT | BY_SUPERVISOR,
                                  [GUARANTEE_ASK] = BY_SUPERVISOR},
                        .can_start = true},
    /* Landlock cannot take back what a parent grants. */
    [BACKEND_LANDLOCK] = {.name = "landlock",
                          .needs = landlock_needs,
                          .holds = {[GUARANTEE_READ] = BY_LANDLOCK,
                                    [GUARANTEE_WRITE] = BY_LANDLOCK,
                                    [GUARANTEE_INSIDE] = BY_SUPERVISOR,
                                    [GUARANTEE_ABSENT] = BY_SUPERVISOR,
                                    [GUARANTEE_PATTERN] = BY_SUPERVISOR,
                                    [GUARANTEE_OFFLINE] = BY_LANDLOCK | BY_SECCOMP,
                                    [GUARANTEE_HOST] = BY_PROXY,
                                    [GUARANTEE_LIMIT] = BY_CGROUP | BY_RLIMIT | BY_SUPERVISOR}},
    [BACKEND_BUBBLEWRAP] = {.name = "bubblewrap"},
    [BACKEND_PODMAN] = {.name = "podman"},
    [BACKEND_DOCKER] = {.name = "docker"},
    [BACKEND_SEATBELT] = {.name = "seatbelt"},
    [BACKEND_COUNT] = {.name = "none"},
};

const struct backend *backend_row(enum backend_id id)
{
    return &table[id < BACKEND_COUNT ? id : BACKEND_COUNT];
}

bool backend_is_planned(enum backend_id id)
{
    return backend_row(id)->holds[GUARANTEE_READ] != 0;
}

enum backend_id backend_best(const struct host_facts *facts)
{
    enum backend_id id = 0;

    while (id < BACKEND_COUNT && !(table[id].can_start && facts->backends[id].available))
        id++;
    return id;
}

enum backend_id backend_first(void)
{
    enum backend_id id = 0;

    while (id < BACKEND_COUNT && !table[id].can_start)
        id++;
    return id;
}
