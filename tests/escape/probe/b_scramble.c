/* SPDX-License-Identifier: Apache-2.0 */
/* b_scramble SEED MILLISECONDS: makes, moves, exchanges, links and removes names at random in the
 * current directory, by four processes, with a few names that are protected in some places. Prints
 * how many calls were made and how many of them worked. */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 4, DEPTH = 4, PATH_BYTES = 128 };

struct counts {
    unsigned long calls, done;
};

static uint64_t state;

static unsigned pick(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state % below);
}

/* Few names, so that they meet often. */
static void put_path(char path[static PATH_BYTES])
{
    static const char *const names[] = {"a",     "b",       "g",    ".git",    "hooks",   "config",
                                        "info",  "modules", ".sl",  ".claude", ".vscode", "sub",
                                        "x.git", "..",      ".git", "a",       "b",       "g"};
    unsigned depth = 1 + pick(DEPTH);
    size_t length = 0;

    for (unsigned i = 0; i < depth; i++)
        length += (size_t)snprintf(path + length, PATH_BYTES - length, "%s%s", i ? "/" : "",
                                   names[pick(sizeof(names) / sizeof(names[0]))]);
}

static long make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    long result;

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
    result = bind(fd, (struct sockaddr *)&address, sizeof(address));
    close(fd);
    return result;
}

/* A name for a file that has none. */
static long make_named(const char *path)
{
    int fd = open(".", O_TMPFILE | O_RDWR, 0600);
    long result;

    if (fd < 0)
        return -1;
    result = write(fd, "x", 1) == 1 ? linkat(fd, "", AT_FDCWD, path, AT_EMPTY_PATH) : -1;
    close(fd);
    return result;
}

static long make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK, 0644);

    if (fd < 0)
        return -1;
    if (write(fd, "planted", 7) < 0)
        perror("write");
    close(fd);
    return 0;
}

/* By what has it open. */
static long link_open(const char *from, const char *to)
{
    int fd = open(from, O_PATH | O_NOFOLLOW);
    char name[32];
    long result;

    if (fd < 0)
        return -1;
    (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    result = linkat(AT_FDCWD, name, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
    close(fd);
    return result;
}

/* Both sides from directories that may have moved since they were opened. */
static long rename_in(const char *from, const char *to)
{
    static int dirs[2] = {AT_FDCWD, AT_FDCWD};
    unsigned which = pick(2);

    if (pick(4) == 0) {
        if (dirs[which] != AT_FDCWD)
            close(dirs[which]);
        dirs[which] = open(from, O_PATH | O_DIRECTORY);
        if (dirs[which] < 0)
            dirs[which] = AT_FDCWD;
    }
    return renameat(dirs[0], from, dirs[1], to);
}

static long make_scoped(const char *dir, const char *path)
{
    static const uint64_t limits[] = {RESOLVE_BENEATH, RESOLVE_IN_ROOT, RESOLVE_NO_SYMLINKS,
                                      RESOLVE_NO_XDEV, RESOLVE_NO_MAGICLINKS};
    struct open_how how = {.flags = O_WRONLY | O_CREAT | O_NONBLOCK,
                           .mode = 0644,
                           .resolve = limits[pick(sizeof(limits) / sizeof(limits[0]))]};
    int at = open(dir, O_PATH | O_DIRECTORY);
    long fd = syscall(SYS_openat2, at < 0 ? AT_FDCWD : at, path, &how, sizeof(how));

    if (at >= 0)
        close(at);
    if (fd < 0)
        return -1;
    close((int)fd);
    return 0;
}

static long change(void)
{
    char one[PATH_BYTES];
    char two[PATH_BYTES];

    put_path(one);
    put_path(two);
    switch (pick(18)) {
    case 0:
    case 1:
    case 2:
        return mkdir(one, 0755);
    case 3:
        return make_file(one);
    case 4:
    case 5:
    case 6:
        return rename(one, two);
    case 7:
        return syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, two, RENAME_EXCHANGE);
    case 8:
        return symlink(two, one);
    case 9:
        return link(one, two);
    case 10:
        return unlink(one);
    case 11:
        return rmdir(one);
    case 12:
        return make_socket(one);
    case 13:
        return link_open(one, two);
    case 14:
        return rename_in(one, two);
    case 15:
        return make_scoped(one, two);
    case 16:
        return mknod(one, S_IFIFO | 0600, 0);
    default:
        return make_named(one);
    }
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int64_t end = now_ms() + (argc > 2 ? atoll(argv[2]) : 1000);
    struct counts *counts = mmap(NULL, PROCESSES * sizeof(*counts), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct counts sum = {0};

    if (counts == MAP_FAILED)
        return 1;
    for (unsigned i = 0; i < PROCESSES; i++) {
        if (fork() != 0)
            continue;
        state = (seed * PROCESSES + i + 1) * 0x9e3779b97f4a7c15ULL;
        for (; now_ms() < end; counts[i].calls++)
            counts[i].done += change() >= 0;
        _exit(0);
    }
    while (wait(NULL) > 0)
        ;
    for (unsigned i = 0; i < PROCESSES; i++) {
        sum.calls += counts[i].calls;
        sum.done += counts[i].done;
    }
    printf("%lu %lu\n", sum.calls, sum.done);
    return 0;
}
