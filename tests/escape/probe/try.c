/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts, one a line on standard input, each in a process of its own. The
 * answer is the line again with the verdict before it. README.md has the words.
 */
#include "verdict.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

enum { WORDS_MAX = 12, NEED_SETUP = 254 };

struct line {
    char *words[WORDS_MAX + 1];
    int count;
};

struct number {
    const char *name;
    long value;
};

static const struct number syscalls[] = {
#include "syscalls.h"
    /* KERNEL(6.4 to 6.17): newer than the headers of some build machines. */
    {"cachestat", 451},         {"fchmodat2", 452},        {"map_shadow_stack", 453},
    {"futex_wake", 454},        {"futex_wait", 455},       {"futex_requeue", 456},
    {"statmount", 457},         {"listmount", 458},        {"lsm_get_self_attr", 459},
    {"lsm_set_self_attr", 460}, {"lsm_list_modules", 461}, {"mseal", 462},
    {"setxattrat", 463},        {"getxattrat", 464},       {"listxattrat", 465},
    {"removexattrat", 466},     {"open_tree_attr", 467},   {"file_getattr", 468},
    {"file_setattr", 469},
};

#define NAMED(x)                                                                                   \
    {                                                                                              \
#x, (long)x                                                                                \
    }
static const struct number constants[] = {
    NAMED(AT_FDCWD),
    NAMED(AT_EMPTY_PATH),
    NAMED(AT_SYMLINK_FOLLOW),
    NAMED(AT_SYMLINK_NOFOLLOW),
    NAMED(AT_REMOVEDIR),
    NAMED(O_RDONLY),
    NAMED(O_WRONLY),
    NAMED(O_RDWR),
    NAMED(O_CREAT),
    NAMED(O_EXCL),
    NAMED(O_TRUNC),
    NAMED(O_APPEND),
    NAMED(O_PATH),
    NAMED(O_DIRECTORY),
    NAMED(O_TMPFILE),
    NAMED(O_NOFOLLOW),
    NAMED(O_NONBLOCK),
    NAMED(S_IFCHR),
    NAMED(S_IFBLK),
    NAMED(S_IFIFO),
    NAMED(S_IFSOCK),
    NAMED(S_IFREG),
    NAMED(RENAME_EXCHANGE),
    NAMED(RENAME_NOREPLACE),
    NAMED(RENAME_WHITEOUT),
    NAMED(RESOLVE_IN_ROOT),
    NAMED(RESOLVE_BENEATH),
    NAMED(RESOLVE_NO_XDEV),
    NAMED(RESOLVE_NO_SYMLINKS),
};
#undef NAMED

static char scratch[1 << 16];
static struct open_how how;

static bool lookup(const struct number *table, size_t count, const char *name, size_t length,
                   long *ret_value)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(table[i].name) == length && strncmp(table[i].name, name, length) == 0) {
            *ret_value = table[i].value;
            return true;
        }
    return false;
}
#define LOOKUP(table, name, length, ret_value)                                                     \
    lookup(table, sizeof table / sizeof *table, name, length, ret_value)

/* A number, a name, or several joined by '|'. A word that is neither ends the probe: a misspelt
 * attempt must not pass for a refused one. */
static long number_of(const char *text)
{
    long sum = 0;

    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, "|");
        long value = 0;
        char *end;

        if (isdigit((unsigned char)*at) || *at == '-') {
            value = (long)strtoull(at, &end, 0);
            if (end != at + length)
                exit(NEED_SETUP);
        } else if (!LOOKUP(constants, at, length, &value)) {
            fprintf(stderr, "try: no such constant: %s\n", at);
            exit(NEED_SETUP);
        }
        sum |= value;
        at += length + (at[length] == '|');
    }
    return sum;
}

static int open_or_leave(const char *path, int flags)
{
    int fd = open(path, flags);

    if (fd >= 0)
        return fd;
    /* The refusal of what an attempt needs first is the attempt's refusal. */
    _exit(errno);
}

static long argument(const char *word)
{
    char *comma;

    if (strncmp(word, "s:", 2) == 0)
        return (long)(word + 2);
    if (strncmp(word, "fd:", 3) == 0)
        return open_or_leave(word + 3, O_PATH);
    if (strncmp(word, "rd:", 3) == 0)
        return open_or_leave(word + 3, O_RDONLY | O_NONBLOCK);
    if (strncmp(word, "rw:", 3) == 0)
        return open_or_leave(word + 3, O_RDWR);
    if (strcmp(word, "buf") == 0)
        return (long)scratch;
    if (strcmp(word, "null") == 0)
        return 0;
    if (strcmp(word, "cwd") == 0)
        return AT_FDCWD;
    if (strncmp(word, "how:", 4) == 0) {
        how.flags = (uint64_t)number_of(strtok_r((char *)word + 4, ",", &comma));
        how.mode = (uint64_t)number_of(strtok_r(NULL, ",", &comma));
        how.resolve = (uint64_t)number_of(strtok_r(NULL, ",", &comma));
        return (long)&how;
    }
    return number_of(word);
}

static int try_sys(struct line *line)
{
    long nr, args[6] = {0};

    if (!LOOKUP(syscalls, line->words[1], strlen(line->words[1]), &nr))
        nr = number_of(line->words[1]);
    for (int i = 2; i < line->count && i < 8; i++)
        args[i - 2] = argument(line->words[i]);
    return verdict_of(syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]));
}

static int try_write(struct line *line)
{
    int fd = open(line->words[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);

    return fd < 0 ? errno : verdict_of(write(fd, "changed\n", 8));
}

static int try_append(struct line *line)
{
    int fd = open(line->words[1], O_WRONLY | O_APPEND);

    return fd < 0 ? errno : verdict_of(write(fd, "changed\n", 8));
}

/* read PATH [TEXT]: with a text, EILSEQ unless the file begins with it. */
static int try_read(struct line *line)
{
    int fd = open(line->words[1], O_RDONLY | O_NONBLOCK);
    ssize_t count = fd < 0 ? -1 : read(fd, scratch, sizeof scratch - 1);

    if (count < 0)
        return errno;
    if (line->count > 2 && strncmp(scratch, line->words[2], strlen(line->words[2])) != 0)
        return EILSEQ;
    return 0;
}

static int try_map(struct line *line)
{
    int fd = open_or_leave(line->words[1], O_RDONLY);

    return mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ? errno : 0;
}

static int try_sendfile(struct line *line)
{
    int fd = open_or_leave(line->words[1], O_RDONLY), ends[2];

    return pipe(ends) < 0 ? errno : verdict_of(sendfile(ends[1], fd, NULL, 1));
}

static int try_splice(struct line *line)
{
    int fd = open_or_leave(line->words[1], O_RDONLY), ends[2];

    return pipe(ends) < 0 ? errno : verdict_of(splice(fd, NULL, ends[1], NULL, 1, 0));
}

/* copy FROM TO: copy_file_range. */
static int try_copy(struct line *line)
{
    int from = open_or_leave(line->words[1], O_RDONLY);
    int to = open_or_leave(line->words[2], O_WRONLY);

    return verdict_of(copy_file_range(from, NULL, to, NULL, 1, 0));
}

static int try_list(struct line *line)
{
    int fd = open_or_leave(line->words[1], O_RDONLY | O_DIRECTORY);

    return verdict_of(syscall(SYS_getdents64, fd, scratch, sizeof scratch));
}

/* listed DIR NAME: ENOENT unless a listing of DIR has NAME. */
static int try_listed(struct line *line)
{
    DIR *dir = opendir(line->words[1]);
    struct dirent *entry;

    if (!dir)
        return errno;
    while ((entry = readdir(dir)))
        if (strcmp(entry->d_name, line->words[2]) == 0)
            return 0;
    return ENOENT;
}

static int try_stat(struct line *line)
{
    struct stat st;

    return verdict_of(lstat(line->words[1], &st));
}

/* exec PATH ARGS...: the verdict is execve's; what ran says nothing here. */
static int try_exec(struct line *line)
{
    int ends[2], errnum = 0, null;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    child = fork();
    if (child == 0) {
        null = open("/dev/null", O_RDWR);
        dup2(null, STDOUT_FILENO);
        execv(line->words[1], line->words + 1);
        errnum = errno;
        _exit(write(ends[1], &errnum, sizeof errnum) < 0);
    }
    close(ends[1]);
    if (read(ends[0], &errnum, sizeof errnum) < 0)
        return errno;
    return errnum;
}

/* bind PATH: a socket is a file that bind makes. */
static int try_bind(struct line *line)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", line->words[1]);
    return fd < 0 ? errno : verdict_of(bind(fd, (struct sockaddr *)&address, sizeof address));
}

static int try_line(void *context);

/* in DIR WORDS...: the same from another working directory. */
static int try_in(struct line *line)
{
    if (chdir(line->words[1]) < 0)
        return errno;
    memmove(line->words, line->words + 2, sizeof line->words - 2 * sizeof *line->words);
    line->count -= 2;
    return try_line(line);
}

static const struct {
    const char *word;
    int least;
    int (*attempt)(struct line *line);
} words[] = {
    {"sys", 2, try_sys},       {"write", 2, try_write}, {"append", 2, try_append},
    {"read", 2, try_read},     {"map", 2, try_map},     {"sendfile", 2, try_sendfile},
    {"splice", 2, try_splice}, {"copy", 3, try_copy},   {"list", 2, try_list},
    {"listed", 3, try_listed}, {"stat", 2, try_stat},   {"exec", 2, try_exec},
    {"in", 3, try_in},         {"bind", 2, try_bind},
};

static int try_line(void *context)
{
    struct line *line = context;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(line->words[0], words[i].word) == 0 && line->count >= words[i].least)
            return words[i].attempt(line);
    fprintf(stderr, "try: no such attempt: %s\n", line->words[0]);
    return NEED_SETUP;
}

int main(void)
{
    char text[8192], copy[8192], word[32];
    struct line line;

    umask(0);
    while (fgets(text, sizeof text, stdin)) {
        text[strcspn(text, "\n")] = '\0';
        strcpy(copy, text);
        memset(&line, 0, sizeof line);
        for (char *at = strtok(copy, " \t"); at && line.count < WORDS_MAX; at = strtok(NULL, " \t"))
            line.words[line.count++] = at;
        if (line.count == 0)
            continue;
        verdict_apart(try_line, &line, word, sizeof word);
        verdict_say(word, text);
    }
    return 0;
}
