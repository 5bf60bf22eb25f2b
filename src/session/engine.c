/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that gives the sandbox an interface and translates its addresses: slirp4netns or pasta.
 *
 * How it works: a process of our own starts it, and waits for its end and the sandbox's. It
 * outlives the launcher, for the program may not notice that the sandbox is gone, and cannot be
 * made to die with us: who enters a user namespace loses the signal for that. The program enters
 * the sandbox's user and network namespaces by descriptors, makes the interface, and configures it.
 * SECURITY: it connects to whatever it is sent to. So rules of nf_tables inside, which no command
 * can change, let nothing out but to public addresses that this host does not have, and routes
 * refuse the same at once; both are there before a command is. KERNEL: routes alone would not do:
 * who names the interface (SO_BINDTODEVICE) is taken at his word. When the program ends the
 * interface is gone, and with it every way out.
 *
 * IPv6 leads out only with SETTING_NETWORK_IPV6. It has the network of which slirp4netns cannot
 * have another one. pasta gives the interface its address and a route; slirp4netns would tell of
 * them after seconds (router advertisements), so that is done here. SECURITY: of IPv6 not only the
 * host's addresses are refused, but the networks that they are in (route_each_own).
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "kernel/process.h"
#include "kernel/route.h"
#include "kernel/sys.h"
#include "policy/setting.h"
#include "session/own.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the process; the program has all but the last. */
enum { IN_FD, OUT_FD, LOG_FD, USER_FD, NET_FD, INIT_FD, KEPT_FDS };

enum {
    READY_MS = 5000,
    V6_READY_MS = 2000, /* after IPv4 is */
    LOOK_MS = 4,
    WORDS = 48,
    SUBNET = 10 << 24 | 2 << 8, /* unless the policy says another one */
    SUBNET_BITS = 24,
};

#define ADDRESS_V6 "fd00::64"
#define GATEWAY_V6 "fe80::2"
static const struct route_range address_v6 = {AF_INET6, 64, {0xfd, [15] = 0x64}};
static const struct route_range gateway_v6 = {AF_INET6, 128, {0xfe, 0x80, [15] = 2}};
/* Its network in two halves, which count more than the whole. */
static const struct route_range halves_v6[] = {{AF_INET6, 65, {0xfd}},
                                               {AF_INET6, 65, {0xfd, [8] = 0x80}}};
/* To see whether there is a way. */
static const struct route_range any_v4 = {AF_INET, 32, {1, 1, 1, 1}};
static const struct route_range any_v6 = {AF_INET6, 128, {0x20, [15] = 1}};

static const char interface[] = "tap0";
static const char user_path[] = "/proc/self/fd/3", net_path[] = "/proc/self/fd/4";

struct words {
    const char *argv[WORDS];
    unsigned count;
    char subnet[32], address[INET_ADDRSTRLEN], gateway[INET_ADDRSTRLEN], bits[8], mtu[8];
};

static void add(struct words *words, const char *const *more, size_t count)
{
    for (size_t i = 0; i < count && words->count < WORDS - 1; i++)
        words->argv[words->count++] = more[i];
    words->argv[words->count] = NULL;
}
#define ADD(words, ...)                                                                            \
    add(words, (const char *const[]){__VA_ARGS__},                                                 \
        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void put_address(char text[INET_ADDRSTRLEN], uint32_t address)
{
    struct in_addr bytes = {htonl(address)};

    (void)inet_ntop(AF_INET, &bytes, text, INET_ADDRSTRLEN);
}

static void find_subnet(const struct image *image, uint32_t *ret_subnet, unsigned *ret_bits)
{
    *ret_subnet = image->network_subnet ? image->network_subnet : SUBNET;
    *ret_bits = image->network_subnet ? image->network_bits : SUBNET_BITS;
}

/* Neither the host's loopback, nor its servers for names, nor a port of either side. */
static void say_slirp4netns(struct words *words, const struct image *image)
{
    ADD(words, "--configure", "--disable-host-loopback", "--disable-dns", "--cidr", words->subnet,
        "--netns-type=path", "--userns-path", user_path);
    if (image->network_ipv6)
        ADD(words, "--enable-ipv6");
    if (image->network_mtu)
        ADD(words, "--mtu", words->mtu);
    ADD(words, net_path, interface);
}

static void say_pasta(struct words *words, const struct image *image)
{
    ADD(words, "--foreground", "--config-net", "--no-map-gw", "--tcp-ports", "none", "--udp-ports",
        "none", "--tcp-ns", "none", "--udp-ns", "none", "--no-dhcp", "--no-dhcpv6", "--no-ra",
        "--ns-ifname", interface, "--address", words->address, "--netmask", words->bits,
        "--gateway", words->gateway);
    if (image->network_ipv6)
        ADD(words, "--address", ADDRESS_V6, "--gateway", GATEWAY_V6);
    else
        ADD(words, "--ipv4-only", "--no-ndp");
    /* It would become nobody, who may not enter what is root's. */
    if (geteuid() == 0)
        ADD(words, "--runas", "0");
    if (image->network_mtu)
        ADD(words, "--mtu", words->mtu);
    ADD(words, "--userns", user_path, "--netns", net_path);
}

static void find_words(const struct image *image, struct words *words)
{
    char network[INET_ADDRSTRLEN];
    uint32_t subnet;
    unsigned bits;

    words->count = 0;
    find_subnet(image, &subnet, &bits);
    put_address(words->gateway, subnet + 1);
    put_address(words->address, subnet + 2);
    (void)snprintf(words->bits, sizeof(words->bits), "%u", bits);
    put_address(network, subnet);
    (void)snprintf(words->subnet, sizeof(words->subnet), "%s/%s", network, words->bits);
    (void)snprintf(words->mtu, sizeof(words->mtu), "%u", image->network_mtu);
    ADD(words, image_string(image, image->engine_path));
    if (image->network_engine == ENGINE_PASTA)
        say_pasta(words, image);
    else
        say_slirp4netns(words, image);
}

_Noreturn static void become_engine(const struct image *image, pid_t parent)
{
    static char path[] = "PATH=/usr/bin:/bin";
    char *variables[] = {path, NULL};
    struct words words;

    find_words(image, &words);
    (void)close(INIT_FD);
    /* Where it lasts: else who waits for us ends us. */
    if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent)
        (void)execve(words.argv[0], (char *const *)(uintptr_t)words.argv, variables);
    dprintf(LOG_FD, "%s: %s\n", words.argv[0], strerror(errno));
    _exit(127);
}

/*
 * Holds:    the caller's rights, the sandbox's namespaces, a pidfd of pid 1.
 * Must:     end the program when nobody is left inside; end when it ends.
 * Mustn't:  end before it, or with the launcher.
 */
static int keep_engine(void *context, struct event_sender *events, struct bawn_error *err)
{
    const struct session *session = context;
    pid_t self = getpid();
    int pidfd = -EBADF;
    pid_t pid = process_split(-EBADF, &pidfd);
    struct pollfd ended[] = {{.fd = INIT_FD, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};

    (void)events;
    if (pid == 0)
        become_engine(session->request->image, self);
    if (pid < 0)
        return error_errno(err, errno, "start the network's engine");
    ended[1].fd = pidfd;
    while (poll(ended, 2, -1) < 0 && errno == EINTR)
        ;
    /* With those that it has started itself; nobody else has its number before we have waited. */
    (void)kill(-pid, SIGKILL);
    (void)sys_pidfd_send_signal(pidfd, SIGKILL);
    while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
    return ended[0].revents ? 0 : -ECHILD;
}

/* The last line that the program said. */
static void read_log(int fd, char *line, size_t size)
{
    char text[1024];
    off_t end = lseek(fd, 0, SEEK_END);
    ssize_t got = pread(fd, text, sizeof(text) - 1, end > (off_t)sizeof(text) - 1 ? end - 1023 : 0);
    char *last;

    text[got > 0 ? got : 0] = '\0';
    for (size_t length = strlen(text); length > 0 && text[length - 1] == '\n';)
        text[--length] = '\0';
    last = strrchr(text, '\n');
    last = last ? last + 1 : text;
    text_escape(line, size, last, strlen(last), TEXT_ONE_LINE);
}

static const char *engine_name(const struct session *session)
{
    return setting_table[SETTING_NETWORK_ENGINE].words[session->request->image->network_engine];
}

static int on_ended(void *context, uint32_t events)
{
    struct session *session = context;
    struct bawn_error said = {0};
    char line[256];
    int status = 0;

    (void)events;
    if (!aide_reap(&session->engine, &status) || status == 0)
        return 0;
    read_log(session->engine_log, line, sizeof(line));
    (void)error_set(&said, EIO, "run.net_gone",
                    "the command has no network any more: %s has ended%s%s", engine_name(session),
                    line[0] ? ": " : "", line);
    error_hint(&said, "without sandbox.network.engine the mode isolated does not need it");
    session_say(session, &said);
    return session_lost(session, WHO_ENGINE, status);
}

static bool has_v6(const struct session *session)
{
    return session->request->image->network_ipv6;
}

/* Its own addresses are as good as its loopback. */
static int prohibit_own(void *context, const struct route_range *own)
{
    const struct session *session = context;
    const struct launch *launch = &session->launch;
    int result;

    if (own->family == AF_INET6 && !has_v6(session))
        return 0;
    result = route_prohibit(launch->route_fd, own);
    /* Two interfaces have it. */
    return result == 0 || result == -EEXIST ? steer_refuse(launch->rules_fd, own) : result;
}

static int close_v6(int sock)
{
    int result = route_prohibit_special(sock, AF_INET6);

    if (result == 0)
        result = route_prohibit(sock, &halves_v6[0]);
    return result < 0 ? result : route_prohibit(sock, &halves_v6[1]);
}

/* The interface's own network, too: both halves of it, which count more than the whole. */
static int close_rest(struct session *session)
{
    int sock = session->launch.route_fd;
    struct route_range half;
    uint32_t subnet;
    unsigned bits;
    int result = route_prohibit_special(sock, AF_INET);

    find_subnet(session->request->image, &subnet, &bits);
    half = route_v4(subnet, bits + 1);
    if (result == 0)
        result = route_prohibit(sock, &half);
    half = route_v4(subnet + (1U << (31 - bits)), bits + 1);
    if (result == 0)
        result = route_prohibit(sock, &half);
    if (result == 0 && has_v6(session))
        result = close_v6(sock);
    return result < 0 ? result : route_each_own(prohibit_own, session);
}

static int refuse_start(struct session *session, int errnum, struct bawn_error *err)
{
    char line[256];

    read_log(session->engine_log, line, sizeof(line));
    (void)error_set(err, errnum, "run.engine", "%s does not start%s%s", engine_name(session),
                    line[0] ? ": " : "", line);
    error_hint(err, "without sandbox.network.engine the mode isolated does not need it");
    return -errnum;
}

/* Until a route leads to it. 0, or the errno. */
static int await_route(const struct session *session, const struct route_range *any, int limit_ms)
{
    struct pollfd ended = {.fd = session->engine.pidfd, .events = POLLIN};
    int64_t until = clock_ms() + limit_ms;
    unsigned bits;

    while (route_find(session->launch.route_fd, any, &bits) < 0) {
        if (poll(&ended, 1, LOOK_MS) > 0)
            return ECHILD;
        if (clock_ms() > until)
            return ETIMEDOUT;
    }
    return 0;
}

/* What slirp4netns leaves to the kernel. 0, or the errno. */
static int configure_v6(const struct session *session)
{
    int sock = session->launch.route_fd;
    unsigned index = 0;
    int result = route_find_index(sock, interface, &index);

    if (result == 0)
        result = route_add_address(sock, index, &address_v6);
    if (result == 0)
        result = route_add_default(sock, index, &gateway_v6);
    return -result;
}

static int refuse_v6(struct session *session, int errnum, struct bawn_error *err)
{
    bool is_pasta = session->request->image->network_engine == ENGINE_PASTA;

    if (errnum == ECHILD)
        return refuse_start(session, errnum, err);
    (void)error_set(err, errnum, "run.engine", "%s gives the sandbox no IPv6: %s",
                    engine_name(session),
                    is_pasta && errnum == ETIMEDOUT
                        ? "it wants an interface of this host that has a default route of IPv6, "
                          "and an address that is not link-local beside one that is"
                        : strerror(errnum));
    error_hint(err, "sandbox.network.ipv6: false runs with IPv4 alone");
    return -errnum;
}

/* Until there is a way out. */
static int await_way(struct session *session, struct bawn_error *err)
{
    int errnum = await_route(session, &any_v4, READY_MS);

    if (errnum)
        return refuse_start(session, errnum, err);
    if (!has_v6(session))
        return 0;
    errnum = session->request->image->network_engine == ENGINE_PASTA
                 ? await_route(session, &any_v6, V6_READY_MS)
                 : configure_v6(session);
    return errnum ? refuse_v6(session, errnum, err) : 0;
}

int session_start_engine(struct session *session, struct bawn_error *err)
{
    autoclose int null_fd = openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);
    autoclose int net_fd = ioctl(session->launch.route_fd, SIOCGSKNS);
    autoclose int user_fd = net_fd < 0 ? -EBADF : ioctl(net_fd, NS_GET_USERNS);
    struct aide_work work = {.who = WHO_ENGINE,
                             .fds = {[IN_FD] = null_fd,
                                     [OUT_FD] = null_fd,
                                     [USER_FD] = user_fd,
                                     [NET_FD] = net_fd,
                                     [INIT_FD] = session->launch.pidfd},
                             .count = KEPT_FDS,
                             .run = keep_engine,
                             .context = session};
    int result;

    session->engine_log = memfd_create("bawn engine", MFD_CLOEXEC);
    work.fds[LOG_FD] = session->engine_log;
    if (null_fd < 0 || user_fd < 0 || session->engine_log < 0)
        return error_errno(err, errno, "prepare the network's engine");
    result = aide_start(&session->engine, &work, -EBADF, err);
    if (result == 0)
        result = await_way(session, err);
    if (result < 0)
        return result;
    result = close_rest(session);
    (void)close(take_fd(&session->launch.route_fd));
    (void)close(take_fd(&session->launch.rules_fd));
    if (result < 0)
        return error_errno(err, -result, "hold the network to public addresses");
    return aide_watch(&session->engine, &session->loop, on_ended, session, err);
}
