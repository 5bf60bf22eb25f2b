/* SPDX-License-Identifier: Apache-2.0 */
/* subvolume DIR FROM: directories of btrfs that no mkdir makes, in DIR; FROM is a subvolume. */
#include "verdict.h"

#include <fcntl.h>
#include <linux/btrfs.h>
#include <stdbool.h>
#include <sys/ioctl.h>

/* Both forms of a request have a descriptor in front and the name at its own place. */
struct attempt {
    unsigned long request;
    const char *name;
    bool copies, is_v2;
    const char *dir, *from;
};

static int try(void *context)
{
    const struct attempt *attempt = context;
    struct btrfs_ioctl_vol_args old = {0};
    struct btrfs_ioctl_vol_args_v2 new = {0};

    if (attempt->copies)
        old.fd = new.fd = open(attempt->from, O_RDONLY | O_DIRECTORY);
    snprintf(old.name, sizeof old.name, "%s", attempt->name);
    snprintf(new.name, sizeof new.name, "%s", attempt->name);
    return verdict_of(ioctl(open(attempt->dir, O_RDONLY | O_DIRECTORY), attempt->request,
                            attempt->is_v2 ? (void *)&new : (void *)&old));
}

int main(int argc, char **argv)
{
    struct attempt attempts[] = {
        {.request = BTRFS_IOC_SUBVOL_CREATE, .name = ".vscode"},
        {.request = BTRFS_IOC_SUBVOL_CREATE_V2, .name = ".idea", .is_v2 = true},
        {.request = BTRFS_IOC_SNAP_CREATE, .name = ".claude", .copies = true},
        {.request = BTRFS_IOC_SNAP_CREATE_V2, .name = ".husky", .copies = true, .is_v2 = true},
        {.request = BTRFS_IOC_SNAP_DESTROY, .name = ".githooks"},
        {.request = BTRFS_IOC_SNAP_DESTROY_V2, .name = ".githooks", .is_v2 = true},
    };
    char word[32];

    if (argc < 3)
        return 2;
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        attempts[i].dir = argv[1];
        attempts[i].from = argv[2];
        verdict_apart(try, &attempts[i], word, sizeof word);
        verdict_say(word, attempts[i].name);
    }
    return 0;
}
