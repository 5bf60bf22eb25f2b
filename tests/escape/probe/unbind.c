/* SPDX-License-Identifier: Apache-2.0 */
/* unbind PATH: takes off what bind put there. */
#include <stdio.h>
#include <sys/mount.h>

int main(int argc, char **argv)
{
    if (argc != 2 || umount2(argv[1], MNT_DETACH) < 0) {
        perror("unbind");
        return 1;
    }
    return 0;
}
