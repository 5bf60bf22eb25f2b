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
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 256 * 1024 }; /* a block */

/* Where the next bytes are that are no hole; -errno. */
static off_t next_data(int fd, off_t at)
{
    off_t data = lseek(fd, at, SEEK_DATA);

    if (data >= 0)
        return data - data % READ_BYTES;
    /* ENXIO: none. Not every file system knows of holes. */
    return errno == ENXIO ? -ENXIO : at;
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
    return length == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0);
}

/* By blocks, and those of zeros are left out: a file may say that it is longer than any disk. */
int named_hash(int fd, char ret_digest[static NAMED_DIGEST_BYTES])
{
    autofree uint8_t *bytes = malloc(READ_BYTES);
    uint64_t mark;
    SHA2_CTX context;
    struct stat st;
    off_t at = 0;

    if (!bytes)
        return -ENOMEM;
    if (fstat(fd, &st) < 0)
        return -errno;
    SHA256Init(&context);
    for (;;) {
        size_t length = 0;
        ssize_t got = 1;

        at = next_data(fd, at);
        if (at < 0)
            break;
        while (length < READ_BYTES && got > 0) {
            got = pread(fd, bytes + length, READ_BYTES - length, at + (off_t)length);
            if (got < 0 && errno == EINTR)
                got = 1;
            else if (got < 0)
                return -errno;
            else
                length += (size_t)got;
        }
        if (length == 0)
            break;
        mark = (uint64_t)at;
        if (!is_zero(bytes, length)) {
            SHA256Update(&context, (const uint8_t *)&mark, sizeof(mark));
            SHA256Update(&context, bytes, length);
        }
        at += READ_BYTES;
    }
    mark = (uint64_t)st.st_size;
    SHA256Update(&context, (const uint8_t *)&mark, sizeof(mark));
    (void)SHA256End(&context, ret_digest);
    return 0;
}

/* Adds what one entry is to the line; shown is "" for the one that it is about. */
typedef int describe_entry(int dir_fd, const char *name, const char *shown, const struct stat *st,
                           struct named_memo *memo, struct strbuf *line);

struct digesting {
    SHA2_CTX context;
    describe_entry *describe;
    struct named_memo *memo; /* or NULL */
};

static int digest_add(struct digesting *digesting, int dir_fd, const char *name, const char *shown);

static int digest_add_entries(struct digesting *digesting, int dir_fd, const char *name)
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
        r = digest_add(digesting, fd, *inner, *inner);
    }
    SHA256Update(&digesting->context, (const uint8_t *)".\n", 2);
    return r;
}

void named_memo_done(struct named_memo *memo)
{
    map_done(&memo->files);
    arena_done(&memo->arena);
}

/* What tells a file, as long as nobody changes it. */
struct known_file {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec changed;
};

static int hash_file(int dir_fd, const char *name, struct named_memo *memo,
                     char ret_digest[static NAMED_DIGEST_BYTES])
{
    struct stat st;
    autoclose int fd = named_open_file(dir_fd, name, &st);
    struct known_file *key;
    const char *known;
    int r;

    if (fd < 0)
        return fd;
    if (!memo || st.st_nlink < 2)
        return named_hash(fd, ret_digest);
    key = arena_new(&memo->arena, struct known_file);
    if (!key)
        return -ENOMEM;
    key->dev = st.st_dev;
    key->ino = st.st_ino;
    key->size = st.st_size;
    key->changed = st.st_ctim;
    known = map_get(&memo->files, 0, (const char *)key, sizeof(*key));
    if (known) {
        memcpy(ret_digest, known, NAMED_DIGEST_BYTES);
        return 0;
    }
    r = named_hash(fd, ret_digest);
    known = r < 0 ? NULL : arena_strdup(&memo->arena, ret_digest);
    if (r == 0 && (!known || !map_put(&memo->files, 0, (const char *)key, sizeof(*key),
                                      (void *)(uintptr_t)known)))
        r = -ENOMEM;
    return r;
}

static int describe_content(int dir_fd, const char *name, const char *shown, const struct stat *st,
                            struct named_memo *memo, struct strbuf *line)
{
    (void)shown;
    words_add_number(line, st->st_uid);
    words_add_number(line, st->st_gid);
    if (S_ISREG(st->st_mode)) {
        char digest[NAMED_DIGEST_BYTES];
        int r = hash_file(dir_fd, name, memo, digest);

        if (r < 0)
            return r;
        words_add(line, digest);
    } else if (S_ISLNK(st->st_mode)) {
        autofree char *target = named_read_link(dir_fd, name);

        if (!target)
            return -errno;
        words_add(line, target);
    }
    return 0;
}

static int describe_shape(int dir_fd, const char *name, const char *shown, const struct stat *st,
                          struct named_memo *memo, struct strbuf *line)
{
    (void)dir_fd;
    (void)name;
    (void)memo;
    /* The directory itself is renamed meanwhile, which changes its times. */
    if (!*shown)
        return 0;
    words_add_number(line, st->st_ino);
    words_add_number(line, (uint64_t)st->st_size);
    /* Not that of the inode: an apply may take away another name of the same file. */
    words_add_time(line, st->st_mtim);
    return 0;
}

static int digest_add(struct digesting *digesting, int dir_fd, const char *name, const char *shown)
{
    autostrbuf struct strbuf line = {0};
    struct stat st;
    int r = named_stat(dir_fd, name, &st);

    if (r < 0)
        return r;
    words_add(&line, shown);
    words_add_number(&line, st.st_mode);
    r = digesting->describe(dir_fd, name, shown, &st, digesting->memo, &line);
    strbuf_add(&line, "\n");
    if (r == 0 && line.failed)
        r = -ENOMEM;
    if (r < 0)
        return r;
    SHA256Update(&digesting->context, (const uint8_t *)line.text, line.length);
    return S_ISDIR(st.st_mode) ? digest_add_entries(digesting, dir_fd, name) : 0;
}

static int digest(int dir_fd, const char *name, describe_entry *describe, struct named_memo *memo,
                  char ret_digest[static NAMED_DIGEST_BYTES])
{
    struct digesting digesting = {.describe = describe, .memo = memo};
    int r;

    SHA256Init(&digesting.context);
    r = digest_add(&digesting, dir_fd, name, "");
    if (r == 0)
        (void)SHA256End(&digesting.context, ret_digest);
    return r;
}

int named_digest(int dir_fd, const char *name, struct named_memo *memo,
                 char ret_digest[static NAMED_DIGEST_BYTES])
{
    return digest(dir_fd, name, describe_content, memo, ret_digest);
}

int named_shape(int dir_fd, const char *name, char ret_digest[static NAMED_DIGEST_BYTES])
{
    return digest(dir_fd, name, describe_shape, NULL, ret_digest);
}
