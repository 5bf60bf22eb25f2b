/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow: VEC(struct x) xs = {0}; vec_push(&xs, x); vec_each (&xs, item) ... */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stdlib.h>

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count;                                                                              \
        size_t size;                                                                               \
    }

/* Room for one more item of item_size bytes; doubles, so that pushing is linear overall. */
static inline bool vec_reserve(void **items, size_t count, size_t *size, size_t item_size)
{
    size_t wanted = *size ? *size * 2 : 8;
    void *grown;

    if (count < *size)
        return true;
    grown = reallocarray(*items, wanted, item_size);
    if (!grown)
        return false;
    *items = grown;
    *size = wanted;
    return true;
}

/* False when out of memory; the vector is then as it was. */
#define vec_push(vec, item)                                                                        \
    (vec_reserve((void **)&(vec)->items, (vec)->count, &(vec)->size, sizeof(*(vec)->items))        \
         ? ((vec)->items[(vec)->count++] = (item), true)                                           \
         : false)

#define vec_each(vec, item)                                                                        \
    for (__auto_type item = (vec)->count ? (vec)->items : NULL;                                    \
         (item) && (item) < (vec)->items + (vec)->count; (item)++)

#define vec_done(vec)                                                                              \
    do {                                                                                           \
        free((vec)->items);                                                                        \
        (vec)->items = NULL;                                                                       \
        (vec)->count = (vec)->size = 0;                                                            \
    } while (0)

#endif
