/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that confines itself: d_landlock DIR forbids itself by Landlock to
 * change anything, then tries to. What it is told when it asks for Landlock is
 * the first line; the rest only follows when it was told that it has it.
 */
#include "d_attempt.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>

/* Every right that ABI 3 has, but executing and reading. */
enum { CHANGES = 0x7ff2 };

static long confine_self(void)
{
    struct landlock_ruleset_attr attr = {.handled_access_fs = CHANGES};
    long ruleset = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr.handled_access_fs), 0);

    if (ruleset < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return syscall(SYS_landlock_restrict_self, ruleset, 0);
}

static void say_open(const char *what, const char *path, int flags)
{
    say(what, open(path, flags | O_CLOEXEC, 0600));
}

static void change_all(void)
{
    say_open("own-open-write", "file", O_WRONLY);
    say_open("own-open-both", "file", O_RDWR);
    say_open("own-open-create", "new", O_WRONLY | O_CREAT | O_EXCL);
    say_open("own-open-truncate", "file", O_WRONLY | O_TRUNC);
    say("own-truncate", truncate("file", 0));
    say("own-mkdir", mkdir("new-dir", 0700));
    say("own-mkfifo", mkfifo("new-fifo", 0600));
    say("own-symlink", symlink("file", "new-symlink"));
    say("own-link", link("file", "sub/new-link"));
    say("own-rename", rename("file", "sub/file"));
    say("own-unlink", unlink("file"));
    say("own-rmdir", rmdir("empty"));
}

int main(int argc, char **argv)
{
    struct landlock_path_beneath_attr nothing = {.parent_fd = -1};

    if (argc != 2 || chdir(argv[1]) < 0)
        return 1;
    say("landlock-version",
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION));
    say("landlock-add-rule",
        syscall(SYS_landlock_add_rule, -1, LANDLOCK_RULE_PATH_BENEATH, &nothing, 0));
    say("landlock-restrict", syscall(SYS_landlock_restrict_self, -1, 0));
    if (confine_self() == 0)
        change_all();
    return 0;
}
