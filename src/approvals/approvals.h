/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bawn supervise: programs, or rules, answer what sessions ask.
 *
 * How it works: one process beside the sessions. Each of them is connected to as <bawn/approve.h>
 * has it, while somebody is there who can answer: a client that has said hello, or rules. Clients
 * speak newline-delimited JSON (docs/PROTOCOL-approvals.md). What waits is kept once; a client is
 * told of it when it has read what it was told before. So nobody who reads slowly, or not at all,
 * costs more than a buffer, and nobody else waits for it.
 */
#ifndef APPROVALS_APPROVALS_H
#define APPROVALS_APPROVALS_H

#include <bawn/error.h>
#include <stdbool.h>

struct approvals_request {
    const char *sid;         /* NULL: all sessions, also those that start later */
    const char *socket_path; /* NULL: at the usual place */
    const char *rules_path;  /* NULL: none */
    bool uses_socket;
    bool uses_stdio;
    bool is_dry; /* says what the rules would answer, and answers nothing */
    bool json;
    bool quiet;
};

/* Until SIGTERM or SIGINT, the end of standard input or of the one session. */
int approvals_serve(const struct approvals_request *request, struct bawn_error *err);

#endif
