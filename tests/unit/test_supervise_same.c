/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules do not protect: supervised calls beside native ones. */
#include "lib/supervised.h"
#include "supervise/caller.h"
#include "supervise/dirs.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/un.h>

static size_t side; /* which column is being filled */

/* Records: a result, and for what was opened its flags, mode and size. */
static void record(const char *what, long result, bool is_fd)
{
    struct entry *entry = &shared->entries[side][shared->count[side]++];
    int errnum = result < 0 ? errno : 0;
    struct stat st;

    *entry = (struct entry){.what = what, .result = result, .errnum = errnum};
    if (!is_fd || result < 0)
        return;
    if (fstat((int)result, &st) == 0) {
        entry->notes[0] = (long)st.st_mode;
        entry->notes[1] = S_ISREG(st.st_mode) ? st.st_size : 0;
        entry->notes[2] = (long)st.st_nlink;
    }
    entry->notes[3] = fcntl((int)result, F_GETFD);
    entry->notes[4] = fcntl((int)result, F_GETFL);
    close((int)result);
}
#define DO(call) record(#call, (errno = 0, (long)(call)), false)
#define OP(call) record(#call, (errno = 0, (long)(call)), true)

static void table_open(void)
{
    static char longest[5000];
    int dir = open("sub", O_PATH | O_DIRECTORY);

    memset(longest, 'a', sizeof(longest) - 1);
    OP(open("plain", O_WRONLY | O_CREAT, 0666));
    OP(open("plain", O_WRONLY | O_CREAT | O_EXCL, 0666));
    OP(open("plain", O_RDWR | O_CLOEXEC));
    OP(open("plain", O_WRONLY | O_APPEND | O_NONBLOCK));
    OP(open("plain", O_RDONLY | O_CREAT, 0666));
    OP(open("fresh", O_RDONLY | O_CREAT | O_CLOEXEC, 0640));
    OP(open("strange", O_RDWR | O_CREAT | O_NOFOLLOW, 01777));
    OP(creat("made", 0604));
    OP(open("absent", O_WRONLY));
    OP(open("absent/x", O_WRONLY | O_CREAT, 0666));
    OP(open("plain/x", O_WRONLY | O_CREAT, 0666));
    OP(open("", O_WRONLY | O_CREAT, 0666));
    OP(open((char *)8, O_WRONLY | O_CREAT, 0666));
    OP(open(longest, O_WRONLY | O_CREAT, 0666));
    OP(open(longest + 5000 - 300, O_WRONLY | O_CREAT, 0666));
    OP(open("sub", O_WRONLY));
    OP(open("sub", O_WRONLY | O_CREAT, 0666));
    OP(open("sub/", O_RDWR));
    OP(open("new/", O_WRONLY | O_CREAT, 0666));
    OP(open("plain/", O_WRONLY));
    OP(open(".", O_WRONLY));
    OP(open("sub/..", O_WRONLY | O_CREAT, 0666));
    OP(open("/", O_WRONLY | O_CREAT, 0666));
    OP(open("sub/../sub/./deep", O_WRONLY | O_CREAT, 0600));
    OP(open("sub//deep2", O_WRONLY | O_CREAT, 0666));
    OP(open("link", O_WRONLY | O_TRUNC));
    OP(open("link", O_WRONLY | O_NOFOLLOW));
    OP(open("link", O_WRONLY | O_CREAT | O_EXCL, 0666));
    OP(open("dangling", O_WRONLY | O_CREAT, 0666));
    OP(open("dirlink/through", O_WRONLY | O_CREAT, 0666));
    OP(open("dirlink/", O_WRONLY));
    OP(open("abslink/viaabs", O_WRONLY | O_CREAT, 0666));
    OP(open("uplink/viaup", O_WRONLY | O_CREAT, 0666));
    OP(open("loop1", O_WRONLY));
    OP(open("loop1/x", O_WRONLY | O_CREAT, 0666));
    OP(openat(dir, "byfd", O_WRONLY | O_CREAT, 0666));
    OP(openat(dir, "../byfd2", O_WRONLY | O_CREAT, 0666));
    OP(openat(99, "x", O_WRONLY | O_CREAT, 0666));
    OP(openat(-7, "x", O_WRONLY | O_CREAT, 0666));
    OP(openat(99, "/w/never/x", O_WRONLY | O_CREAT, 0666));
    OP(open("locked/x", O_WRONLY | O_CREAT, 0666));
    OP(open("readonly", O_WRONLY));
    OP(open("sub", O_RDONLY | O_DIRECTORY | O_TRUNC));
    OP(open("plain", O_WRONLY | O_DIRECTORY));
    OP(open("plain", O_ACCMODE));
    OP(open("sock", O_WRONLY));
    OP(open("/usr/none", O_WRONLY | O_CREAT, 0666));
    OP(open("/usr/lib/os-release", O_WRONLY)); /* nobody runs it: that is another errno */
    OP(open("/etc/none", O_WRONLY | O_CREAT | O_TRUNC | O_EXCL, 0600));
    DO(unlink("/etc/none"));
    close(dir);
}

static void table_special(void)
{
    int pipes[2];
    int null = open("/dev/null", O_RDONLY);

    OP(open("/dev/null", O_WRONLY));
    OP(open("/dev/null", O_RDWR | O_CREAT | O_TRUNC, 0666));
    OP(open("/dev/tty", O_RDWR));
    OP(open("/dev/ptmx", O_RDWR | O_NOCTTY));
    MUST(pipe(pipes) == 0 && dup2(pipes[1], 40) == 40 && dup2(pipes[0], 41) == 41);
    OP(open("/proc/self/fd/40", O_WRONLY));
    OP(open("/dev/fd/40", O_WRONLY | O_CREAT | O_TRUNC, 0666));
    OP(open("/proc/thread-self/fd/40", O_WRONLY));
    OP(open("/proc/self/fd/99", O_WRONLY));
    OP(open("/proc/self/comm", O_RDWR));
    OP(open("/proc/self/cwd/viacwd", O_WRONLY | O_CREAT, 0666));
    OP(open("/proc/self/root/w/../dev/null", O_WRONLY));
    OP(open("/proc/self/nothing", O_WRONLY));
    OP(open("/proc/nothing", O_WRONLY | O_CREAT, 0666));
    OP(open("fifo", O_RDWR));
    OP(open("fifo", O_WRONLY | O_NONBLOCK));
    for (int fd = 40; fd <= 41; fd++)
        close(fd);
    close(pipes[0]);
    close(pipes[1]);
    close(null);
}

static void table_how(void)
{
    struct open_how how = {.flags = O_RDONLY};
    char big[64] = {0};
    int dir = open("sub", O_PATH | O_DIRECTORY);

    OP(openat2_(AT_FDCWD, "plain", O_RDONLY, 0, 0));
    OP(openat2_(AT_FDCWD, "link", O_RDONLY | O_NOFOLLOW, 0, 0));
    OP(openat2_(AT_FDCWD, "sub", O_RDONLY | O_DIRECTORY, 0, 0));
    OP(openat2_(AT_FDCWD, "sub", O_TMPFILE | O_RDWR, 0600, 0));
    OP(openat2_(AT_FDCWD, "how", O_CREAT | O_WRONLY, 0666, 0));
    OP(openat2_(AT_FDCWD, "how", O_RDONLY, 0666, 0));
    OP(openat2_(AT_FDCWD, "how", O_RDONLY | (1ULL << 40), 0, 0));
    OP(openat2_(AT_FDCWD, "how", O_RDONLY, 0, 1ULL << 20));
    OP(openat2_(AT_FDCWD, "how", O_CREAT | O_WRONLY, 0777777, 0));
    OP(openat2_(dir, "deep", O_RDONLY, 0, RESOLVE_BENEATH));
    OP(openat2_(dir, "../plain", O_RDONLY, 0, RESOLVE_BENEATH));
    OP(openat2_(dir, "/deep", O_RDONLY, 0, RESOLVE_BENEATH));
    OP(openat2_(dir, "/deep", O_RDWR, 0, RESOLVE_IN_ROOT));
    OP(openat2_(dir, "../../deep", O_RDONLY, 0, RESOLVE_IN_ROOT));
    OP(openat2_(dir, "beneath", O_CREAT | O_WRONLY, 0666, RESOLVE_BENEATH));
    OP(openat2_(AT_FDCWD, "link", O_RDONLY, 0, RESOLVE_NO_SYMLINKS));
    OP(openat2_(AT_FDCWD, "dirlink", O_RDONLY | O_NOFOLLOW, 0, RESOLVE_NO_SYMLINKS));
    OP(openat2_(AT_FDCWD, "dirlink", O_RDONLY | O_NOFOLLOW | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS));
    OP(openat2_(AT_FDCWD, "dirlink", O_RDWR | O_NOFOLLOW | O_TMPFILE, 0600, RESOLVE_NO_SYMLINKS));
    OP(openat2_(AT_FDCWD, "dirlink/deep", O_RDONLY, 0, RESOLVE_NO_SYMLINKS));
    OP(openat2_(AT_FDCWD, "/w", O_RDONLY, 0, RESOLVE_NO_XDEV));
    OP(openat2_(AT_FDCWD, "/etc", O_RDONLY, 0, RESOLVE_NO_XDEV));
    OP(openat2_(AT_FDCWD, "/proc/self/cwd", O_RDONLY, 0, RESOLVE_NO_MAGICLINKS));
    OP(openat2_(AT_FDCWD, "absent", O_RDONLY, 0, RESOLVE_NO_SYMLINKS));
    OP(syscall(SYS_openat2, AT_FDCWD, "how", &how, 8));
    OP(syscall(SYS_openat2, AT_FDCWD, "how", big, 64));
    big[40] = 1;
    OP(syscall(SYS_openat2, AT_FDCWD, "how", big, 64));
    OP(syscall(SYS_openat2, AT_FDCWD, "how", &how, 5000));
    OP(syscall(SYS_openat2, AT_FDCWD, "how", (void *)8, sizeof(how)));
    close(dir);
}

static void table_make(void)
{
    int tmp = open("sub", O_TMPFILE | O_RDWR, 0644);
    char path[32];

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", tmp);
    DO(mkdir("dir", 0777));
    DO(mkdir("dir", 0777));
    DO(mkdir("dir2/", 01770));
    DO(mkdir("link", 0777));
    DO(mkdir(".", 0777));
    DO(mkdir("/", 0777));
    DO(mkdir("absent/dir", 0777));
    DO(mkdirat(AT_FDCWD, "sub/dir3", 0700));
    DO(mknod("node", S_IFIFO | 0666, 0));
    DO(mknod("node", S_IFIFO | 0666, 0));
    DO(mknod("regular", 0644, 0));
    DO(mknod("regular2/", S_IFREG | 0644, 0));
    DO(mknod("socket", S_IFSOCK | 0600, 0));
    DO(mknod("device", S_IFCHR | 0600, makedev(1, 3)));
    DO(mknod("block", S_IFBLK | 0600, makedev(8, 0)));
    DO(mknod("wrong", S_IFDIR | 0600, 0));
    DO(mknod("wrong", S_IFLNK | 0600, 0));
    DO(symlink("target", "newlink"));
    DO(symlink("target", "newlink"));
    DO(symlink("", "empty"));
    DO(symlink("target", "slash/"));
    DO(symlinkat("/abs/target", AT_FDCWD, "sub/abs"));
    DO(link("plain", "hard"));
    DO(link("plain", "hard"));
    DO(link("absent", "hard2"));
    DO(link("sub", "hard3"));
    DO(link("link", "hardlink"));
    DO(link("plain", "hard4/"));
    DO(link("plain/", "hard5"));
    DO(linkat(AT_FDCWD, "link", AT_FDCWD, "hardfollow", AT_SYMLINK_FOLLOW));
    DO(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
    DO(linkat(AT_FDCWD, "plain", AT_FDCWD, "x", 1 << 20));
    DO(linkat(AT_FDCWD, "", AT_FDCWD, "x", 0));
    DO(link("/usr/bin/env", "crossing"));
    close(tmp);
}

static void table_change(void)
{
    DO(rename("made", "moved"));
    DO(rename("made", "moved"));
    DO(rename("moved", "sub/moved"));
    DO(rename("sub/moved", "fresh"));
    DO(rename("dir", "dir2"));
    DO(rename("dir2", "sub"));
    DO(rename("sub", "sub/inside"));
    DO(rename("plain", "dir2"));
    DO(rename("dir2", "plain"));
    DO(rename("dir2/", "dir5/"));
    DO(rename("plain/", "p2"));
    DO(rename("plain", "p3/"));
    DO(rename(".", "x"));
    DO(rename("dir5", ".."));
    DO(rename("plain", "/usr/x"));
    DO(rename("link", "link2"));
    DO(rename("dangling", "dangling2"));
    DO(renameat2_("plain", "fresh", RENAME_NOREPLACE));
    DO(renameat2_("plain", "plain2", RENAME_NOREPLACE));
    DO(renameat2_("plain2", "sub", RENAME_EXCHANGE));
    DO(renameat2_("plain2", "sub", RENAME_EXCHANGE));
    DO(renameat2_("plain2", "none", RENAME_EXCHANGE));
    DO(renameat2_("plain2", "x", RENAME_EXCHANGE | RENAME_NOREPLACE));
    DO(renameat2_("plain2", "plain", 1 << 10));
    DO(truncate("plain2", 100));
    DO(truncate("link2", 7));
    DO(truncate("sub", 0));
    DO(truncate("fifo", 0));
    DO(truncate("absent", 0));
    DO(truncate("plain2", -1));
    DO(truncate("plain2/", 1));
    DO(truncate("/usr/bin/env", 0));
    DO(truncate("readonly", 0));
}

/* Two mistakes in one call: the kernel says which of them. */
static void table_order(void)
{
    static char longer[300];
    int file = open("pointed", O_RDONLY);

    memset(longer, 'a', sizeof(longer) - 1);
    DO(linkat(AT_FDCWD, "absent", 99, "x", 0));
    DO(linkat(99, "absent", 98, "x", 1 << 20));
    DO(link("absent", (char *)8));
    DO(link("plain/x", longer));
    DO(renameat(AT_FDCWD, "absent/x", 99, "x"));
    DO(renameat(file, "x", AT_FDCWD, "absent/x"));
    DO(rename("locked/x", "absent/x"));
    DO(rename("absent/x", (char *)8));
    DO(syscall(SYS_renameat2, 99, "x", 98, "x", 1 << 10));
    DO(mknod("absent/x", S_IFLNK | 0600, 0));
    DO(mknodat(99, "x", S_IFDIR | 0600, 0));
    DO(mknodat(file, "x/", S_IFIFO | 0600, 0));
    DO(mknod("locked/x/", S_IFIFO | 0600, 0));
    DO(fchmodat2_(99, "x", 0700, 1));
    DO(truncate((char *)8, -1));
    OP(openat(file, "x/", O_WRONLY | O_CREAT, 0666));
    OP(open("locked/x/", O_WRONLY | O_CREAT, 0666));
    OP(openat(file, longer, O_WRONLY | O_CREAT, 0666));
    OP(openat2_(99, "/absent", O_RDWR, 0, RESOLVE_BENEATH));
    OP(openat2_(99, "/absent", O_RDWR, 0, RESOLVE_IN_ROOT));
    close(file);
}

/* An access control list: rwx for the owner, r for user 1, nothing for others. */
static const unsigned char list[] = {
    2, 0, 0,   0,   1,   0,   7,  0, 255, 255, 255, 255, 2,   0,   4,  0, 1, 0, 0,   0,   4,   0,
    0, 0, 255, 255, 255, 255, 16, 0, 4,   0,   255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255};

/* FS_IOC_SETFLAGS, with what a file system may have, or may have not. */
static void table_flags(void)
{
    int file = open("pointed", O_RDONLY);
    int dir = open("sub", O_RDONLY | O_DIRECTORY);
    int path = open("pointed", O_PATH);
    int fifo = open("fifo", O_RDWR | O_NONBLOCK);
    int host = open("/usr/bin/env", O_RDONLY);
    int flags = FS_NODUMP_FL;

    DO(ioctl(file, FS_IOC_SETFLAGS, &flags));
    DO(ioctl(dir, FS_IOC_SETFLAGS, &flags));
    DO(ioctl(file, FS_IOC_SETFLAGS, 8));
    DO(ioctl(path, FS_IOC_SETFLAGS, &flags));
    DO(ioctl(fifo, FS_IOC_SETFLAGS, &flags));
    DO(ioctl(host, FS_IOC_SETFLAGS, &flags));
    DO(ioctl(999, FS_IOC_SETFLAGS, &flags));
    DO(ioctl(-1, FS_IOC_SETFLAGS, &flags));
    flags = FS_IMMUTABLE_FL;
    DO(ioctl(file, FS_IOC_SETFLAGS, &flags));
    flags = 0;
    DO(ioctl(file, FS_IOC_SETFLAGS, &flags));
    DO(ioctl(dir, FS_IOC_SETFLAGS, &flags));
    close(file);
    close(dir);
    close(path);
    close(fifo);
    close(host);
}

static void table_modes(void)
{
    int file = open("pointed", O_RDONLY);
    int dir = open("sub", O_RDONLY | O_DIRECTORY);
    int ends[2];

    DO(chmod("pointed", 0751));
    DO(chmod("link", 0640));
    DO(chmod("./sub/../pointed", 01644));
    DO(chmod("sub/", 0711));
    DO(chmod("pointed/", 0711));
    DO(chmod("dangling", 0600));
    DO(chmod("loop1", 0600));
    DO(chmod("absent", 0600));
    DO(chmod("", 0600));
    DO(chmod((char *)8, 0600));
    DO(chmod("fifo", 0622));
    DO(chmod("/usr/bin/env", 0755));
    DO(fchmod(file, 0755));
    DO(fchmod(dir, 0755));
    DO(fchmod(777, 0755));
    DO(fchmod(-100, 0755));
    DO(pipe(ends));
    DO(fchmod(ends[0], 0600));
    DO(syscall(SYS_fchmodat, dir, "inner", 0604));
    DO(syscall(SYS_fchmodat, file, "inner", 0604));
    DO(fchmodat2_(AT_FDCWD, "pointed", 0700, 0));
    DO(fchmodat2_(AT_FDCWD, "link", 0700, AT_SYMLINK_NOFOLLOW));
    DO(fchmodat2_(file, "", 0710, AT_EMPTY_PATH));
    DO(fchmodat2_(file, "", 0710, 0));
    DO(fchmodat2_(AT_FDCWD, "pointed", 0700, 1));
    DO(setxattr("pointed", "user.one", "abc", 3, 0));
    DO(setxattr("link", "user.two", "", 0, XATTR_CREATE));
    DO(setxattr("pointed", "user.two", "x", 1, XATTR_CREATE));
    DO(setxattr("pointed", "user.none", "x", 1, XATTR_REPLACE));
    DO(setxattr("pointed", "bad", "x", 1, 0));
    DO(setxattr("pointed", "", "x", 1, 0));
    DO(syscall(SYS_setxattr, "pointed", "user.big", "x", 70000, 0));
    DO(syscall(SYS_setxattr, "pointed", "user.far", (char *)8, 5, 0));
    DO(setxattr("absent", "user.one", "x", 1, 0));
    DO(lsetxattr("link", "user.one", "x", 1, 0));
    DO(lsetxattr("pointed", "user.three", "x", 1, 0));
    DO(fsetxattr(file, "user.four", "xy", 2, 0));
    DO(setxattr("pointed", "system.posix_acl_access", list, sizeof(list), 0));
    DO(setxattr("pointed", "trusted.one", "x", 1, 0));
    DO(removexattr("pointed", "user.one"));
    DO(removexattr("pointed", "user.one"));
    DO(fremovexattr(file, "user.four"));
    DO(lremovexattr("link", "user.two"));
    DO(listxattr("pointed", NULL, 0));
    DO(setxattr("/usr/bin/env", "user.one", "x", 1, 0));
    close(file);
    close(dir);
}

/* A bind of a new socket. */
static long bind_new(int domain, int type, const void *address, int length)
{
    int fd = socket(domain, type | SOCK_CLOEXEC, 0);
    long r;

    MUST(fd >= 0);
    r = syscall(SYS_bind, fd, address, length);
    close(fd);
    return r;
}

static long bind_unix(int type, const char *path, int length)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, path, strlen(path));
    return bind_new(AF_UNIX, type, &address, length);
}

static long bind_port(int domain, unsigned short port, int length)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};

    return domain == AF_INET ? bind_new(AF_INET, SOCK_STREAM, &four, length)
                             : bind_new(AF_INET6, SOCK_STREAM, &six, length);
}

/* What the kernel calls a netlink socket is its owner's number. */
static long bind_netlink(unsigned groups, unsigned *ret_name)
{
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof(address);
    long r = bind(fd, (struct sockaddr *)&address, sizeof(address));

    MUST(getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    *ret_name = address.nl_pid;
    return r < 0 ? r : fd;
}

static void table_bind(void)
{
    char longest[sizeof(struct sockaddr_un)];
    int plain = open("pointed", O_RDONLY);
    unsigned name;
    long one;
    int twice = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un again = {.sun_family = AF_UNIX, .sun_path = "bound-twice"};

    memset(longest, 'b', sizeof(longest));
    memcpy(longest, &again.sun_family, sizeof(again.sun_family));
    (void)umask(027);
    DO(bind_unix(SOCK_STREAM, "bound", 110));
    DO(bind_unix(SOCK_DGRAM, "bound", 110));
    DO(bind_unix(SOCK_DGRAM, "bound-dgram", 2 + 12));
    DO(bind_unix(SOCK_SEQPACKET, "./sub/bound", 2 + 11));
    (void)umask(022);
    DO(bind_unix(SOCK_STREAM, "link", 110));
    DO(bind_unix(SOCK_STREAM, "dangling", 110));
    DO(bind_unix(SOCK_STREAM, "dirlink/bound2", 110));
    DO(bind_unix(SOCK_STREAM, "locked/bound", 110));
    DO(bind_unix(SOCK_STREAM, "absent/bound", 110));
    DO(bind_unix(SOCK_STREAM, "/usr/bound", 110));
    DO(bind_unix(SOCK_STREAM, "/dev/bound", 110));
    DO(unlink("/dev/bound"));
    DO(bind_unix(SOCK_STREAM, "cut-off", 5));
    DO(bind_unix(SOCK_STREAM, "", 2));
    DO(bind_unix(SOCK_STREAM, "", 1));
    DO(bind_unix(SOCK_STREAM, "", 0));
    DO(bind_unix(SOCK_STREAM, "", -1));
    DO(bind_unix(SOCK_STREAM, "long", 111));
    DO(bind_unix(SOCK_STREAM, "long", 129));
    DO(bind_new(AF_UNIX, SOCK_STREAM, longest, sizeof(longest)));
    DO(bind_new(AF_UNIX, SOCK_STREAM, (void *)8, 20));
    DO(bind_new(AF_INET, SOCK_STREAM, &again, sizeof(again)));
    DO(syscall(SYS_bind, 99, &again, sizeof(again)));
    DO(syscall(SYS_bind, plain, &again, sizeof(again)));
    DO(syscall(SYS_bind, twice, &again, sizeof(again)));
    memcpy(again.sun_path, "bound-other", 12);
    DO(syscall(SYS_bind, twice, &again, sizeof(again)));
    DO(bind_port(AF_INET, 0, 16));
    DO(bind_port(AF_INET, 80, 16));
    DO(bind_port(AF_INET, 0, 15));
    DO(bind_port(AF_INET6, 0, 28));
    DO(bind_port(AF_INET6, 1023, 28));
    DO(bind_port(AF_INET6, 0, 16));
    one = bind_netlink(0, &name);
    DO(one);
    DO(name == (unsigned)getpid() ? 0 : -1);
    DO(bind_netlink(0, &name));
    DO((int)name < 0 ? 0 : -1);
    DO(bind_netlink(1, &name));
    close((int)one);
    close(twice);
    close(plain);
}

static void table_last(void)
{
    struct rlimit few = {.rlim_cur = 3, .rlim_max = 3};

    MUST(mkdir("gone", 0755) == 0 && chdir("gone") == 0 && rmdir("../gone") == 0);
    OP(open("x", O_WRONLY | O_CREAT, 0666));
    DO(mkdir("y", 0777));
    MUST(chdir("..") == 0);
    (void)umask(077);
    OP(open("masked", O_WRONLY | O_CREAT, 0666));
    DO(mkdir("maskeddir", 0777));
    (void)umask(0);
    OP(open("unmasked", O_WRONLY | O_CREAT, 0666));
    (void)umask(022);
    MUST(setrlimit(RLIMIT_NOFILE, &few) == 0);
    OP(open("unmasked", O_WRONLY));
}

static void prepare_tree(void)
{
    char here[64];

    MUST(mkdir("sub", 0755) == 0 && mkdir("locked", 0) == 0);
    put_file("sub/inner", "inner");
    put_file("readonly", "x");
    put_file("pointed", "0123456789");
    MUST(chmod("readonly", 0444) == 0 && symlink("pointed", "link") == 0);
    MUST(symlink("appears", "dangling") == 0 && symlink("sub", "dirlink") == 0);
    MUST(symlink("loop2", "loop1") == 0 && symlink("loop1", "loop2") == 0);
    MUST(getcwd(here, sizeof(here)) != NULL);
    MUST(strlen(here) < 40);
    memcpy(here + strlen(here), "/sub", 5);
    MUST(symlink(here, "abslink") == 0 && symlink("../a/../b/../../w", "uplink") == 0);
    MUST(mkfifo("fifo", 0600) == 0 && mknod("sock", S_IFSOCK | 0600, 0) == 0);
}

static void run_tables(void)
{
    table_open();
    table_special();
    table_how();
    table_make();
    table_change();
    table_order();
    table_modes();
    table_flags();
    table_bind();
    table_last();
}

/* One line for each file: everything that a call could have made differently. */
static void list_tree(int dir_fd, const char *name, const char *prefix, char *out, size_t *used)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct dirent **names;
    char path[512];
    char target[256];
    int count;

    if (fd < 0)
        return;
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    count = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *entry = names[i]->d_name;
        struct stat st;
        ssize_t length;

        if (strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0)
            continue;
        MUST(fstatat(fd, entry, &st, AT_SYMLINK_NOFOLLOW) == 0);
        length = readlinkat(fd, entry, target, sizeof(target) - 1);
        target[length < 0 ? 0 : length] = '\0';
        if (strstr(target, "/sub"))
            target[0] = '\0'; /* differs by construction */
        (void)snprintf(path, sizeof(path), "%s/%s", prefix, entry);
        *used += (size_t)snprintf(
            out + *used, 64 * 1024 - *used, "%s %o %u:%u %ld %ld %s\n", path, st.st_mode, st.st_uid,
            st.st_gid, S_ISREG(st.st_mode) ? (long)st.st_size : 0L, (long)st.st_nlink, target);
        if (S_ISDIR(st.st_mode))
            list_tree(fd, entry, path, out, used);
    }
    close(fd);
}

static void native_side(void)
{
    pid_t pid;
    int status;

    for (int i = 0; i < 2; i++) {
        (void)umask(0);
        MUST(mkdir(i == 0 ? "a" : "b", 0755) == 0 && chdir(i == 0 ? "a" : "b") == 0);
        (void)umask(022);
        prepare_tree();
        MUST(chdir("..") == 0);
    }
    pid = fork();
    if (pid == 0) {
        drop_rights();
        MUST(chdir("a") == 0 && setsid() > 0);
        run_tables();
        _exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

static void supervised_side(void)
{
    size_t used[2] = {0};
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        side = 1;
        MUST(chdir("b") == 0 && setsid() > 0);
        run_tables();
        _exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
    for (int i = 0; i < 2; i++)
        list_tree(AT_FDCWD, i == 0 ? "a" : "b", "", shared->trees[i], &used[i]);
}

START_TEST(what_is_not_protected_is_as_without_a_supervisor)
{
    struct command command = {.before = native_side, .after = supervised_side};
    struct sandbox sandbox;
    unsigned differing = 0;

    sandbox_run(&sandbox, &command, who[_i]);
    ck_assert_uint_gt(shared->count[0], 150);
    ck_assert_uint_eq(shared->count[0], shared->count[1]);
    for (size_t i = 0; i < shared->count[0]; i++) {
        const struct entry *a = &shared->entries[0][i];
        const struct entry *b = &shared->entries[1][i];
        bool is_same = (a->result < 0) == (b->result < 0) && a->errnum == b->errnum &&
                       memcmp(a->notes, b->notes, sizeof(a->notes)) == 0;

        differing += !is_same;
        if (!is_same)
            (void)fprintf(stderr,
                          "%s: native %ld %s, %lo %ld %ld %lo %lo; supervised %ld %s, %lo %ld %ld "
                          "%lo %lo\n",
                          a->what, a->result, strerrorname_np(a->errnum), a->notes[0], a->notes[1],
                          a->notes[2], a->notes[3], a->notes[4], b->result,
                          strerrorname_np(b->errnum), b->notes[0], b->notes[1], b->notes[2],
                          b->notes[3], b->notes[4]);
    }
    ck_assert_uint_eq(differing, 0);
    ck_assert_str_eq(shared->trees[0], shared->trees[1]);
}
END_TEST

/* Callers that come and go, and calls of every kind. */
static void flood(void)
{
    for (int i = 0; i < 40; i++) {
        in_fork(table_open);
        in_fork(table_special);
        in_fork(table_how);
        in_fork(table_make);
        in_fork(table_change);
        in_fork(table_modes);
        in_fork(table_flags);
        in_fork(table_bind);
        shared->count[0] = 0;
    }
}

static void prepare_flood(void)
{
    MUST(mkdir("b", 0755) == 0 && chdir("b") == 0);
    prepare_tree();
}

/* Directories apart: some that were used lately are kept. */
struct open_fds {
    unsigned dirs, others;
};

static struct open_fds count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    struct open_fds count = {0};
    const struct dirent *entry;
    struct stat st;

    ck_assert(dir != NULL);
    while ((entry = readdir(dir))) {
        if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && S_ISDIR(st.st_mode))
            count.dirs++;
        else
            count.others++;
    }
    (void)closedir(dir);
    return count;
}

START_TEST(nothing_is_left_open_after_many_calls)
{
    struct command command = {.before = prepare_flood, .after = flood};
    struct bawn_error err = {0};
    struct sandbox sandbox;
    struct pollfd poller = {.events = POLLIN};
    struct open_fds before = {0};
    struct open_fds after = {0};
    unsigned served = 0;

    sandbox_start(&sandbox, &command, who[_i]);
    poller.fd = sandbox.fds[0];
    while (supervisor_serve(sandbox.supervisor, (uint32_t)poller.revents, &err) == 0) {
        if (++served == 1000)
            before = count_fds();
        if (served % 1000 == 0)
            after = count_fds();
        ck_assert_int_gt(poll(&poller, 1, 20000), 0);
    }
    ck_assert_uint_gt(served, 5000);
    /* Up to three of each caller that is known, as far as its calls needed them. */
    ck_assert_uint_le(after.others, before.others + 3 * CALLERS_KNOWN);
    ck_assert_uint_le(after.dirs, before.dirs + DIRS_SETS * DIRS_WAYS);
    sandbox_end(&sandbox);
}
END_TEST

static Suite *supervise_same_suite(void)
{
    Suite *suite = suite_create("supervise_same");
    TCase *all = tcase_create("supervise_same");
    int runs = geteuid() == 0 ? ARRAY_LENGTH(who) : 1;

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, what_is_not_protected_is_as_without_a_supervisor, 0, runs);
    tcase_add_loop_test(all, nothing_is_left_open_after_many_calls, 0, runs);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return test_run(supervise_same_suite(), "supervise_same");
}
