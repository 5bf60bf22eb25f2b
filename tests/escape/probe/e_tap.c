// SPDX-License-Identifier: Apache-2.0
// e_tap NAME: takes the tap interface of that name and sends a frame through it.
#include "verdict.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>

static int take(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    /* To everybody, of a type for experiments. */
    char frame[60] = {-1, -1, -1, -1, -1, -1, [12] = (char)0x88, [13] = (char)0xb5};
    int fd = open("/dev/net/tun", O_RDWR);

    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0 || write(fd, frame, sizeof(frame)) < 0)
        return errno;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    verdict_say(verdict_word(take(argv[1])), argv[1]);
    return 0;
}
