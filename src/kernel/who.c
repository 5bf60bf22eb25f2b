/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/who.h"

#include "base/cleanup.h"
#include "base/vec.h"
#include "kernel/process.h"
#include "kernel/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/kcmp.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 request;
};

/* The kernel is asked for this one alone, whatever else is open there. */
static int ask(int diag_fd, const struct net_ends *ends, uint32_t number)
{
    struct question question = {
        .head = {.nlmsg_len = sizeof(question),
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST,
                 .nlmsg_seq = number},
        .request = {.sdiag_family = (uint8_t)ends->family,
                    .sdiag_protocol = (uint8_t)ends->protocol,
                    .idiag_states = ~0U,
                    .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
    };
    struct inet_diag_sockid *id = &question.request.id;
    /* KERNEL: of datagrams a socket is asked for by what it receives, not by what it sends. */
    bool is_turned = ends->protocol == IPPROTO_UDP;

    id->idiag_sport = htons(is_turned ? ends->server_port : ends->client_port);
    id->idiag_dport = htons(is_turned ? ends->client_port : ends->server_port);
    memcpy(id->idiag_src, is_turned ? ends->server : ends->client, sizeof(ends->client));
    memcpy(id->idiag_dst, is_turned ? ends->client : ends->server, sizeof(ends->server));
    return send(diag_fd, &question, sizeof(question), MSG_DONTWAIT) == sizeof(question) ? 0
                                                                                        : -errno;
}

/* What is no answer to this question is older, and passed over. KERNEL: the answer is there when
 * the question was sent. */
static int hear(int diag_fd, uint32_t number, struct inet_diag_msg *ret_answer)
{
    struct {
        struct nlmsghdr head;
        union {
            struct inet_diag_msg socket;
            struct nlmsgerr error;
        };
        char rest[512];
    } answer;
    ssize_t got;

    do {
        answer.head.nlmsg_seq = ~number;
        got = recv(diag_fd, &answer, sizeof(answer), MSG_DONTWAIT);
        if (got < 0)
            return -errno;
    } while (answer.head.nlmsg_seq != number);
    if (got < (ssize_t)(sizeof(answer.head) + sizeof(answer.error.error)))
        return -EPROTO;
    if (answer.head.nlmsg_type == NLMSG_ERROR)
        return answer.error.error < 0 ? answer.error.error : -EPROTO;
    if (answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        got < (ssize_t)(sizeof(answer.head) + sizeof(answer.socket)))
        return -EPROTO;
    *ret_answer = answer.socket;
    return 0;
}

int who_socket(int diag_fd, const struct net_ends *ends, uint64_t *ret_number)
{
    struct inet_diag_msg answer = {0};
    int result = ask(diag_fd, ends, ends->client_port);

    if (result == 0)
        result = hear(diag_fd, ends->client_port, &answer);
    if (result < 0)
        return result;
    /* KERNEL: without such a connection a listener at the client's port is told of. */
    if (answer.id.idiag_sport != htons(ends->client_port) ||
        (ends->protocol == IPPROTO_TCP &&
         (answer.id.idiag_dport != htons(ends->server_port) || answer.idiag_state == TCP_LISTEN)) ||
        answer.idiag_inode == 0)
        return -ENOENT;
    *ret_number = answer.idiag_inode;
    return 0;
}

enum { STATUS_BYTES = 4096 };

/* What is behind the key in a file "status", in text; NULL: the thread is gone. */
static const char *status_field(int dir_fd, const char *path, const char *key,
                                char text[static STATUS_BYTES])
{
    autoclose int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, STATUS_BYTES - 1);
    const char *field;

    text[got > 0 ? got : 0] = '\0';
    field = strstr(text, key);
    return field ? field + strlen(key) : NULL;
}

struct walk {
    VEC(pid_t) pids; /* found so far; those behind the cursor are still to be looked at */
    char target[32]; /* what a descriptor of the socket is a link to */
    unsigned descriptors;
    bool has_unseen;
};

/* Whether a table of descriptors has the socket, or a negative errno. */
static int look_at_table(struct walk *walk, int dir_fd, const char *thread)
{
    char path[64], link[sizeof(walk->target) + 1];
    const struct dirent *entry;
    int fd, result = 0;
    DIR *dir;

    (void)snprintf(path, sizeof(path), "task/%.20s/fd", thread);
    fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        result = -errno;
        if (fd >= 0)
            (void)close(fd);
        return result == -ENOENT || result == -ESRCH ? 0 : result;
    }
    while (result == 0 && (entry = readdir(dir))) {
        ssize_t length;

        if (entry->d_name[0] == '.')
            continue;
        if (walk->descriptors++ == WHO_DESCRIPTORS)
            result = -E2BIG;
        length = result == 0 ? readlinkat(dirfd(dir), entry->d_name, link, sizeof(link)) : 0;
        if (length < 0 && errno != ENOENT && errno != ESRCH)
            result = -errno;
        else if (length == (ssize_t)strlen(walk->target))
            result = memcmp(link, walk->target, (size_t)length) == 0;
    }
    (void)closedir(dir);
    return result;
}

/* KERNEL: what has ended and was not waited for yet has no table, and is told to be root's. */
static bool has_ended(int dir_fd, const char *thread)
{
    char path[64], text[STATUS_BYTES];
    const char *state;

    (void)snprintf(path, sizeof(path), "task/%.20s/status", thread);
    state = status_field(dir_fd, path, "\nState:\t", text);
    return !state || *state == 'Z' || *state == 'X';
}

/* Most threads have the table of the one before. Where the kernel does not say, it is looked at. */
static bool has_same_table(pid_t one, pid_t other)
{
    return one > 0 && syscall(SYS_kcmp, one, other, KCMP_FILES, 0, 0) == 0;
}

static bool add_child(void *context, pid_t child)
{
    struct walk *walk = context;

    return walk->pids.count < WHO_PROCESSES && vec_push(&walk->pids, child);
}

/*
 * Whether the process has the socket; finds its children too. SECURITY: a
 * thread can have a table of its own, and the first one may be gone.
 */
static int look_at(struct walk *walk, int dir_fd, bool is_ours)
{
    DIR *dir = process_threads(dir_fd);
    const struct dirent *entry;
    pid_t before = 0;
    int found = 0, result = 0;

    while (dir && result >= 0 && (entry = readdir(dir))) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

        if (entry->d_name[0] == '.')
            continue;
        if (!is_ours && found == 0 && !has_same_table(before, thread))
            result = found = look_at_table(walk, dir_fd, entry->d_name);
        before = thread;
        if (result == -EACCES || result == -EPERM) {
            walk->has_unseen |= !has_ended(dir_fd, entry->d_name);
            result = found = 0;
        }
        if (result >= 0 && !process_children(dir_fd, entry->d_name, add_child, walk))
            result = -E2BIG;
    }
    if (dir)
        (void)closedir(dir);
    return result < 0 ? result : found;
}

int who_has(pid_t init, uint64_t number, bool (*found)(void *context, pid_t pid, int dir_fd),
            void *context)
{
    struct walk walk = {0};
    int result = add_child(&walk, init) ? 0 : -ENOMEM;

    (void)snprintf(walk.target, sizeof(walk.target), "socket:[%llu]", (unsigned long long)number);
    for (size_t i = 0; result == 0 && i < walk.pids.count; i++) {
        pid_t pid = walk.pids.items[i];
        autoclose int dir_fd = process_open(pid);

        if (dir_fd < 0)
            continue;
        result = look_at(&walk, dir_fd, pid == init);
        if (result > 0) {
            if (!found(context, pid, dir_fd))
                break;
            result = 0;
        }
    }
    vec_done(&walk.pids);
    if (result > 0)
        return 0;
    return result == 0 && walk.has_unseen ? -EACCES : result;
}

void who_name(int dir_fd, char comm[static NET_COMM_BYTES], char exe[static NET_EXE_BYTES])
{
    autoclose int fd = openat(dir_fd, "comm", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, comm, NET_COMM_BYTES);

    comm[got > 0 ? got - 1 : 0] = '\0'; /* it ends in a line feed */
    got = readlinkat(dir_fd, "exe", exe, NET_EXE_BYTES - 1);
    exe[got > 0 ? got : 0] = '\0';
}

bool who_file(int fd, uid_t user, struct who_program *ret_program)
{
    struct statvfs mount;
    struct stat file;
    bool has_other_ways;

    if (fstat(fd, &file) < 0 || fstatvfs(fd, &mount) < 0 || !S_ISREG(file.st_mode))
        return false;
    has_other_ways =
        file.st_nlink > 1 && (file.st_uid == user || (file.st_mode & (S_IWGRP | S_IWOTH)));
    *ret_program = (struct who_program){.device = file.st_dev,
                                        .inode = file.st_ino,
                                        .is_held = (mount.f_flag & ST_RDONLY) && !has_other_ways};
    return true;
}

bool who_program(int dir_fd, uid_t user, struct who_program *ret_program)
{
    autoclose int fd = openat(dir_fd, "exe", O_PATH | O_CLOEXEC);

    return fd >= 0 && who_file(fd, user, ret_program);
}

static pid_t parent_of(int dir_fd)
{
    char text[STATUS_BYTES];
    const char *field = status_field(dir_fd, "status", "\nPPid:", text);

    return field ? (pid_t)strtol(field, NULL, 10) : 0;
}

int who_parent(int dir_fd, pid_t *ret_pid)
{
    pid_t pid = parent_of(dir_fd);
    autoclose int parent_fd = pid > 0 ? process_open(pid) : -EBADF;

    /* SECURITY: if it is still the parent the number has not been another's. */
    if (parent_fd < 0 || parent_of(dir_fd) != pid)
        return -ESRCH;
    *ret_pid = pid;
    return take_fd(&parent_fd);
}
