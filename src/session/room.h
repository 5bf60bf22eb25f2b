/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room that the layers of a session may take (sandbox.limits.layer_size).
 *
 * How it works: no kernel holds it for an ordinary user, so it is looked at. To measure layers
 * takes a walk over all that changed. Each tick asks only how much is free on the disk, which the
 * kernel has in memory, and adds up what the disk has lost, to whomever. Only when that could have
 * brought the layers above the limit are they measured (base/room.h), in a process of its own: the
 * launcher never waits for it. Others that write make it measure more often, and others that remove
 * files hide a part of what was lost, so it is also done now and then. A walk takes at most half of
 * the time.
 *
 * SECURITY: whoever owns a directory may close it, to us, too. So the process enters the sandbox's
 * user namespace, whose owner may look into all that belongs to it.
 */
#ifndef SESSION_ROOM_H
#define SESSION_ROOM_H

#include "base/room.h"
#include "session/aide.h"

/* What was measured; the process that measures and the launcher share it. */
struct room_report {
    uint64_t bytes; /* in the layers, and in files without a name */
    bool is_deep;   /* and further where nobody can look */
    volatile bool is_done;
    volatile bool is_over; /* said by the stand-in */
};

struct room_watch {
    uint64_t limit;   /* bytes; 0: none, or not known yet */
    uint64_t share;   /* not 0: the limit is this and what the layers held at first */
    uint64_t held;    /* as last measured; of a new session nothing */
    uint64_t lost;    /* what the disk has lost since then */
    uint64_t pending; /* the same while it is measured, before that began */
    uint64_t free;    /* bytes on the disk, as last seen */
    bool tells_late;  /* the file system tells of what was written when it is on the disk */
    int64_t measured_ms, began_ms, took_ms;
    struct aide aide;
    struct room_report *report; /* NULL: never measured yet */
    struct aide stand_in;
    bool is_over, is_deep;
};

#endif
