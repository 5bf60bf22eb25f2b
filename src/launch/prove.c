/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts to break out, made inside by a child of pid 1: each must fail. */
#include "kernel/sys.h"
#include "launch/own.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <time.h>

enum { PROOF_SECONDS = 60 };

/* Made where nothing may be made; it would be the sandbox's own root or a read-only tree. */
static bool can_write(const char *path)
{
    int fd = openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    /* Any other error is no refusal: then nothing is proven. */
    if (fd < 0)
        return errno != EROFS && errno != EACCES && errno != EPERM;
    (void)close(fd);
    (void)unlink(path);
    return true;
}

static bool writes_outside(const struct image *image)
{
    char path[4096];

    if (can_write("/.bawn-proof"))
        return true;
    image_each (image, PART_MOUNTS, struct image_mount, step) {
        if (step->step != STEP_BIND || !(step->flags & STEP_READ_ONLY) ||
            (step->flags & STEP_IS_FILE))
            continue;
        (void)snprintf(path, sizeof(path), "/%s/.bawn-proof", image_string(image, step->target));
        if (can_write(path))
            return true;
    }
    return false;
}

/* With capabilities a mask can be opened; there is nothing in it. */
static bool is_empty(int fd)
{
    char bytes[4096];
    ssize_t got = read(fd, bytes, sizeof(bytes));

    if (got < 0 && errno == EISDIR)
        got = syscall(SYS_getdents64, fd, bytes, sizeof(bytes)) > 64; /* more than . and .. */
    return got == 0;
}

static bool reads_masked(const struct image *image)
{
    bool nests = image->flags & IMAGE_MAY_NEST;
    char path[4096];

    image_each (image, PART_MOUNTS, struct image_mount, step) {
        bool through;
        int fd;

        if (step->step != STEP_MASK_FILE && step->step != STEP_MASK_DIR &&
            step->step != STEP_MASK_KEPT)
            continue;
        (void)snprintf(path, sizeof(path), "/%s", image_string(image, step->target));
        fd = openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        through = fd >= 0 && !(nests && is_empty(fd));
        if (fd >= 0)
            (void)close(fd);
        if (through)
            return true;
    }
    return false;
}

/* Whether the mounts of the set-up can be taken off or opened again. */
static bool changes_mounts(const struct image *image)
{
    char path[4096];

    if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL) == 0 || umount2("/", MNT_DETACH) == 0)
        return true;
    image_each (image, PART_MOUNTS, struct image_mount, step) {
        if (step->step != STEP_MASK_FILE && step->step != STEP_MASK_DIR &&
            step->step != STEP_SHELF && step->step != STEP_SEAL && step->step != STEP_BIND &&
            step->step != STEP_SHUT && step->step != STEP_KEPT && step->step != STEP_OVERLAY)
            continue;
        (void)snprintf(path, sizeof(path), "/%s", image_string(image, step->target));
        if (umount2(path, MNT_DETACH) == 0 ||
            ((step->flags & STEP_READ_ONLY) &&
             mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, NULL) == 0))
            return true;
    }
    return false;
}

static bool connects_out(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool through = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

    if (fd >= 0)
        (void)close(fd);
    return through;
}

static bool sees_outside(pid_t launcher)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)launcher);
    /* Inside, that number may be somebody of ours: only the launcher itself would be an escape. */
    return launcher > 16 && (kill(launcher, 0) == 0 || access(path, F_OK) == 0);
}

static bool holds_rights(const struct image *image)
{
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
        return true;
    for (unsigned long cap = 0; cap <= image->last_capability; cap++) {
        if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
            return true;
    }
    return false;
}

/* The sandbox was made a moment ago. */
static bool tells_uptime(void)
{
    struct timespec now;

    return clock_gettime(CLOCK_MONOTONIC, &now) < 0 || now.tv_sec > PROOF_SECONDS;
}

const char *prove_contained(const struct image *image, uint16_t port, pid_t launcher)
{
    bool nests = image->flags & IMAGE_MAY_NEST;

    /* The supervisor must be able to read what is tried; nobody else is here who could. */
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
        return "not be watched";
    if (writes_outside(image))
        return "write outside what is granted";
    if (reads_masked(image))
        return "read what is hidden";
    if ((image->flags & IMAGE_OWN_NET) && port && connects_out(port))
        return "connect to the host";
    if (sees_outside(launcher))
        return "see processes outside";
    if ((image->flags & IMAGE_OWN_TIME) && tells_uptime())
        return "read clocks that began with the host";
    if (nests && changes_mounts(image))
        return "take mounts off or make them writable";
    if (!nests && mount("none", "/", "tmpfs", 0, NULL) == 0)
        return "mount";
    if (!nests && unshare(CLONE_NEWUSER) == 0)
        return "make a user namespace";
    if (!nests && holds_rights(image))
        return "keep rights that were to be given up";
    if (!(image->flags & IMAGE_MAY_TRACE) && ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
        return "trace processes";
    return NULL;
}
