/* SPDX-License-Identifier: Apache-2.0 */
#include "differ/steps.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

mode_t choose_mode(struct actor *actor)
{
    static const mode_t modes[] = {0644, 0600, 0666, 0777, 0755, 0700, 0640, 01777,
                                   0444, 0400, 0200, 0,    0751, 0711, 0604, 0100644};

    return PICK_OF(actor, modes);
}

static void tell_slot(struct actor *actor, uint32_t slot)
{
    tell(actor, " s%u%s", slot, actor_is_lost(actor->fds[slot]) ? " lost" : "");
}

int choose_dir(struct actor *actor, unsigned *ret_may)
{
    uint32_t which = actor_pick(actor, 100);
    uint32_t slot = actor_pick(actor, SLOTS);

    *ret_may = MAY_BE_RELATIVE;
    if (which < 60) {
        tell(actor, " cwd");
        return actor->shares ? actor->base_fd : AT_FDCWD;
    }
    if (which >= 96) {
        tell(actor, " bad");
        return which < 98 ? NO_FD : -7;
    }
    tell_slot(actor, slot);
    return actor->fds[slot];
}

int choose_slot(struct actor *actor, unsigned *ret_slot)
{
    *ret_slot = actor_pick(actor, SLOTS);
    tell_slot(actor, *ret_slot);
    return actor->fds[*ret_slot];
}

bool is_outside(const struct actor *actor, const char *link)
{
    char place[ARGUMENT_BYTES];
    ssize_t length = readlink(link, place, sizeof(place) - 1);
    size_t base = strlen(actor->base);

    if (length < 0)
        return true;
    place[length] = '\0';
    return strncmp(place, actor->base, base) != 0 || (place[base] != '/' && place[base] != '\0');
}

void keep(struct actor *actor, uint32_t slot)
{
    char link[64];
    struct stat st;

    if (actor->result < 0)
        return;
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%ld", actor->result);
    if (fstat((int)actor->result, &st) == 0 && !S_ISREG(st.st_mode) && is_outside(actor, link)) {
        close((int)actor->result);
        return;
    }
    if (actor->fds[slot] >= 0)
        close(actor->fds[slot]);
    actor->fds[slot] = (int)actor->result;
}

void tell_opened(struct actor *actor)
{
    if (actor->shares && actor->error == 0)
        tell(actor, " = open");
    else
        tell_result(actor);
    if (actor->error == 0)
        tell_fd(actor, (int)actor->result);
    tell_end(actor);
}

void tell_cwd(struct actor *actor)
{
    char path[ARGUMENT_BYTES];

    if (getcwd(path, sizeof(path))) {
        tell(actor, " ");
        tell_text(actor, path, strlen(path));
    } else {
        tell(actor, " %s", strerrorname_np(errno));
    }
    tell_end(actor);
}
