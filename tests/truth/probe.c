/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries what it is told and undoes it: lines "OPERATION<TAB>PATH[<TAB>PATH]" on standard input, one
 * line "ERRNO<TAB>WHAT WAS READ" for each on standard output.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { LINE_BYTES = 16384, SEEN_BYTES = 512 };

struct attempt {
    const char *path;
    const char *to; /* of link and rename; may be NULL */
    char seen[SEEN_BYTES];
};

static int failed(int result)
{
    return result < 0 ? errno : 0;
}

static int try_open(const char *path, int flags)
{
    int fd = open(path, flags | O_NONBLOCK | O_NOCTTY, 0644);
    int r = failed(fd);

    if (fd >= 0)
        close(fd);
    return r;
}

static int try_read(struct attempt *attempt)
{
    int fd = open(attempt->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    int r = failed(fd);
    ssize_t length;

    if (fd < 0)
        return r;
    length = read(fd, attempt->seen, SEEN_BYTES - 1);
    r = length < 0 && errno == EISDIR ? 0 : failed((int)length);
    attempt->seen[length < 0 ? 0 : length] = '\0';
    close(fd);
    return r;
}

static int try_list(struct attempt *attempt)
{
    DIR *dir = opendir(attempt->path);
    size_t used = 0;
    const struct dirent *entry;

    if (!dir)
        return errno;
    while ((entry = readdir(dir))) {
        if (entry->d_name[0] != '.' || (entry->d_name[1] != '\0' && entry->d_name[1] != '.'))
            used += (size_t)snprintf(attempt->seen + used, SEEN_BYTES - used, "%s/", entry->d_name);
        if (used >= SEEN_BYTES)
            break;
    }
    closedir(dir);
    return 0;
}

static int try_write(struct attempt *attempt)
{
    return try_open(attempt->path, O_WRONLY);
}

static int try_append(struct attempt *attempt)
{
    return try_open(attempt->path, O_RDWR | O_APPEND | O_CREAT);
}

static int try_create(struct attempt *attempt)
{
    int r = try_open(attempt->path, O_WRONLY | O_CREAT | O_EXCL);

    if (r == 0)
        unlink(attempt->path);
    return r;
}

static int try_truncate(struct attempt *attempt)
{
    struct stat status;

    if (stat(attempt->path, &status) < 0)
        return errno;
    return failed(truncate(attempt->path, status.st_size));
}

static int try_chmod(struct attempt *attempt)
{
    struct stat status;

    if (stat(attempt->path, &status) < 0)
        return errno;
    return failed(chmod(attempt->path, status.st_mode & 01777));
}

static int try_touch(struct attempt *attempt)
{
    return failed(utimensat(AT_FDCWD, attempt->path, NULL, 0));
}

static int try_setxattr(struct attempt *attempt)
{
    int r = failed(setxattr(attempt->path, "user.t", "1", 1, 0));

    if (r == 0)
        removexattr(attempt->path, "user.t");
    return r;
}

static int try_mkdir(struct attempt *attempt)
{
    int r = failed(mkdir(attempt->path, 0755));

    if (r == 0)
        rmdir(attempt->path);
    return r;
}

static int try_symlink(struct attempt *attempt)
{
    int r = failed(symlink("nowhere", attempt->path));

    if (r == 0)
        unlink(attempt->path);
    return r;
}

static int try_mkfifo(struct attempt *attempt)
{
    int r = failed(mkfifo(attempt->path, 0644));

    if (r == 0)
        unlink(attempt->path);
    return r;
}

static int socket_call(const char *path, int (*call)(int, const struct sockaddr *, socklen_t))
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int r;

    if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
        return fd < 0 ? errno : ENAMETOOLONG;
    strcpy(address.sun_path, path);
    r = failed(call(fd, (const struct sockaddr *)&address, sizeof(address)));
    close(fd);
    return r;
}

static int try_bind(struct attempt *attempt)
{
    int r = socket_call(attempt->path, bind);

    if (r == 0)
        unlink(attempt->path);
    return r;
}

static int try_connect(struct attempt *attempt)
{
    return socket_call(attempt->path, connect);
}

static int try_rename(struct attempt *attempt)
{
    int r = failed(rename(attempt->path, attempt->to));

    if (r == 0)
        rename(attempt->to, attempt->path);
    return r;
}

static int try_link(struct attempt *attempt)
{
    int r = failed(link(attempt->path, attempt->to));

    if (r == 0)
        unlink(attempt->to);
    return r;
}

static int try_exec(struct attempt *attempt)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        execl(attempt->path, attempt->path, (char *)NULL);
        _exit(errno);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

/* These are not undone. */
static int do_unlink(struct attempt *attempt)
{
    return failed(unlink(attempt->path));
}

static int do_rmdir(struct attempt *attempt)
{
    return failed(rmdir(attempt->path));
}

static int do_rename(struct attempt *attempt)
{
    return failed(rename(attempt->path, attempt->to));
}

static int do_exchange(struct attempt *attempt)
{
    return failed(renameat2(AT_FDCWD, attempt->path, AT_FDCWD, attempt->to, RENAME_EXCHANGE));
}

static int do_link(struct attempt *attempt)
{
    return failed(link(attempt->path, attempt->to));
}

static int do_symlink(struct attempt *attempt)
{
    return failed(symlink(attempt->to, attempt->path));
}

static int do_mkdir(struct attempt *attempt)
{
    return failed(mkdir(attempt->path, 0755));
}

static int do_open_up(struct attempt *attempt)
{
    return failed(chmod(attempt->path, 0777));
}

static int do_write(struct attempt *attempt)
{
    int fd = open(attempt->path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, 0644);
    int r = failed(fd);

    if (fd < 0)
        return r;
    r = failed((int)write(fd, "written\n", 8));
    close(fd);
    return r;
}

static const struct {
    const char *name;
    int (*call)(struct attempt *attempt);
} operations[] = {
    {"read", try_read},         {"list", try_list},         {"exec", try_exec},
    {"write", try_write},       {"append", try_append},     {"create", try_create},
    {"truncate", try_truncate}, {"chmod", try_chmod},       {"touch", try_touch},
    {"setxattr", try_setxattr}, {"mkdir", try_mkdir},       {"symlink", try_symlink},
    {"mkfifo", try_mkfifo},     {"bind", try_bind},         {"connect", try_connect},
    {"rename", try_rename},     {"link", try_link},         {"do_unlink", do_unlink},
    {"do_rmdir", do_rmdir},     {"do_rename", do_rename},   {"do_exchange", do_exchange},
    {"do_link", do_link},       {"do_symlink", do_symlink}, {"do_mkdir", do_mkdir},
    {"do_open_up", do_open_up}, {"do_write", do_write},
};

static void perform(char *line)
{
    char *rest = NULL;
    const char *name = strtok_r(line, "\t\n", &rest);
    struct attempt attempt = {.path = strtok_r(NULL, "\t\n", &rest)};
    int r = ENOSYS;

    attempt.to = strtok_r(NULL, "\t\n", &rest);
    for (size_t i = 0; name && i < sizeof(operations) / sizeof(operations[0]); i++) {
        if (strcmp(name, operations[i].name) == 0)
            r = operations[i].call(&attempt);
    }
    for (char *c = attempt.seen; *c; c++)
        *c = *c == '\n' || *c == '\t' ? ' ' : *c;
    printf("%d\t%s\n", r, attempt.seen);
    fflush(stdout);
}

int main(void)
{
    static char line[LINE_BYTES];

    umask(0);
    while (fgets(line, sizeof(line), stdin))
        perform(line);
    return 0;
}
