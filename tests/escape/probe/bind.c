/* SPDX-License-Identifier: Apache-2.0 */
/* bind FROM TO: shows one at the other, for cases with mounts of their own. mount(8) asks for uid
 * 0. */
#include <stdio.h>
#include <sys/mount.h>

int main(int argc, char **argv)
{
    if (argc != 3 || mount(argv[1], argv[2], NULL, MS_BIND, NULL) < 0) {
        perror("bind");
        return 1;
    }
    return 0;
}
