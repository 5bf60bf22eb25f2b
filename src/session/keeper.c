/* SPDX-License-Identifier: Apache-2.0 */
#include "session/keeper.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static void unregister(const struct keeper_page *page)
{
    struct registry registry = {.fd = -EBADF};

    if (!page->registry[0])
        return;
    memcpy(registry.path, page->registry, sizeof(registry.path));
    registry.fd = openat(AT_FDCWD, registry.path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (registry.fd < 0)
        return;
    registry_remove(&registry, page->unfinished);
    if (page->sid[0])
        registry_remove(&registry, page->sid);
}

/*
 * Holds:    the caller's rights; the pipe, and no other descriptor.
 * Must:     outlive the launcher, whatever ends that, and the terminal's signals.
 * Mustn't:  keep anything alive that somebody waits for: a stream, a directory, a process.
 */
static int keep(void *context, struct event_sender *events, struct bawn_error *err)
{
    struct keeper_page *page = context;
    char byte;

    (void)events;
    (void)err;
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    if (!page->is_done) {
        for (size_t i = 0; i < CGROUP_PATHS; i++)
            page->group.fds[i] = -EBADF;
        page->group.inside = -EBADF;
        (void)cgroup_remove(&page->group, NULL);
        unregister(page);
    }
    return 0;
}

int keeper_start(struct keeper *keeper, struct bawn_error *err)
{
    struct aide_work work = {.who = WHO_KEEPER, .count = 1, .run = keep};
    struct keeper_page *page;
    int ends[2];
    int result;

    page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return error_errno(err, errno, "map the keeper's page");
    if (pipe2(ends, O_CLOEXEC) < 0) {
        (void)munmap(page, sizeof(*page));
        return error_errno(err, errno, "make the keeper's pipe");
    }
    work.fds[0] = ends[0];
    work.context = page;
    /* The keeper tells no events: it works when the launcher is gone. */
    result = aide_start(&keeper->aide, &work, -EBADF, err);
    (void)close(ends[0]);
    if (result < 0) {
        (void)close(ends[1]);
        (void)munmap(page, sizeof(*page));
        return result;
    }
    keeper->page = page;
    keeper->pipe_fd = ends[1];
    return 0;
}

void keeper_end(struct keeper *keeper)
{
    if (!keeper->page)
        return;
    keeper->page->is_done = true;
    (void)close(keeper->pipe_fd);
    /* Where nobody reaps orphans (pid 1 of many containers) it would stay as a zombie. */
    aide_end(&keeper->aide, -1);
    (void)munmap(keeper->page, sizeof(*keeper->page));
    keeper->page = NULL;
}
