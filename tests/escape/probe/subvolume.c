/* SPDX-License-Identifier: Apache-2.0 */
/* subvolume DIR FROM: directories of btrfs that no mkdir makes, in DIR; FROM is a subvolume. */
#include "verdict.h"

#include <fcntl.h>
#include <linux/btrfs.h>
#include <sys/ioctl.h>

struct attempt {
    const char *dir, *from, *name;
};

static int create(void *context)
{
    const struct attempt *attempt = context;
    struct btrfs_ioctl_vol_args args = {0};

    snprintf(args.name, sizeof args.name, "%s", attempt->name);
    return verdict_of(
        ioctl(open(attempt->dir, O_RDONLY | O_DIRECTORY), BTRFS_IOC_SUBVOL_CREATE, &args));
}

static int create_v2(void *context)
{
    const struct attempt *attempt = context;
    struct btrfs_ioctl_vol_args_v2 args = {0};

    snprintf(args.name, sizeof args.name, "%s", attempt->name);
    return verdict_of(
        ioctl(open(attempt->dir, O_RDONLY | O_DIRECTORY), BTRFS_IOC_SUBVOL_CREATE_V2, &args));
}

static int copy(void *context)
{
    const struct attempt *attempt = context;
    struct btrfs_ioctl_vol_args args = {.fd = open(attempt->from, O_RDONLY | O_DIRECTORY)};

    snprintf(args.name, sizeof args.name, "%s", attempt->name);
    return verdict_of(
        ioctl(open(attempt->dir, O_RDONLY | O_DIRECTORY), BTRFS_IOC_SNAP_CREATE, &args));
}

static int copy_v2(void *context)
{
    const struct attempt *attempt = context;
    struct btrfs_ioctl_vol_args_v2 args = {.fd = open(attempt->from, O_RDONLY | O_DIRECTORY)};

    snprintf(args.name, sizeof args.name, "%s", attempt->name);
    return verdict_of(
        ioctl(open(attempt->dir, O_RDONLY | O_DIRECTORY), BTRFS_IOC_SNAP_CREATE_V2, &args));
}

static int destroy(void *context)
{
    const struct attempt *attempt = context;
    struct btrfs_ioctl_vol_args args = {0};

    snprintf(args.name, sizeof args.name, "%s", attempt->name);
    return verdict_of(
        ioctl(open(attempt->dir, O_RDONLY | O_DIRECTORY), BTRFS_IOC_SNAP_DESTROY, &args));
}

static int destroy_v2(void *context)
{
    const struct attempt *attempt = context;
    struct btrfs_ioctl_vol_args_v2 args = {0};

    snprintf(args.name, sizeof args.name, "%s", attempt->name);
    return verdict_of(
        ioctl(open(attempt->dir, O_RDONLY | O_DIRECTORY), BTRFS_IOC_SNAP_DESTROY_V2, &args));
}

int main(int argc, char **argv)
{
    static const struct {
        int (*attempt)(void *);
        const char *name;
    } rows[] = {
        {create, ".vscode"}, {create_v2, ".idea"},   {copy, ".claude"},
        {copy_v2, ".husky"}, {destroy, ".githooks"}, {destroy_v2, ".githooks"},
    };
    char word[32];

    if (argc < 3)
        return 2;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct attempt attempt = {argv[1], argv[2], rows[i].name};

        verdict_apart(rows[i].attempt, &attempt, word, sizeof word);
        verdict_say(word, rows[i].name);
    }
    return 0;
}
