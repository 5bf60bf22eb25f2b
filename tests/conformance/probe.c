/* SPDX-License-Identifier: Apache-2.0 */
/* Tries operations inside a sandbox. Reads "operation NUL what NUL" pairs from its input until the
 * end, then tries one after the other and prints a line for each: the way that worked or "-", the
 * name of the last errno or "ok", and the first bytes that were read, in hex. Static: it needs
 * nothing but itself. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK  "written inside"
#define SHOWN 64
/* What the servers outside answer; a proxy that refuses does not. */
#define REACHED "reached"

static char input[1 << 20];

static void say(const char *way, int errnum)
{
    printf("%s %s", way, errnum ? strerrorname_np(errnum) : "ok");
}

/* Bytes of a regular file; of a pipe or a terminal none are taken. */
static void show_bytes(int fd)
{
    struct stat at;
    unsigned char bytes[SHOWN];
    ssize_t count = 0;

    if (fstat(fd, &at) == 0 && S_ISREG(at.st_mode))
        count = read(fd, bytes, sizeof(bytes));
    if (count < 0) {
        printf(" %s", strerrorname_np(errno));
        return;
    }
    printf(" ");
    for (ssize_t i = 0; i < count; i++)
        printf("%02x", bytes[i]);
}

/* "decoy" where the name is in it that only the host's directory has. */
static void list(DIR *dir)
{
    const struct dirent *entry;
    bool has_decoy = false;

    errno = 0;
    while ((entry = readdir(dir)))
        has_decoy |= strcmp(entry->d_name, "conformance-decoy") == 0;
    say(errno ? "-" : has_decoy ? "decoy" : "list", errno);
}

static void try_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    DIR *dir;

    if (fd < 0) {
        say("-", errno);
        return;
    }
    dir = fdopendir(fd);
    if (dir) {
        list(dir);
        (void)closedir(dir);
        return;
    }
    say("open", 0);
    show_bytes(fd);
    (void)close(fd);
}

/* Nothing is written to what is no file of a disk: opening it is answer enough. */
static void leave_mark(int fd)
{
    struct stat at;
    struct statfs where;

    if (fstat(fd, &at) == 0 && S_ISREG(at.st_mode) && fstatfs(fd, &where) == 0 &&
        where.f_type != PROC_SUPER_MAGIC && where.f_type != SYSFS_MAGIC &&
        where.f_type != CGROUP_SUPER_MAGIC && where.f_type != CGROUP2_SUPER_MAGIC &&
        write(fd, MARK, strlen(MARK)) < 0)
        printf(" %s", strerrorname_np(errno));
}

/* Not where ".." would lead somewhere else once they are there. */
static void make_parents(const char *path)
{
    char parent[8192];

    if (strstr(path, ".."))
        return;
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        (void)snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path), path);
        (void)mkdir(parent, 0755);
    }
}

static int write_below(const char *directory)
{
    char path[8192];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/conformance-new", directory);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno;
    (void)close(fd);
    (void)unlink(path);
    return 0;
}

/* A file that open() does not give for writing must not change in another way. */
static const char *change_otherwise(const char *path, bool with_removal)
{
    char beside[8192];
    struct stat at;

    (void)snprintf(beside, sizeof(beside), "%s.conformance", path);
    if (lstat(path, &at) < 0 || !S_ISREG(at.st_mode))
        return NULL;
    if (truncate(path, 1) == 0)
        return "truncate";
    if (rename(path, beside) == 0)
        return "rename";
    if (link(path, beside) == 0) {
        int fd = open(beside, O_WRONLY | O_CLOEXEC);

        (void)unlink(beside);
        if (fd >= 0)
            return "link";
    }
    if (!with_removal)
        return NULL;
    if (unlink(path) == 0)
        return "unlink";
    return chmod(path, 0600) == 0 ? "chmod" : NULL;
}

static void try_write_or(const char *path, bool with_removal)
{
    const char *way;
    struct stat at;
    int errnum;
    int fd;

    if (stat(path, &at) == 0 && S_ISDIR(at.st_mode)) {
        errnum = write_below(path);
        say(errnum ? "-" : "below", errnum);
        return;
    }
    make_parents(path);
    fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
    if (fd >= 0) {
        say("open", 0);
        leave_mark(fd);
        (void)close(fd);
        return;
    }
    errnum = errno;
    way = change_otherwise(path, with_removal);
    say(way ? way : "-", errnum);
}

static void try_write(const char *path)
{
    try_write_or(path, true);
}

/* Where a name may be removed and changed, but nothing else be made. */
static void try_make(const char *path)
{
    try_write_or(path, false);
}

/* What is run is this program, told to end at once. */
static void try_exec(const char *path)
{
    char *const arguments[] = {(char *)path, "end", NULL};
    int ends[2];
    int errnum = 0;
    int status = 0;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) < 0) {
        say("-", errno);
        return;
    }
    child = fork();
    if (child == 0) {
        (void)execv(path, arguments);
        errnum = errno;
        (void)!write(ends[1], &errnum, sizeof(errnum));
        _exit(1);
    }
    (void)close(ends[1]);
    (void)!read(ends[0], &errnum, sizeof(errnum));
    (void)close(ends[0]);
    (void)waitpid(child, &status, 0);
    say(errnum ? "-" : "exec", errnum);
}

union place {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

/* A socket that waits for nothing longer than some seconds. */
static int make_socket(int family, int kind)
{
    struct timeval most = {.tv_sec = 5};
    int fd = socket(family, kind | SOCK_CLOEXEC, 0);

    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most)) < 0 ||
                    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) < 0))
        return -1;
    return fd;
}

static int call(const union place *place)
{
    bool is_four = place->any.sa_family == AF_INET;
    int fd = make_socket(place->any.sa_family, SOCK_STREAM);

    if (fd < 0 || connect(fd, &place->any, is_four ? sizeof(place->four) : sizeof(place->six)) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* One question for an address of IPv4, and the end of the answer, where that address is. */
static bool look_up(const char *name, struct in_addr *ret_address)
{
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(53)};
    unsigned char packet[600] = {0, 7, 1, 0, 0, 1};
    size_t length = 12;
    ssize_t got = -1;
    int fd = make_socket(AF_INET, SOCK_DGRAM);

    while (*name) {
        size_t label = strcspn(name, ".");

        if (label > 63 || length + label + 6 > 300)
            return false;
        packet[length++] = (unsigned char)label;
        memcpy(packet + length, name, label);
        length += label;
        name += label + (name[label] == '.');
    }
    packet[length + 2] = packet[length + 4] = 1;
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&server, sizeof(server)) == 0 &&
        send(fd, packet, length + 5, 0) > 0)
        got = recv(fd, packet, sizeof(packet), 0);
    (void)close(fd);
    if (got < (ssize_t)length + 9 || (packet[3] & 15) || packet[7] == 0)
        return false;
    memcpy(ret_address, packet + got - sizeof(*ret_address), sizeof(*ret_address));
    return true;
}

static bool say_all(int fd, const char *text)
{
    return send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

/* Until the other side has no more to say, or all is there that is looked for. */
static bool hears(int fd, const char *word)
{
    char text[4096] = "";
    size_t length = 0;
    ssize_t got;

    while (!strstr(text, word) && length < sizeof(text) - 1 &&
           (got = recv(fd, text + length, sizeof(text) - 1 - length, 0)) > 0) {
        length += (size_t)got;
        text[length] = '\0';
    }
    return strstr(text, word);
}

/* A request that says the host as a browser would. */
static bool request(int fd, const char *host, const char *port, const char *path)
{
    char text[1024];

    (void)snprintf(text, sizeof(text), "GET /%s HTTP/1.1\r\nHost: %s:%s\r\n\r\n", path, host, port);
    return say_all(fd, text) && hears(fd, REACHED);
}

static bool goes_straight(const char *host, const char *port, const char *row)
{
    union place place = {0};
    char address[512], path[32];
    size_t length = strlen(host);
    bool is_reached = false;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/straight", row);
    if (*host == '[') {
        (void)snprintf(address, sizeof(address), "%.*s", (int)length - 2, host + 1);
        place.six.sin6_family = AF_INET6;
        place.six.sin6_port = htons((unsigned short)atoi(port));
        if (inet_pton(AF_INET6, address, &place.six.sin6_addr) != 1)
            return false;
    } else {
        place.four.sin_family = AF_INET;
        place.four.sin_port = htons((unsigned short)atoi(port));
        if (inet_pton(AF_INET, host, &place.four.sin_addr) != 1 &&
            !look_up(host, &place.four.sin_addr))
            return false;
    }
    fd = call(&place);
    if (fd < 0)
        return false;
    is_reached = request(fd, host, port, path);
    (void)close(fd);
    return is_reached;
}

static bool goes_by_proxy(const char *proxy, const char *host, const char *port, const char *row)
{
    union place place = {.four = {.sin_family = AF_INET}};
    char address[64] = "", text[2048], path[32];
    unsigned number = 0;
    bool is_reached;
    int fd;

    if (sscanf(proxy, "http://%63[0-9.]:%u", address, &number) != 2 ||
        inet_pton(AF_INET, address, &place.four.sin_addr) != 1)
        return false;
    place.four.sin_port = htons((unsigned short)number);
    fd = call(&place);
    if (fd < 0)
        return false;
    (void)snprintf(text, sizeof(text), "CONNECT %s:%s HTTP/1.1\r\nHost: %s:%s\r\n\r\n", host, port,
                   host, port);
    (void)snprintf(path, sizeof(path), "%s/proxy", row);
    is_reached = say_all(fd, text) && hears(fd, " 200 ") && request(fd, host, port, path);
    (void)close(fd);
    return is_reached;
}

/* "host port row": by itself, and by the proxy where there is one. */
static void try_reach(const char *what)
{
    static const char *const words[2][2] = {{"-", "proxy"}, {"straight", "connect"}};
    const char *proxy = getenv("http_proxy");
    char host[512] = "", port[16] = "", row[16] = "";
    bool straight, by_proxy;

    if (sscanf(what, "%511s %15s %15s", host, port, row) != 3)
        return;
    straight = goes_straight(host, port, row);
    by_proxy = proxy ? goes_by_proxy(proxy, host, port, row) : straight;
    say(words[straight][by_proxy], 0);
}

static int reach(const struct sockaddr *address, socklen_t size)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int errnum = 0;

    if (fd < 0)
        return errno;
    (void)alarm(5);
    if (connect(fd, address, size) < 0)
        errnum = errno;
    (void)alarm(0);
    (void)close(fd);
    return errnum;
}

static void try_connect(const char *path)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    int errnum;

    (void)snprintf(local.sun_path, sizeof(local.sun_path), "%s", path);
    errnum = reach((struct sockaddr *)&local, sizeof(local));
    say(errnum ? "-" : "connect", errnum);
}

/* Relative paths start there, if it is granted. */
static void enter(const char *path)
{
    say("-", chdir(path) < 0 ? errno : 0);
}

static void interrupt(int number)
{
    (void)number;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*attempt)(const char *what);
    } operations[] = {{"read", try_read}, {"write", try_write},     {"make", try_make},
                      {"exec", try_exec}, {"connect", try_connect}, {"reach", try_reach},
                      {"enter", enter}};
    struct sigaction action = {.sa_handler = interrupt};
    size_t length;

    if (argc > 1 && strcmp(argv[1], "end") == 0)
        return 0;
    (void)sigaction(SIGALRM, &action, NULL);
    /* What is made later outside is made now. */
    printf("ready\n");
    (void)fflush(stdout);
    length = fread(input, 1, sizeof(input) - 1, stdin);
    for (char *at = input; at < input + length;) {
        const char *operation = at;
        const char *what = at + strlen(at) + 1;

        at = (char *)what + strlen(what) + 1;
        for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
            if (strcmp(operation, operations[i].name) == 0)
                operations[i].attempt(what);
        printf("\n");
        (void)fflush(stdout);
    }
    return 0;
}
