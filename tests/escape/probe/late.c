/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late make DIR AWAY SECONDS: outside, makes, renames, replaces and removes hidden names in DIR
 * again and again, by way of AWAY, which nobody inside sees. Each has the text "private". Prints
 * how often. late open DIR SECONDS: inside, makes DIR/ready, and opens them meanwhile in every way.
 * Prints the tries, how often a name was seen there, how often "private" was read, and by which way
 * last.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long tries, seen, reads;
static const char *way = "-";
static char flipped[16];

static void look(int fd, const char *how)
{
    char text[16];
    ssize_t got;

    tries++;
    if (fd < 0)
        return;
    got = pread(fd, text, sizeof text, 0);
    if (got >= 7 && memcmp(text, "private", 7) == 0) {
        reads++;
        way = how;
    }
    close(fd);
}

static int limited(const char *path, unsigned long resolve)
{
    struct open_how how = {.flags = O_RDONLY, .resolve = resolve};

    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/* By a descriptor that holds it, and lets nothing be read. */
static void by_hold(const char *name)
{
    int fd = open(name, O_PATH);
    char path[64];

    if (fd < 0)
        return;
    seen++;
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    look(open(path, O_RDONLY), "dev-fd");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    look(open(path, O_RDONLY), "proc-fd");
    look(open(path, O_RDWR), "proc-fd-rw");
    if (linkat(AT_FDCWD, path, AT_FDCWD, "taken", AT_SYMLINK_FOLLOW) == 0)
        look(open("taken", O_RDONLY), "linkat");
    unlink("taken");
    usleep(100);
    look(open(path, O_RDONLY), "proc-fd-late");
    close(fd);
}

static void by_directory(const char *dir, const char *name)
{
    int fd = open(dir, O_PATH | O_DIRECTORY);

    for (int i = 0; fd >= 0 && i < 3; i++)
        look(openat(fd, name, O_RDONLY), "directory");
    if (fd >= 0)
        close(fd);
}

static void by_other_name(const char *name)
{
    if (rename(name, "taken") == 0)
        look(open("taken", O_RDONLY), "rename");
    unlink("taken");
    if (link(name, "taken") == 0)
        look(open("taken", O_RDONLY), "link");
    unlink("taken");
    if (symlink(name, "to") == 0)
        look(open("to", O_RDONLY), "symlink");
    unlink("to");
    if (rename("moved", "mine") == 0) {
        look(open("mine/.env", O_RDONLY), "rename-directory");
        rename("mine", "moved");
    }
}

static void attack(const char *dir, const char *name)
{
    char path[4096];

    look(open(name, O_RDONLY), "open");
    look(open(name, O_RDWR), "open-rw");
    look(open(name, O_RDONLY | O_NOFOLLOW), "open-nofollow");
    look(open(name, O_RDONLY | O_CREAT, 0600), "open-creat");
    look(limited(name, 0), "openat2");
    look(limited(name, RESOLVE_BENEATH), "openat2-beneath");
    look(limited(name, RESOLVE_NO_SYMLINKS), "openat2-no-symlinks");
    snprintf(path, sizeof path, "%s/%s", dir, name);
    look(open(path, O_RDONLY), "absolute");
    snprintf(path, sizeof path, "/proc/self/cwd/%s", name);
    look(open(path, O_RDONLY), "proc-cwd");
    snprintf(path, sizeof path, "/proc/self/root%s/%s", dir, name);
    look(open(path, O_RDONLY), "proc-root");
    look(open(flipped, O_RDONLY), "changed-path");
    by_hold(name);
    by_directory("d", ".env");
    by_directory("secrets", "key");
    by_directory("plain.d", "key");
    by_other_name(name);
}

/* The path is another one whenever somebody looks. */
static void *flip(void *unused)
{
    for (;;) {
        memcpy(flipped, "plain\0", 6);
        memcpy(flipped, ".env\0", 6);
    }
    return unused;
}

static int inside(const char *dir, time_t until)
{
    static const char *const names[] = {".env", "d/.env", "moved/.env", "secrets/key",
                                        "secrets/a/key"};
    pthread_t thread;

    if (chdir(dir) < 0 || pthread_create(&thread, NULL, flip, NULL))
        return 2;
    close(open("ready", O_WRONLY | O_CREAT, 0666));
    while (time(NULL) < until)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            attack(dir, names[i]);
    printf("%ld %ld %ld %s\n", tries, seen, reads, way);
    return 0;
}

static void make(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (fd < 0)
        return;
    fchmod(fd, 0666);
    if (write(fd, "private\n", 8) < 0)
        perror("write");
    close(fd);
}

static void open_dir(const char *path)
{
    mkdir(path, 0777);
    chmod(path, 0777);
}

static void round_of(const char *file, const char *dir, const char *in_dir)
{
    make(".env");
    unlink(".env");
    for (int i = 0; i < 2; i++) {
        make(file);
        rename(file, ".env");
    }
    usleep(50);
    unlink(".env");
    make(file);
    if (link(file, "d/.env") == 0)
        usleep(30);
    unlink(file);
    unlink("d/.env");
    open_dir("plain.d");
    rename("plain.d", "secrets");
    make("secrets/key");
    open_dir("secrets/a");
    make("secrets/a/key");
    usleep(30);
    unlink("secrets/a/key");
    unlink("secrets/key");
    rmdir("secrets/a");
    rmdir("secrets");
    open_dir(dir);
    make(in_dir);
    rename(dir, "moved");
    usleep(30);
    rename("moved", dir);
    unlink(in_dir);
    rmdir(dir);
    if (symlink("plain", ".env") == 0)
        unlink(".env");
}

static int outside(const char *where, const char *away, time_t until)
{
    char file[4096], dir[4096], in_dir[4200];
    long rounds = 0;

    snprintf(file, sizeof file, "%s/file", away);
    snprintf(dir, sizeof dir, "%s/dir", away);
    snprintf(in_dir, sizeof in_dir, "%s/.env", dir);
    if (chdir(where) < 0)
        return 2;
    open_dir("d");
    for (; time(NULL) < until; rounds++)
        round_of(file, dir, in_dir);
    printf("%ld\n", rounds);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "make") == 0)
        return outside(argv[2], argv[3], time(NULL) + atoi(argv[4]));
    if (argc == 4 && strcmp(argv[1], "open") == 0)
        return inside(argv[2], time(NULL) + atoi(argv[3]));
    return 2;
}
