/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the host that are copied into a private place. */
#ifndef LAUNCH_COPY_H
#define LAUNCH_COPY_H

#include "wire/image.h"

#include <stddef.h>

/* Opens the file to be copied, without following a link or waiting for anybody: a descriptor.
 * -ENOENT without a message: there is none. */
int copy_open(const char *path, struct bawn_error *err);

/* For somebody who cannot open it himself: the same, or the null device where there is none. */
int copy_open_for(const char *path, struct bawn_error *err);

/* Makes the copy, with the time of the original: so who looks later sees whether it was changed.
 * What is there already stays. from is the original or, where there is none, the null device. The
 * working directory is the new root. */
int copy_make(int from, const char *target, struct bawn_error *err);

#endif
