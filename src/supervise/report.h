/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is told of calls: see wire/event.h.
 *
 * How it works: a refusal is told when it comes. The same one again (call, path and
 * answer) is only counted, while it is among the last few; the count is told when
 * it no longer is, and at the end. Of many in a second the first are told, and the
 * number of the others. A call that is allowed costs nothing.
 */
#ifndef SUPERVISE_REPORT_H
#define SUPERVISE_REPORT_H

#include "wire/event.h"

struct call;
struct caller;
struct call_kind;
struct observed;

enum { REPORT_REFUSALS = 32, REPORT_GITFILES = 8, REPORT_PATH_BYTES = 1024 };

typedef void (*report_event)(void *context, const struct event *event);

struct refusal {
    const struct call_kind *kind; /* NULL: none */
    int errnum;
    uint32_t verdict;
    uint32_t untold; /* how often since it was told */
    const char *op;
    char *path, *rule, *hint;
};

struct reports {
    report_event report; /* or NULL */
    void *context;
    struct refusal refusals[REPORT_REFUSALS];
    unsigned next;
    int64_t second; /* the last one in which one was told */
    unsigned told;  /* in that second */
    uint32_t lost;  /* not told, and forgotten */
    uint64_t last;  /* the call that was reported last, by the id of its notification */
    char *gitfiles[REPORT_GITFILES];
    unsigned gitfile_count;
    struct observed *observed; /* see observe.h; owned. NULL: nothing yet */
};

/* The program of a caller. */
void report_exe(struct caller *caller, char *exe, size_t size);

void report_refusal(const struct call *call, const char *path, int errnum);
/* The kernel refused what the rules left to a read-only mount: also a refusal, if it is not one
 * already. */
void report_read_only(const struct call *call);
/* A call waits for somebody else, and too many do already. */
void report_limit(const struct call *call, int errnum);
/* SECURITY: a file at the name .git leads git to any repository, and what it says is written after
 * it was opened. Where such files may be made, they are told: the first ones, and that there are
 * more. */
void report_write(const struct call *call, const char *path);
/* Tells what was only counted. */
void reports_done(struct reports *reports);

#endif
