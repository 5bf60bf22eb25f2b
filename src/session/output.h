/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a detached command says: the last of it is kept, and those who are
 * attached see it as it comes.
 *
 * How it works: one ring, and for each viewer how far it has read. A viewer
 * that is a whole ring behind makes the command wait, as a slow terminal does;
 * with no viewer nobody waits.
 */
#ifndef SESSION_OUTPUT_H
#define SESSION_OUTPUT_H

#include "base/loop.h"

#include <sys/ioctl.h>

/* Eight clients, and who keeps it. */
enum { OUTPUT_RING_BYTES = 64 * 1024, OUTPUT_VIEWERS_MAX = 9, OUTPUT_KEYS_BYTES = 4096 };

struct output;
struct viewer;

/* fd is where the command's output comes from, and, with a terminal, where keys go. Borrowed. */
int output_new(struct loop *loop, int fd, bool is_terminal, struct output **ret_output,
               struct bawn_error *err);
/* One more line, of our own: as if the command had said it. */
void output_say(struct output *output, const char *text);
/* Takes in what there is at the command's end, handing it out as it comes. */
void output_collect(struct output *output);
/* Hands out what is left, waiting a little for viewers that are slow. */
void output_free(struct output *output);

/* Returns the viewer's end of a stream: what was said and is said; keys go the other way. */
int output_attach(struct output *output, const struct winsize *size, struct viewer **ret_viewer,
                  struct bawn_error *err);
void output_detach(struct viewer *viewer);
void output_resize(struct output *output, const struct winsize *size);
size_t output_viewers(const struct output *output);

#endif
