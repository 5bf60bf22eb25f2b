/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be a standard stream of a command.
 *
 * SECURITY: a descriptor is a right to whatever it leads to, wherever the
 * sandbox has its walls. So only what is no more than a stream goes in: files,
 * pipes, /dev/null and its like, unix sockets that are connected. Terminals are
 * replaced. A socket of the host's network could be connected anew, to any
 * port: its bytes are relayed. A file to write could be opened again and read:
 * unless the command may write it by its name anyway, it is written for it. What
 * leads further (a directory, a device, a namespace) is refused.
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

/* What is handed in as it is, is added to streams, which may be NULL. Returns the kind, or a
 * negative errno. */
int stream_judge(int fd, int stream, const struct image *image, struct streams *streams,
                 struct bawn_error *err);

#endif
