/* SPDX-License-Identifier: Apache-2.0 */
#include "api/outer.h"

#include "base/cleanup.h"
#include "base/limits.h"
#include "kernel/probe_try.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

/* What is at a path, and on which mount. */
struct place {
    uint32_t mode;
    uint64_t mount;
};

static bool look(const char *path, struct place *ret_place)
{
    struct statx status = {0};

    if (syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_MODE | STATX_MNT_ID,
                &status) < 0)
        return false;
    *ret_place = (struct place){.mode = status.stx_mode, .mount = status.stx_mnt_id};
    return true;
}

static bool is_read_only(const char *path)
{
    struct statfs status;

    return statfs(path, &status) == 0 && (status.f_flags & ST_RDONLY);
}

/* A line of mountinfo: id, parent, device, what of the file system is shown, and where. */
static bool is_root_of_ours(const char *line, uint64_t mount)
{
    char *end;
    const char *shown;
    size_t length;

    if (strtoull(line, &end, 10) != mount)
        return false;
    shown = end;
    for (int field = 0; shown && field < 2; field++)
        shown = strchr(shown + 1, ' ');
    length = shown ? strcspn(shown + 1, " ") : 0;
    return length >= 5 && strncmp(shown + 1 + length - 5, "/root", 5) == 0;
}

/* Our root is read-only, and part of something: of a new tmpfs, or of a plan that is kept. */
bool outer_is_there(void)
{
    autofree char *text = NULL;
    struct place root;

    if (!is_read_only("/") || !look("/", &root))
        return false;
    text = probe_read("/proc/self/mountinfo");
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (is_root_of_ours(line, root.mount))
            return true;
    }
    return false;
}

/* How far a path goes. */
struct walked {
    char there[LIMIT_PATH_BYTES]; /* the last part that is there */
    char name[LIMIT_PATH_BYTES];  /* the first that is not, or all of it */
};

/* Only what our own root lacks was not granted: in other trees a name may just be absent. */
static const char *walk(const char *path, bool is_root_own, struct walked *ret_walked)
{
    struct place root;
    struct place parent;
    struct place place;

    (void)snprintf(ret_walked->there, sizeof(ret_walked->there), "/");
    (void)snprintf(ret_walked->name, sizeof(ret_walked->name), "/");
    if (!look("/", &root))
        return NULL;
    parent = root;
    for (const char *end = path; *end && end[1]; parent = place) {
        end = strchrnul(end + 1, '/');
        (void)snprintf(ret_walked->name, sizeof(ret_walked->name), "%.*s", (int)(end - path), path);
        if (!look(ret_walked->name, &place))
            return errno == ENOENT && is_root_own && parent.mount == root.mount ? "does not show it"
                                                                                : NULL;
        if (place.mount != parent.mount && (place.mode & 07777) == 0)
            return "denies it";
        memcpy(ret_walked->there, ret_walked->name, sizeof(ret_walked->there));
    }
    return NULL;
}

static const char *protects(const struct walked *walked)
{
    /* KERNEL: no file has this type, so the kernel answers EINVAL for every name. Only a supervisor
     * that refuses the name answers first: EACCES, or EEXIST if the name exists. */
    if (syscall(SYS_mknodat, AT_FDCWD, walked->name, S_IFMT, 0) < 0 &&
        (errno == EACCES || errno == EEXIST))
        return "protects it";
    return NULL;
}

static const char *refuses_writing(const struct walked *walked)
{
    return is_read_only(walked->there) ? "shows it read-only" : protects(walked);
}

/* An overlay whose sockets nobody listens on. KERNEL: a datagram socket asks without being heard.
 */
static const char *refuses_connecting(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct statfs status;
    autoclose int file = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    autoclose int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (file < 0 || sock < 0 || fstatfs(file, &status) < 0 || !(status.f_flags & ST_RDONLY) ||
        status.f_type != OVERLAYFS_SUPER_MAGIC)
        return NULL;
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", file);
    return connect(sock, (const struct sockaddr *)&address, sizeof(address)) < 0 &&
                   errno == ECONNREFUSED
               ? "lets nobody connect to it"
               : NULL;
}

const char *outer_refuses_path(enum bawn_operation operation, const char *path)
{
    struct walked walked;
    const char *refusal;

    if (!outer_is_there())
        return NULL;
    refusal = walk(path, true, &walked);
    if (!refusal && operation == BAWN_WRITE)
        refusal = refuses_writing(&walked);
    else if (!refusal && operation == BAWN_CONNECT)
        refusal = refuses_connecting(path);
    return refusal;
}

/* A denial that is not told shows where somebody makes calls for the command: he refuses the name.
 * What is private is shown, whatever is there by now. */
const char *outer_refuses_here(enum bawn_operation operation, const char *path, bool is_private)
{
    struct walked walked;
    const char *refusal = walk(path, outer_is_there() && !is_private, &walked);

    if (!refusal && operation == BAWN_WRITE)
        refusal = refuses_writing(&walked);
    else if (!refusal && is_private)
        refusal = protects(&walked) ? "denies it" : NULL;
    else if (!refusal && operation == BAWN_CONNECT)
        refusal = refuses_connecting(path);
    return refusal;
}

/* KERNEL: connecting a datagram socket looks for a route and sends nothing. */
static bool has_route(const char *text)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(9)};
    bool is_four = inet_pton(AF_INET, text, &four.sin_addr) == 1;
    const struct sockaddr *address =
        is_four ? (const struct sockaddr *)&four : (const struct sockaddr *)&six;
    autoclose int sock = socket(is_four ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (!is_four && inet_pton(AF_INET6, text, &six.sin6_addr) != 1)
        return true;
    return sock >= 0 && (connect(sock, address, is_four ? sizeof(four) : sizeof(six)) == 0 ||
                         (errno != ENETUNREACH && errno != EADDRNOTAVAIL));
}

const char *outer_refuses_host(const struct host *host, bool here)
{
    bool is_reached;

    if (!(here || outer_is_there()) || strcmp(host->name, "localhost") == 0)
        return NULL;
    /* We look no name up: ask for a route to addresses that only documents use. */
    is_reached = host->kind == HOST_ADDRESS ? has_route(host->name)
                                            : has_route("192.0.2.1") || has_route("2001:db8::1");
    return is_reached ? NULL : "has no way there";
}
