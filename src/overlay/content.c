/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/content.h"

#include "overlay/entry.h"

#include <sha256.h>
#include <stdio.h>
#include <string.h>

static int read_link(const struct entry *entry, struct content *content)
{
    char target[PATH_MAX];
    int length = entry_read_link(entry, target);

    if (length < 0)
        return length;
    content->bytes = strdup(target);
    content->length = (size_t)length;
    return content->bytes ? 0 : -ENOMEM;
}

/* At most the size that it had: a file that grows is no reason to wait. */
static int read_data(const struct entry *entry, struct content *content)
{
    autofree char *bytes = malloc((size_t)content->size + 1);
    autoclose int fd = entry_open_data(entry);
    ssize_t got;

    if (!bytes)
        return -ENOMEM;
    if (fd < 0)
        return fd;
    got = entry_read(fd, bytes, (size_t)content->size);
    if (got < 0)
        return (int)got;
    bytes[got] = '\0';
    content->length = (size_t)got;
    content->bytes = take_ptr(&bytes);
    return 0;
}

int content_read(int root_fd, const char *path, size_t limit, struct content *ret_content)
{
    autoentry struct entry entry = ENTRY_NONE;
    int result = entry_open_below(root_fd, path, &entry);

    *ret_content = (struct content){0};
    if (result < 0)
        return entry_is_gone(-result) ? 0 : result;
    ret_content->mode = entry.status.st_mode;
    ret_content->size = entry.status.st_size;
    if (S_ISLNK(entry.status.st_mode))
        result = read_link(&entry, ret_content);
    else if (S_ISREG(entry.status.st_mode) && entry.status.st_size <= (off_t)limit)
        result = read_data(&entry, ret_content);
    if (result < 0 && entry_is_own_fault(-result)) {
        ret_content->errnum = -result;
        result = 0;
    }
    return result;
}

void content_done(struct content *content)
{
    free(content->bytes);
    *content = (struct content){0};
}

int content_hash(int root_fd, const char *path, off_t size, char ret_hex[static CONTENT_HEX + 1])
{
    autoentry struct entry entry = ENTRY_NONE;
    autoclose int fd = -EBADF;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;
    char bytes[65536];
    int result = entry_open_below(root_fd, path, &entry);

    if (result == 0)
        result = fd = entry_open_data(&entry);
    if (result < 0)
        return result;
    SHA256Init(&context);
    while (size > 0) {
        size_t wanted = size < (off_t)sizeof(bytes) ? (size_t)size : sizeof(bytes);
        ssize_t got = entry_read(fd, bytes, wanted);

        if (got < 0)
            return (int)got;
        if (got == 0)
            break;
        SHA256Update(&context, (const uint8_t *)bytes, (size_t)got);
        size -= got;
    }
    SHA256Final(digest, &context);
    for (size_t i = 0; i < sizeof(digest); i++)
        (void)snprintf(ret_hex + 2 * i, 3, "%02x", digest[i]);
    return 0;
}
