/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backends, as rows. Plan, doctor, detect, run and status read them, so that
 * they cannot disagree. A backend is a row here, how it is found out whether it
 * works (backend/detect.c), and how it is started (launch/launch.c).
 *
 * A row says who holds a rule of each kind where the host has all that the
 * backend may use. What is missing of it on this host the plan takes away
 * (plan_held_by).
 */
#ifndef BACKEND_BACKEND_H
#define BACKEND_BACKEND_H

#include "kernel/facts.h"

#include <stdbool.h>
#include <stddef.h>

/* Who holds a rule, as a set. */
enum enforcer {
    BY_MOUNT = 1,
    BY_LANDLOCK = 2,
    BY_SECCOMP = 4,
    BY_SUPERVISOR = 8,
    BY_PROXY = 16,
    BY_NAMESPACE = 32,
    BY_CGROUP = 64,
    BY_RLIMIT = 128,
    BY_APPLICATION = 256, /* the program that asks the query API: not the kernel */
    BY_FIREWALL = 1024,   /* nf_tables of the host */
    BY_WATCH = 512, /* the launcher: masks what somebody outside makes, as soon as it sees it */
};

/* "mount, landlock", or "not on this host". */
void enforcer_words(unsigned by, char *out, size_t size);

/* Kinds of rules. */
enum guarantee {
    GUARANTEE_READ,    /* what is not granted cannot be read */
    GUARANTEE_WRITE,   /* nor changed */
    GUARANTEE_INSIDE,  /* a denial inside what is granted */
    GUARANTEE_ABSENT,  /* the same of a name that is not there: nobody inside makes it */
    GUARANTEE_LATE,    /* and what others make there is not seen */
    GUARANTEE_PATTERN, /* all names that match, there or not */
    GUARANTEE_OVERLAY, /* what is written goes to a layer */
    GUARANTEE_PRIVATE, /* an empty place of the sandbox's own, of a size */
    GUARANTEE_NODE,    /* a device or unix socket of the host's, and no other */
    GUARANTEE_SERVICE, /* unix sockets that lie in trees that are shown */
    GUARANTEE_OFFLINE, /* no network */
    GUARANTEE_HOST,    /* this host, and not that one */
    GUARANTEE_ID,      /* who the command is: root inside, ids for containers */
    GUARANTEE_LIMIT,
    GUARANTEE_ASK, /* somebody is asked while it runs */
    GUARANTEE_COUNT,
};

/* A feature without which a backend is none. */
struct backend_need {
    enum feature feature;
    const char *name;
};

struct backend {
    const char *name;
    /* In the order in which they are worth naming; ended by a NULL name. NULL: it is a program, and
     * found out by running it. */
    const struct backend_need *needs;
    unsigned holds[GUARANTEE_COUNT]; /* enum enforcer; 0: nobody */
    bool can_start;                  /* bawn starts commands with it */
};

/* One named "none", which holds nothing, for BACKEND_COUNT and above. */
const struct backend *backend_row(enum backend_id id);

/* Whether plans are made for it, be it to tell what it would hold. */
bool backend_is_planned(enum backend_id id);

/* What commands would be started with here; BACKEND_COUNT: nothing. */
enum backend_id backend_best(const struct host_facts *facts);

/* The one that is meant where none works: the first that commands are started with. */
enum backend_id backend_first(void);

/* Fills facts->backends from the features and, with programs, by trying those that are installed
 * (5 s at most). */
void backend_detect(struct host_facts *facts, bool programs);

#endif
