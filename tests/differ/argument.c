/* SPDX-License-Identifier: Apache-2.0 */
/* The paths that calls are given: few names, so that calls meet, and every form that a path can
 * have. */
#include "differ/actor.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_MAX_BYTES = 4096, NAME_MAX_BYTES = 255, PAGE = 4096 };

static const char *const usual[] = {"a", "b", "c", "d", "e", "f", "g"};
static const char *const seldom[] = {"h", "i", "j", "k", "l", "m", "o", "p", "q", "r"};
static const char *const odd[] = {"x y", "\xff\xfe\x80", ".h", "..a", "...", "a\nb", "~", "*"};
/* By the built-in list, wherever they are. */
static const char *const protected[] = {
    ".git",      ".bashrc",     ".vscode",   ".envrc", ".gitconfig", ".git/hooks", ".claude",
    ".mcp.json", ".git/config", ".vscode/a", ".GIT",   ".claude/a",  ".profile",   ".git/hooks/a",
    "hooks",     "config",      "a/config",  ".git",   ".git"};

static void add(struct argument *argument, const char *text)
{
    size_t used = strlen(argument->text);

    (void)snprintf(argument->text + used, sizeof(argument->text) - used, "%s", text);
}

static void add_many(struct argument *argument, const char *text, size_t count)
{
    while (count-- > 0)
        add(argument, text);
}

static void add_name(struct actor *actor, struct argument *argument)
{
    if (actor->wants_protected && actor_chance(actor, 35))
        add(argument, PICK_OF(actor, protected));
    else if (actor_chance(actor, 4))
        add(argument, PICK_OF(actor, odd));
    else if (actor_chance(actor, 15))
        add(argument, PICK_OF(actor, seldom));
    else if (actor_chance(actor, 1))
        add_many(argument, "n", NAME_MAX_BYTES + actor_pick(actor, 2));
    else
        add(argument, PICK_OF(actor, usual));
}

static void add_slashes(struct actor *actor, struct argument *argument)
{
    static const char *const slashes[] = {"//", "/./", "///", "/.//"};

    add(argument, actor_chance(actor, 92) ? "/" : PICK_OF(actor, slashes));
}

/* Names with at most one ".." among them: no path leads out of the directories around the base. */
static void add_names(struct actor *actor, struct argument *argument)
{
    static const unsigned counts[] = {1, 1, 1, 1, 1, 2, 2, 2, 3, 4};
    unsigned count = PICK_OF(actor, counts);
    unsigned up = actor_chance(actor, 12) ? actor_pick(actor, count) : count;

    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            add_slashes(actor, argument);
        if (i == up)
            add(argument, "..");
        else if (actor_chance(actor, 3))
            add(argument, ".");
        else
            add_name(actor, argument);
    }
    if (actor_chance(actor, 8))
        add_slashes(actor, argument);
}

static void add_base(struct actor *actor, struct argument *argument)
{
    add(argument, actor->base);
    add_slashes(actor, argument);
}

static int slot(struct actor *actor)
{
    return actor->fds[actor_pick(actor, SLOTS)];
}

/* Links of /proc. A number tells nothing where threads take turns. */
static void add_magic(struct actor *actor, struct argument *argument)
{
    static const char *const forms[] = {"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/",
                                        "/proc/self/fd/", "/proc/self/fd/../fd/"};
    char text[64];
    int fd = slot(actor);

    if (actor_chance(actor, 30) && !actor->shares) {
        add(argument, "/proc/self/cwd/");
    } else {
        (void)snprintf(text, sizeof(text), "%s%d", PICK_OF(actor, forms), fd);
        argument->is_lost = actor_is_lost(fd);
        add(argument, text);
        if (!actor_chance(actor, 35))
            return;
        add(argument, "/");
    }
    if (actor_chance(actor, 80))
        add_names(actor, argument);
}

/* As long as the kernel lets a path be, or a byte or two more. */
static void add_longest(struct actor *actor, struct argument *argument)
{
    size_t length = PATH_MAX_BYTES - 4 + actor_pick(actor, 7);
    static const char *const fillers[] = {"./", "/", "a/../"};
    const char *filler = PICK_OF(actor, fillers);

    if (filler[0] == '/')
        add(argument, actor->base);
    while (strlen(argument->text) + strlen(filler) < length - 1)
        add(argument, filler);
    while (strlen(argument->text) < length - 1)
        add(argument, "/");
    add(argument, PICK_OF(actor, usual));
}

/* Pointers that are none, or to a text that does not end where memory does. */
static void choose_pointer(struct actor *actor, struct argument *argument)
{
    static char *page;
    uint32_t which = actor_pick(actor, 5);

    if (!page)
        page = mmap(NULL, 3 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                    0);
    if (page == MAP_FAILED)
        _exit(99);
    (void)mprotect(page + 2 * PAGE, PAGE, PROT_NONE);
    (void)snprintf(argument->text, sizeof(argument->text), "pointer %u", which);
    memset(page, 'a', 2 * (size_t)PAGE);
    memcpy(page + 2 * PAGE - 2, "b", 2);
    argument->path = which == 0   ? NULL
                     : which == 1 ? (const char *)8
                     : which == 2 ? page + 2 * PAGE
                     : which == 3 ? page + PAGE - 300 /* too long, and ends in time */
                                  : page + 2 * PAGE - 2;
    if (which == 4)
        (void)snprintf(argument->text, sizeof(argument->text), "b at the end of a page");
}

/* By its whole path, or from where the actor is. */
static void add_recent(struct actor *actor, struct argument *argument)
{
    const char *path =
        actor->recent[actor_pick(actor, actor->last < RECENT ? actor->last : RECENT)];
    char cwd[ARGUMENT_BYTES];

    if (actor_chance(actor, 70) && !actor->shares && getcwd(cwd, sizeof(cwd)) &&
        strncmp(path, cwd, strlen(cwd)) == 0 && path[strlen(cwd)] == '/')
        path += strlen(cwd) + 1;
    add(argument, path);
    if (actor_chance(actor, 5))
        add_slashes(actor, argument);
}

void argument_remember(struct actor *actor, int dir, const struct argument *argument)
{
    char *recent = actor->recent[actor->last % RECENT];
    char cwd[ARGUMENT_BYTES];
    const char *at = dir == AT_FDCWD ? getcwd(cwd, sizeof(cwd)) : actor->base;
    bool is_absolute = argument->text[0] == '/';
    int length;

    if (actor->error || argument->path != argument->text || !at ||
        (!is_absolute && dir != AT_FDCWD && dir != actor->base_fd))
        return;
    length = snprintf(recent, RECENT_BYTES, "%s%s%s", is_absolute ? "" : at, is_absolute ? "" : "/",
                      argument->text);
    if (length >= RECENT_BYTES || strncmp(recent, actor->base, strlen(actor->base)) != 0)
        (void)snprintf(recent, RECENT_BYTES, "%s/a", actor->base);
    actor->last++;
}

void argument_choose(struct actor *actor, struct argument *argument, unsigned may)
{
    static const char *const dots[] = {"", ".", "./", "..", "../a", "./.", "a/.", "b/.."};
    uint32_t form = actor_pick(actor, 1000);

    argument->text[0] = '\0';
    argument->is_lost = false;
    argument->path = argument->text;
    if (form < 20)
        add(argument, PICK_OF(actor, dots));
    else if (form < 30 && !actor->shares)
        choose_pointer(actor, argument);
    else if (form < 40)
        add_longest(actor, argument);
    else if (form < 75)
        add_magic(actor, argument);
    else if (form < 85 && (may & MAY_BE_DEVICE))
        add(argument, actor_chance(actor, 60) ? "/dev/null" : "/dev/tty");
    else if (form < 88 && (may & MAY_BE_ROOT))
        add(argument, "/");
    else if (form < 95)
        add(argument, "/nothing-here/a");
    else if (form < 250) {
        add_base(actor, argument);
        add_names(actor, argument);
    } else if (!(may & IS_NEW) && form < 700 && actor->last > 0) {
        add_recent(actor, argument);
    } else {
        add_names(actor, argument);
    }
    /* The current directory is everybody's. */
    if (actor->shares && !(may & MAY_BE_RELATIVE) && argument->text[0] &&
        argument->text[0] != '/') {
        char text[ARGUMENT_BYTES];

        memcpy(text, argument->text, sizeof(text));
        argument->text[0] = '\0';
        add_base(actor, argument);
        add(argument, text);
    }
}

void argument_target(struct actor *actor, struct argument *argument)
{
    uint32_t form = actor_pick(actor, 100);

    argument->text[0] = '\0';
    argument->is_lost = false;
    argument->path = argument->text;
    if (form < 3 && !actor->shares) {
        argument_choose(actor, argument, 0);
    } else if (form < 25) {
        add_base(actor, argument);
        add_names(actor, argument);
    } else {
        add_names(actor, argument);
    }
    /* Of a path that goes on behind a long text bawn says that it is too long. */
    if (strlen(argument->text) > NAME_MAX_BYTES)
        memcpy(argument->text, "a", 2);
}

/* Numbers of descriptors are nobody's where threads take turns. */
void tell_argument(struct actor *actor, const struct argument *argument)
{
    const char *fd = strstr(argument->text, "fd/");
    size_t skipped = 0;

    tell(actor, " \"");
    if (actor->shares && fd && argument->text[0] == '/') {
        tell(actor, "fd");
        skipped = (size_t)(fd - argument->text) + strspn(fd, "fd/.-0123456789");
    }
    tell_text(actor, argument->text + skipped, strlen(argument->text + skipped));
    tell(actor, argument->is_lost ? "\" lost" : "\"");
}
