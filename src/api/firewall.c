/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for the host's firewall: who the user is, and what ids it can take. */
#include "plan/firewall.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"
#include "kernel/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>

enum { SHOWN_BYTES = 256, ENTRY_BYTES = 16384, SUBUID_BYTES = 16 << 20, UID_LAST = UINT32_MAX - 1 };

static int refuse_user(const char *user, const char *why, struct bawn_error *err)
{
    char shown[SHOWN_BYTES];
    int result;

    text_escape(shown, sizeof(shown), user, strlen(user), TEXT_ONE_LINE);
    result = error_set(err, EINVAL, "firewall.user", "'%s': %s", shown, why);
    error_hint(err, "give the name or the number of the user whose processes are to be held");
    return result;
}

/* By its name or its number; one that is only a number needs no name. */
static int find_user(struct firewall *firewall, struct passwd *entry, char buffer[ENTRY_BYTES],
                     struct bawn_error *err)
{
    const char *user = firewall->reach->user;
    struct passwd *found = NULL;
    uint64_t number;
    bool is_number = text_parse_count(user, UID_LAST, &number);
    int failed = is_number ? getpwuid_r((uid_t)number, entry, buffer, ENTRY_BYTES, &found)
                           : getpwnam_r(user, entry, buffer, ENTRY_BYTES, &found);

    if (!found && !is_number)
        return failed && failed != ENOENT ? error_errno(err, failed, "look up a user")
                                          : refuse_user(user, "there is no such user", err);
    firewall->uid = is_number ? (uint32_t)number : found->pw_uid;
    firewall->name = found ? found->pw_name : NULL;
    if (firewall->uid == 0)
        return refuse_user(user, "without root's network this host would be cut off", err);
    return 0;
}

struct id_list {
    VEC(struct firewall_ids) ranges;
};

static void id_list_done(struct id_list *list)
{
    vec_done(&list->ranges);
}

/* Those of /etc/subuid. SECURITY: with newuidmap each process of the user can become one of them,
 * and open sockets that are not the user's. */
static int find_further(const struct firewall *firewall, struct id_list *list,
                        struct bawn_error *err)
{
    autofree char *text = NULL;
    char *rest;
    size_t length;
    uint32_t first, count;
    int result = file_read(AT_FDCWD, "/etc/subuid", SUBUID_BYTES, &text, &length, err);

    if (result == -ENOENT)
        return 0;
    if (result < 0)
        return result;
    rest = text;
    while (ids_next_range(&rest, firewall->uid, firewall->name, &first, &count)) {
        struct firewall_ids ids = {first, UID_LAST};

        if (count - 1 < UID_LAST - first)
            ids.last = first + count - 1;
        if (first == 0)
            return refuse_user(firewall->reach->user, "/etc/subuid gives it root's uid", err);
        if (!vec_push(&list->ranges, ids))
            return error_memory(err);
    }
    return 0;
}

static bool has_proxy(const struct bawn_firewall *reach)
{
    return reach->proxy_port || reach->transparent_port;
}

int bawn_firewall_print(const struct bawn_firewall *firewall, enum bawn_firewall_format format,
                        char **ret_text, struct bawn_error *err)
{
    __attribute__((cleanup(id_list_done))) struct id_list list = {0};
    struct firewall filled = {.reach = firewall};
    char buffer[ENTRY_BYTES];
    struct passwd entry;
    int result = find_user(&filled, &entry, buffer, err);

    if (result == 0 && format != BAWN_FIREWALL_IPTABLES_CLEANUP && !has_proxy(firewall))
        result = error_set(err, EINVAL, "firewall.no_proxy", "there is no port of a proxy");
    if (result == 0 && format != BAWN_FIREWALL_PF)
        result = find_further(&filled, &list, err);
    if (result < 0)
        return result;
    filled.further = list.ranges.items;
    filled.further_count = list.ranges.count;
    return firewall_print(&filled, format, ret_text, err);
}
