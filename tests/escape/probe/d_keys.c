/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of the kernel's, and the limits of pid 1.
 *   d_keys add             makes a key in the caller's keyring; says the numbers of both
 *   d_keys drop KEY        takes it away
 *   d_keys read KEY RING   tries to read it by its number, then by linking the keyring to its own
 */
#include "verdict.h"

#include <linux/keyctl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static void say(const char *what, long result)
{
    verdict_say(verdict_word(verdict_of(result)), what);
}

static int add(void)
{
    long key = syscall(SYS_add_key, "user", "bawn-probe", "secret", 6, KEY_SPEC_USER_KEYRING);
    long ring = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 0);

    if (key == -1 || ring == -1)
        return 1;
    printf("%ld %ld\n", key, ring);
    return 0;
}

static long limit(pid_t pid)
{
    struct rlimit now;

    if (prlimit(pid == 1 ? 0 : pid, RLIMIT_NOFILE, NULL, &now) == -1)
        exit(1);
    return prlimit(pid, RLIMIT_NOFILE, &now, NULL);
}

int main(int argc, char **argv)
{
    long key = argc > 2 ? atol(argv[2]) : 0;
    char text[16];

    if (argc == 2 && strcmp(argv[1], "add") == 0)
        return add();
    if (argc == 3 && strcmp(argv[1], "drop") == 0)
        return (int)syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_USER_KEYRING);
    if (argc != 4 || strcmp(argv[1], "read") != 0)
        return 2;
    say("by-number", syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof(text)));
    syscall(SYS_keyctl, KEYCTL_LINK, atol(argv[3]), KEY_SPEC_PROCESS_KEYRING);
    say("linked", syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof(text)));
    say("request", syscall(SYS_request_key, "user", "bawn-probe", NULL, 0));
    say("add", syscall(SYS_add_key, "user", "bawn-inside", "x", 1, KEY_SPEC_PROCESS_KEYRING));
    say("limits-of-pid1", limit(1));
    say("limits-of-its-own", limit(0));
    return 0;
}
