/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/compare.h"

#include <string.h>

int compare_data(const struct entry *one, const struct entry *other, struct compare_room *room,
                 size_t *ret_read)
{
    autoclose int one_fd = -EBADF;
    autoclose int other_fd = -EBADF;
    ssize_t got;

    if (ret_read)
        *ret_read = 0;
    if (one->status.st_size != other->status.st_size)
        return 0;
    one_fd = entry_open_data(one);
    if (one_fd < 0)
        return one_fd;
    other_fd = entry_open_data(other);
    if (other_fd < 0)
        return other_fd;
    do {
        ssize_t other_got = entry_read(other_fd, room->other, COMPARE_BYTES);

        got = entry_read(one_fd, room->one, COMPARE_BYTES);
        if (got < 0 || other_got < 0)
            return (int)(got < 0 ? got : other_got);
        if (ret_read)
            *ret_read += (size_t)got;
        if (got != other_got || memcmp(room->one, room->other, (size_t)got) != 0)
            return 0;
    } while (got == COMPARE_BYTES);
    return 1;
}

int compare_links(const struct entry *one, const struct entry *other)
{
    char one_target[PATH_MAX];
    char other_target[PATH_MAX];
    int result = entry_read_link(one, one_target);

    if (result >= 0)
        result = entry_read_link(other, other_target);
    return result < 0 ? result : strcmp(one_target, other_target) == 0;
}

bool compare_is_seen(const char *attribute)
{
    return (strncmp(attribute, "user.", 5) == 0 && strncmp(attribute, "user.overlay.", 13) != 0) ||
           strncmp(attribute, "system.posix_acl_", 17) == 0;
}

/* Leaves the names that are compared: how many bytes they are. */
static size_t keep_seen(char *names, size_t length, size_t *ret_count)
{
    size_t kept = 0;

    *ret_count = 0;
    for (size_t at = 0; at < length;) {
        size_t size = strnlen(names + at, length - at) + 1;

        if (at + size > length)
            break;
        if (compare_is_seen(names + at)) {
            memmove(names + kept, names + at, size);
            kept += size;
            ++*ret_count;
        }
        at += size;
    }
    return kept;
}

static int compare_value(const struct entry *one, const struct entry *other, const char *name,
                         char *room, size_t size)
{
    int length = entry_get_attribute(one, name, room, size / 2);
    int other_length = entry_get_attribute(other, name, room + size / 2, size / 2);

    if (other_length == -ENODATA)
        return 0;
    if (length < 0 || other_length < 0)
        return length < 0 ? length : other_length;
    return length == other_length && memcmp(room, room + size / 2, (size_t)length) == 0;
}

int compare_attributes(const struct entry *one, const struct entry *other,
                       struct compare_room *room)
{
    /* KERNEL: a list of names and a value have at most 64 KiB each. */
    size_t half = sizeof(room->one) / 2;
    size_t count;
    size_t other_count;
    size_t kept;
    int length = entry_list_attributes(one, room->one, half);
    int other_length = entry_list_attributes(other, room->other, half);

    if (length < 0 || other_length < 0)
        return length < 0 ? length : other_length;
    kept = keep_seen(room->one, (size_t)length, &count);
    (void)keep_seen(room->other, (size_t)other_length, &other_count);
    /* As many names, and each of the one has its like in the other: there are no more. */
    if (count != other_count)
        return 0;
    for (size_t at = 0; at < kept; at += strlen(room->one + at) + 1) {
        int result = compare_value(one, other, room->one + at, room->other, sizeof(room->other));

        if (result != 1)
            return result;
    }
    return 1;
}
