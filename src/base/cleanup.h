/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership of memory and descriptors, tied to the scope of a variable. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The attribute passes the address of the variable, whatever its pointer type. */
static inline void cleanup_free(void *pointer_address)
{
    free(*(void **)pointer_address);
}

static inline void cleanup_close(const int *fd)
{
    if (*fd >= 0) {
        int saved = errno;

        close(*fd);
        errno = saved;
    }
}

#define autofree  __attribute__((cleanup(cleanup_free)))
#define autoclose __attribute__((cleanup(cleanup_close)))

/* Gives the value away: the variable no longer owns it. */
#define take_ptr(address)                                                                          \
    ({                                                                                             \
        __typeof__(*(address)) taken_ = *(address);                                                \
        *(address) = NULL;                                                                         \
        taken_;                                                                                    \
    })

static inline int take_fd(int *fd)
{
    int taken = *fd;

    *fd = -EBADF;
    return taken;
}

#endif
