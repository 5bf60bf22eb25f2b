/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command that is observed uses of the host, and no rule of the policy grants.
 *
 * How it works: it is told when it comes, once for each path. Of a directory the first
 * names are told, and of all directories the first ones, so that memory stays the same
 * whatever the command opens. What comes again, or is one too many, is only counted, and
 * the counts are told at the end.
 */
#ifndef SUPERVISE_OBSERVE_H
#define SUPERVISE_OBSERVE_H

struct call;
struct observed;
struct reports;

/* A call that opens, runs or enters what is at a path inside. Others are not told. */
void observe_use(const struct call *call, const char *path);
/* The same of what a path leads to, which has other names: also that it was reached by this one. */
void observe_through(const struct call *call, const char *path);

/* Tells what was only counted, and forgets all. */
void observe_done(struct reports *reports);

#endif
