/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be a standard stream of a command.
 *
 * SECURITY: a descriptor is a right to whatever it leads to, past all walls of
 * the sandbox. So only files, pipes, /dev/null and the like, and connected unix
 * sockets go in as they are. We replace terminals. A command could connect a
 * socket of the host's network anew, to any port: we relay its bytes. A command
 * could open a file to write again and read it: unless it may write the file by
 * its name anyway, we write the file for it. We refuse everything that leads
 * further (a directory, a device, a namespace).
 */
#ifndef SESSION_STREAM_H
#define SESSION_STREAM_H

#include "supervise/streams.h"
#include "wire/image.h"

enum stream_kind {
    STREAM_PASSES,
    STREAM_TERMINAL,
    STREAM_RELAYED, /* session/relay.h */
    STREAM_WRITTEN, /* session/scribe.h */
};

/* Adds a stream that goes in as it is to streams, which may be NULL. Returns the kind, or a
 * negative errno. */
int stream_judge(int fd, int stream, const struct image *image, struct streams *streams,
                 struct bawn_error *err);

#endif
