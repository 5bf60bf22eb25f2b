/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client and a server to measure a way between them with: see net/bench.py.
 *
 *     bench_net serve ADDRESS PORT            one thread for each connection
 *     bench_net WHAT PORT                     to the server at 127.0.0.2
 *     bench_net WHAT PORT HOST                through a proxy at 127.0.0.1:800
 *     bench_net WHAT PORT HOST itself         to that host, as if there was no proxy
 *
 * The server's first byte from a client says what it wants: 'r' bytes to drop, 't' bytes back, 's'
 * bytes to get. WHAT is send, get, trip or connect, which print bytes, trips or connections per
 * second; or first, which prints how many microseconds the first connection takes, with the
 * name, and the fastest of some later ones.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 1 << 17, TRIP_BYTES = 64, SECONDS = 1, PROXY_PORT = 800, LATER = 20 };

static char block[BLOCK];

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct sockaddr_in address_of(const char *text, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    (void)inet_pton(AF_INET, text, &address.sin_addr);
    return address;
}

static void set_fast(int fd)
{
    const int yes = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

static void *serve_one(void *context)
{
    int fd = *(int *)context;
    char bytes[BLOCK];
    char what = 0;
    ssize_t got;

    free(context);
    set_fast(fd);
    if (recv(fd, &what, 1, 0) == 1 && what == 's') {
        while (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
            ;
    }
    while (what && (got = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
        if (what == 't' && send(fd, bytes, (size_t)got, MSG_NOSIGNAL) < 0)
            break;
    }
    close(fd);
    return NULL;
}

static int serve(const char *text, int port)
{
    struct sockaddr_in address = address_of(text, port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    const int yes = 1;

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 1024) < 0)
        return 1;
    for (;;) {
        int *one = malloc(sizeof(*one));
        pthread_t thread;

        if (!one || (*one = accept(fd, NULL, NULL)) < 0 ||
            pthread_create(&thread, NULL, serve_one, one) != 0)
            return 1;
        (void)pthread_detach(thread);
    }
}

struct target {
    int port;
    const char *host; /* NULL: the server, directly */
    bool is_itself;
};

static int look_up(const struct target *target, struct sockaddr_in *ret_address)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;

    if (getaddrinfo(target->host, NULL, &hints, &found) != 0)
        return -1;
    memcpy(ret_address, found->ai_addr, sizeof(*ret_address));
    ret_address->sin_port = htons((uint16_t)target->port);
    freeaddrinfo(found);
    return 0;
}

/* A connection to the server. */
static int reach(const struct target *target)
{
    const char *host = target->host;
    int port = target->port;
    struct sockaddr_in address =
        host ? address_of("127.0.0.1", PROXY_PORT) : address_of("127.0.0.2", port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char text[512];
    ssize_t got;

    if ((target->is_itself && look_up(target, &address) < 0) ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        exit(1);
    set_fast(fd);
    if (!host || target->is_itself)
        return fd;
    (void)snprintf(text, sizeof(text), "CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n\r\n", host, port,
                   host, port);
    if (send(fd, text, strlen(text), 0) < 0)
        exit(1);
    got = recv(fd, text, sizeof(text), 0);
    if (got < 12 || memcmp(text + 9, "200", 3) != 0)
        exit(1);
    return fd;
}

static double measure_rate(const struct target *target, char what)
{
    int fd = reach(target);
    double began = now(), bytes = 0;

    if (send(fd, &what, 1, 0) != 1)
        exit(1);
    while (now() - began < SECONDS) {
        ssize_t moved =
            what == 's' ? recv(fd, block, sizeof(block), 0) : send(fd, block, sizeof(block), 0);

        if (moved <= 0)
            exit(1);
        bytes += (double)moved;
    }
    close(fd);
    return bytes / (now() - began);
}

static double measure_trips(const struct target *target)
{
    int fd = reach(target);
    double began, trips = 0;

    if (send(fd, "t", 1, 0) != 1)
        exit(1);
    for (began = now(); now() - began < SECONDS; trips++) {
        if (send(fd, block, TRIP_BYTES, 0) != TRIP_BYTES ||
            recv(fd, block, TRIP_BYTES, MSG_WAITALL) != TRIP_BYTES)
            exit(1);
    }
    close(fd);
    return trips / (now() - began);
}

/* A connection, a question, an answer, the end. */
static void connect_once(const struct target *target)
{
    int fd = reach(target);

    if (send(fd, "tx", 2, 0) != 2 || recv(fd, block, 1, 0) != 1)
        exit(1);
    close(fd);
}

static double measure_connects(const struct target *target)
{
    struct target found = *target;
    char address[INET_ADDRSTRLEN];
    struct sockaddr_in in;
    double began, count = 0;

    /* The name is looked up once. */
    if (target->is_itself) {
        if (look_up(target, &in) < 0)
            exit(1);
        found.host = inet_ntop(AF_INET, &in.sin_addr, address, sizeof(address));
    }
    for (began = now(); now() - began < SECONDS; count++)
        connect_once(&found);
    return count / (now() - began);
}

static void measure_first(const struct target *target)
{
    double began = now(), first, least = SECONDS;

    connect_once(target);
    first = now() - began;
    for (int i = 0; i < LATER; i++) {
        began = now();
        connect_once(target);
        least = now() - began < least ? now() - began : least;
    }
    printf("%.0f %.0f\n", first * 1e6, least * 1e6);
}

int main(int argc, char **argv)
{
    const struct target target = {.port = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0,
                                  .host = argc > 3 ? argv[3] : NULL,
                                  .is_itself = argc > 4};

    if (argc > 3 && strcmp(argv[1], "serve") == 0)
        return serve(argv[2], (int)strtol(argv[3], NULL, 10));
    if (argc > 2 && strcmp(argv[1], "send") == 0)
        printf("%.0f\n", measure_rate(&target, 'r'));
    else if (argc > 2 && strcmp(argv[1], "get") == 0)
        printf("%.0f\n", measure_rate(&target, 's'));
    else if (argc > 2 && strcmp(argv[1], "trip") == 0)
        printf("%.0f\n", measure_trips(&target));
    else if (argc > 2 && strcmp(argv[1], "connect") == 0)
        printf("%.0f\n", measure_connects(&target));
    else if (argc > 2 && strcmp(argv[1], "first") == 0)
        measure_first(&target);
    else
        return 2;
    return 0;
}
