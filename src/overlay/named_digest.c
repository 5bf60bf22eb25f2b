/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of files, and of directories with all that is in them. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "overlay/named.h"
#include "overlay/words.h"

#include <errno.h>
#include <fcntl.h>
#include <sha256.h>
#include <string.h>

enum { READ_BYTES = 256 * 1024 };

int named_hash(int fd, char ret_digest[static NAMED_DIGEST_BYTES])
{
    autofree uint8_t *bytes = malloc(READ_BYTES);
    SHA2_CTX context;
    off_t at = 0;

    if (!bytes)
        return -ENOMEM;
    SHA256Init(&context);
    for (;;) {
        ssize_t got = pread(fd, bytes, READ_BYTES, at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        SHA256Update(&context, bytes, (size_t)got);
        at += got;
    }
    (void)SHA256End(&context, ret_digest);
    return 0;
}

static int digest_add(SHA2_CTX *context, int dir_fd, const char *name, const char *shown);

static int digest_add_entries(SHA2_CTX *context, int dir_fd, const char *name)
{
    autoclose int fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    autonamed struct named_list names = {0};
    int r;

    if (fd < 0)
        return -errno;
    r = named_read(fd, &names);
    vec_each (&names.list, inner) {
        if (r < 0)
            break;
        r = digest_add(context, fd, *inner, *inner);
    }
    SHA256Update(context, (const uint8_t *)".\n", 2);
    return r;
}

static int describe(int dir_fd, const char *name, const char *shown, const struct stat *st,
                    struct strbuf *line)
{
    words_add(line, shown);
    words_add_number(line, st->st_mode);
    if (S_ISREG(st->st_mode)) {
        char digest[NAMED_DIGEST_BYTES];
        struct stat opened;
        autoclose int fd = named_open_file(dir_fd, name, &opened);
        int r = fd < 0 ? fd : named_hash(fd, digest);

        if (r < 0)
            return r;
        words_add(line, digest);
    } else if (S_ISLNK(st->st_mode)) {
        autofree char *target = named_read_link(dir_fd, name);

        if (!target)
            return -errno;
        words_add(line, target);
    }
    strbuf_add(line, "\n");
    return line->failed ? -ENOMEM : 0;
}

static int digest_add(SHA2_CTX *context, int dir_fd, const char *name, const char *shown)
{
    autostrbuf struct strbuf line = {0};
    struct stat st;
    int r = named_stat(dir_fd, name, &st);

    if (r == 0)
        r = describe(dir_fd, name, shown, &st, &line);
    if (r < 0)
        return r;
    SHA256Update(context, (const uint8_t *)line.text, line.length);
    return S_ISDIR(st.st_mode) ? digest_add_entries(context, dir_fd, name) : 0;
}

int named_digest(int dir_fd, const char *name, char ret_digest[static NAMED_DIGEST_BYTES])
{
    SHA2_CTX context;
    int r;

    SHA256Init(&context);
    r = digest_add(&context, dir_fd, name, "");
    if (r == 0)
        (void)SHA256End(&context, ret_digest);
    return r;
}
