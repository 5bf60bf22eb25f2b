/* SPDX-License-Identifier: Apache-2.0 */
/* Which disk a directory is on, as control groups name it. */
#ifndef KERNEL_DISK_H
#define KERNEL_DISK_H

#include "kernel/facts.h"

/* Reads /sys for it. */
void disk_find(const char *path, struct disk *ret_disk);

#endif
