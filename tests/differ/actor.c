/* SPDX-License-Identifier: Apache-2.0 */
#include "differ/actor.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { CONTENT_BYTES = 4096, SHOWN_BYTES = 320, NODE_MAX = 4096 };

uint32_t actor_pick(struct actor *actor, uint32_t count)
{
    uint64_t mixed = actor->random += 0x9e3779b97f4a7c15U;

    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return (uint32_t)((mixed ^ (mixed >> 31)) % count);
}

bool actor_chance(struct actor *actor, uint32_t percent)
{
    return actor_pick(actor, 100) < percent;
}

static void no_signal(int number)
{
    (void)number;
}

void actor_set_signals(const struct actor *actor)
{
    struct itimerval timer = {.it_value.tv_usec = actor->between_us,
                              .it_interval.tv_usec = actor->between_us};
    struct sigaction action = {.sa_handler = no_signal, .sa_flags = actor->signal_flags};

    if (actor->between_us == 0)
        return;
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

bool actor_is_lost(int fd)
{
    char link[64] = "/proc/self/cwd";
    char place[LINE_BYTES];
    ssize_t length;
    struct stat st;

    if (fd >= 0)
        (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    else if (fd != AT_FDCWD)
        return false;
    length = readlink(link, place, sizeof(place) - 1);
    place[length < 0 ? 0 : length] = '\0';
    return length > 0 && lstat(place, &st) < 0 && errno == EACCES;
}

void tell(struct actor *actor, const char *format, ...)
{
    va_list list;
    int length;

    va_start(list, format);
    length = vsnprintf(actor->line + actor->used, LINE_BYTES - actor->used, format, list);
    va_end(list);
    actor->used += length < 0 ? 0 : (size_t)length;
    if (actor->used > LINE_BYTES - 1)
        actor->used = LINE_BYTES - 1;
}

/* The directory of the run has another name on the other side. */
void tell_text(struct actor *actor, const char *text, size_t length)
{
    const char *const places[] = {actor->base, actor->root};
    bool is_long = length > SHOWN_BYTES;

    for (size_t i = 0; i < 2; i++) {
        size_t place = strlen(places[i]);

        if (length < place || memcmp(text, places[i], place) != 0)
            continue;
        tell(actor, i == 0 ? "$D" : "$R");
        text += place;
        length -= place;
        break;
    }
    for (size_t i = 0; i < length && i < (is_long ? 24 : SHOWN_BYTES); i++) {
        unsigned char byte = (unsigned char)text[i];

        tell(actor, byte > ' ' && byte < 127 && byte != '\\' ? "%c" : "\\x%02x", byte);
    }
    if (is_long)
        tell(actor, "...%zu bytes", length);
}

void tell_result(struct actor *actor)
{
    if (actor->error)
        tell(actor, " = %s", strerrorname_np(actor->error));
    else
        tell(actor, " = %ld", actor->result);
}

void tell_end(struct actor *actor)
{
    size_t done = 0;

    actor->line[actor->used++] = '\n';
    while (done < actor->used) {
        ssize_t wrote = write(actor->log_fd, actor->line + done, actor->used - done);

        if (wrote < 0 && errno != EINTR)
            abort();
        done += wrote < 0 ? 0 : (size_t)wrote;
    }
    actor->used = 0;
}

static uint32_t sum_of(int fd)
{
    unsigned char bytes[CONTENT_BYTES];
    uint32_t sum = 2166136261U;
    ssize_t got;
    off_t at = 0;

    while ((got = pread(fd, bytes, sizeof(bytes), at)) > 0) {
        for (ssize_t i = 0; i < got; i++)
            sum = (sum ^ bytes[i]) * 16777619U;
        at += got;
    }
    return sum;
}

static void tell_name(struct actor *actor, int fd)
{
    char path[64];
    char name[LINE_BYTES];
    ssize_t length;
    const char *number;

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    length = readlink(path, name, sizeof(name) - 1);
    name[length < 0 ? 0 : length] = '\0';
    number = strstr(name, "/#"); /* a file without a name has a number instead */
    if (strncmp(name, "/proc/", 6) == 0)
        number = name + 5; /* so has a process */
    tell(actor, " ");
    tell_text(actor, name, number ? (size_t)(number - name) : strlen(name));
}

void tell_fd(struct actor *actor, int fd)
{
    int flags = fcntl(fd, F_GETFL);
    struct stat st;

    tell(actor, " fl=%o fd=%d", (unsigned)flags, fcntl(fd, F_GETFD));
    if (actor->is_racing)
        return;
    if (fstat(fd, &st) == 0)
        tell(actor, " mode=%o size=%ld nlink=%lu", st.st_mode,
             S_ISDIR(st.st_mode) ? 0L : (long)st.st_size, (unsigned long)st.st_nlink);
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        tell(actor, " at=%ld", (long)lseek(fd, 0, SEEK_CUR));
    if (S_ISREG(st.st_mode) && !(flags & O_PATH) && (flags & O_ACCMODE) % 2 == 0)
        tell(actor, " sum=%08x", sum_of(fd));
    tell_name(actor, fd);
}

/* Which of the files is this: names of one file have one number. */
struct nodes {
    size_t count;
    struct {
        dev_t dev;
        ino_t ino;
    } all[NODE_MAX];
};

static size_t number_of(struct nodes *nodes, const struct stat *st)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->all[i].dev == st->st_dev && nodes->all[i].ino == st->st_ino)
            return i;
    if (nodes->count == NODE_MAX)
        return NODE_MAX;
    nodes->all[nodes->count].dev = st->st_dev;
    nodes->all[nodes->count].ino = st->st_ino;
    return nodes->count++;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void tell_attributes(struct actor *actor, int dir, const char *name)
{
    char path[512];
    char list[1024];
    char sorted[16][sizeof(list)];
    ssize_t length;
    size_t count = 0;

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, name);
    length = llistxattr(path, list, sizeof(list));
    for (const char *at = list; at < list + length && count < 16; at += strlen(at) + 1)
        (void)snprintf(sorted[count++], sizeof(sorted[0]), "%s", at);
    qsort(sorted, count, sizeof(sorted[0]), by_text);
    for (size_t i = 0; i < count; i++) {
        char value[4096];
        ssize_t size = lgetxattr(path, sorted[i], value, sizeof(value));

        tell(actor, " %s:", sorted[i]);
        tell_text(actor, value, size < 0 ? 0 : (size_t)size);
    }
}

/* With sandbox.late: held a signal may interrupt it. */
static int open_entry(int dir, const char *name, int flags)
{
    int fd;

    do
        fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static void tell_entry(struct actor *actor, struct nodes *nodes, int dir, const char *name,
                       const char *place, struct stat *st)
{
    char target[LINE_BYTES];
    ssize_t length = -1;

    tell(actor, "tree ");
    tell_text(actor, place, strlen(place));
    tell(actor, "/");
    tell_text(actor, name, strlen(name));
    if (fstatat(dir, name, st, AT_SYMLINK_NOFOLLOW) < 0) {
        tell(actor, " = %s", strerrorname_np(errno));
        return;
    }
    tell(actor, " mode=%o size=%ld nlink=%lu owner=%u:%u node=%zu", st->st_mode,
         S_ISDIR(st->st_mode) ? 0L : (long)st->st_size, (unsigned long)st->st_nlink, st->st_uid,
         st->st_gid, number_of(nodes, st));
    if (S_ISLNK(st->st_mode))
        length = readlinkat(dir, name, target, sizeof(target));
    if (length >= 0) {
        tell(actor, " -> ");
        tell_text(actor, target, (size_t)length);
    }
    if (S_ISREG(st->st_mode)) {
        int fd = open_entry(dir, name, O_NONBLOCK);

        if (fd >= 0)
            tell(actor, " sum=%08x", sum_of(fd));
        close(fd);
    }
    tell_attributes(actor, dir, name);
}

/* fd is this function's to close. */
static void tell_dir(struct actor *actor, struct nodes *nodes, int fd, const char *place)
{
    struct dirent **names = NULL;
    char path[64];
    int count;

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    do
        count = scandir(path, &names, NULL, alphasort);
    while (count < 0 && errno == EINTR);
    if (count < 0) {
        tell(actor, "tree ");
        tell_text(actor, place, strlen(place));
        tell(actor, "/ = %s", strerrorname_np(errno));
        tell_end(actor);
    }
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        struct stat st = {0};

        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
            tell_entry(actor, nodes, fd, name, place, &st);
            tell_end(actor);
        }
        if (S_ISDIR(st.st_mode)) {
            int sub = open_entry(fd, name, O_DIRECTORY);
            char below[LINE_BYTES];

            (void)snprintf(below, sizeof(below), "%s/%s", place, name);
            if (sub >= 0)
                tell_dir(actor, nodes, sub, below);
        }
        free(names[i]);
    }
    free(names);
    close(fd);
}

void tell_tree(struct actor *actor)
{
    struct nodes *nodes = calloc(1, sizeof(*nodes));
    int fd = dup(actor->base_fd);

    if (nodes && fd >= 0)
        tell_dir(actor, nodes, fd, "");
    free(nodes);
}
