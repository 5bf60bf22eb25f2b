/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor on real callers: a child in namespaces of its own, with a
 * filter that sends its calls here. What it does natively and what it does
 * supervised must be the same, but for what the rules protect.
 */
#include "lib/test.h"
#include "supervise/supervise.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/model.h"

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* An image that holds rules and mounts alone. */
struct test_image {
    struct image header;
    struct image_mount mounts[8];
    struct image_rule rules[16];
    char strings[1024];
};

static uint32_t add_string(struct test_image *image, const char *text)
{
    struct image_span *span = &image->header.parts[PART_STRINGS];
    uint32_t at = span->count;

    ck_assert(at + strlen(text) + 1 <= sizeof(image->strings));
    memcpy(image->strings + at, text, strlen(text) + 1);
    span->count += (uint32_t)strlen(text) + 1;
    return at;
}

static void add_rule(struct test_image *image, const char *path, enum rule_kind kind,
                     enum access read, enum access write, unsigned flags)
{
    struct image_rule *rule = &image->rules[image->header.parts[PART_RULES].count++];

    *rule = (struct image_rule){
        .path = add_string(image, path),
        .kind = (uint8_t)kind,
        .read = (uint8_t)read,
        .write = (uint8_t)write,
        .flags = (uint8_t)flags,
        .authority = kind == RULE_PATTERN ? AUTHORITY_USER : AUTHORITY_BUILTIN,
    };
}

static void add_mount(struct test_image *image, const char *target, enum image_step step,
                      unsigned flags)
{
    image->mounts[image->header.parts[PART_MOUNTS].count++] = (struct image_mount){
        .step = (uint8_t)step, .flags = (uint8_t)flags, .target = add_string(image, target)};
}

static void make_image(struct test_image *image)
{
    struct image_span *parts = image->header.parts;

    memset(image, 0, sizeof(*image));
    parts[PART_MOUNTS].at = offsetof(struct test_image, mounts);
    parts[PART_RULES].at = offsetof(struct test_image, rules);
    parts[PART_STRINGS].at = offsetof(struct test_image, strings);
    (void)add_string(image, "");
    image->header.host_uid = image->header.caller_uid = geteuid();
    image->header.host_gid = image->header.caller_gid = getegid();
    image->header.default_access = ACCESS_DENY;
    image->header.workspace = add_string(image, "/w");
    add_rule(image, "/w", RULE_PATH, ACCESS_ALLOW, ACCESS_ALLOW, 0);
    add_rule(image, "/w/vendor", RULE_PATH, ACCESS_ALLOW, ACCESS_DENY, RULE_FLAG_READ_ONLY);
    add_rule(image, "/usr", RULE_PATH, ACCESS_ALLOW, ACCESS_DENY, RULE_FLAG_READ_ONLY);
    add_rule(image, "/dev", RULE_PATH, ACCESS_PRIVATE, ACCESS_PRIVATE, 0);
    add_rule(image, "/**/.git/hooks", RULE_PROTECTED, ACCESS_UNSET, ACCESS_DENY, RULE_FLAG_WILD);
    add_rule(image, "/**/.git/config", RULE_PROTECTED, ACCESS_UNSET, ACCESS_DENY, RULE_FLAG_WILD);
    add_rule(image, "/**/.git/modules/**/hooks", RULE_PROTECTED, ACCESS_UNSET, ACCESS_DENY,
             RULE_FLAG_WILD);
    add_rule(image, "/**/.husky", RULE_PROTECTED, ACCESS_UNSET, ACCESS_DENY, RULE_FLAG_WILD);
    add_rule(image, "/w/home/.bashrc", RULE_PROTECTED, ACCESS_UNSET, ACCESS_DENY, 0);
    add_rule(image, "/w/**/*.key", RULE_PATTERN, ACCESS_DENY, ACCESS_DENY, RULE_FLAG_WILD);
    add_mount(image, "w", STEP_BIND, 0);
    add_mount(image, "usr", STEP_BIND, STEP_READ_ONLY);
    add_mount(image, "proc", STEP_PROC, 0);
    add_mount(image, "dev", STEP_TMPFS, 0);
}

/* What the child and the test share. */
struct entry {
    const char *what; /* the same address in both: they are forks of one program */
    long result;
    int errnum;
    long notes[6];
};
struct shared {
    struct entry entries[2][256];
    size_t count[2];
    char trees[2][64 * 1024];
    atomic_long counter;
    atomic_int is_over;
    int status;
};

static struct shared *shared;
static size_t side; /* which column is being filled */

/* The filter: what bawn's own traps. */
#define NR(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), NOTIFY
#define NOTIFY   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF)
#define ALLOW    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define OPEN(call, argument)                                                                       \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 6),                                         \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[argument])),         \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_PATH | (O_TMPFILE & ~O_DIRECTORY), 2, 0),           \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT | O_TRUNC | O_ACCMODE, 0, 1), NOTIFY, ALLOW,  \
        ALLOW

static int load_filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        OPEN(open, 1),
        OPEN(openat, 2),
        NR(creat),
        NR(openat2),
        NR(mkdir),
        NR(mkdirat),
        NR(mknod),
        NR(mknodat),
        NR(symlink),
        NR(symlinkat),
        NR(link),
        NR(linkat),
        NR(rename),
        NR(renameat),
        NR(renameat2),
        NR(truncate),
        ALLOW};
    struct sock_fprog program = {.len = ARRAY_LENGTH(code), .filter = code};
    unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    long fd;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (fd < 0 && errno == EINVAL)
        fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                     &program);
    return (int)fd;
}

static void send_fds(int sock, const int fds[2])
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    char byte = 0;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(header), fds, 2 * sizeof(int));
    if (sendmsg(sock, &message, 0) != 1)
        _exit(90);
}

static bool receive_fds(int sock, int fds[2])
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *header;

    if (recvmsg(sock, &message, MSG_CMSG_CLOEXEC) != 1)
        return false;
    header = CMSG_FIRSTHDR(&message);
    if (!header)
        return false;
    memcpy(fds, CMSG_DATA(header), 2 * sizeof(int));
    return true;
}

static void must(bool ok, int line)
{
    if (ok)
        return;
    (void)dprintf(2, "test_supervise: set-up failed at line %d: %s\n", line, strerror(errno));
    _exit(91);
}
#define MUST(condition) must((condition), __LINE__)

static void put_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void bind_node(const char *root, const char *name)
{
    char from[64];
    char to[256];

    (void)snprintf(from, sizeof(from), "/dev/%s", name);
    (void)snprintf(to, sizeof(to), "%s/dev/%s", root, name);
    put_file(to, "");
    MUST(mount(from, to, NULL, MS_BIND, NULL) == 0);
}

/* A root with a workspace, a /proc, a /dev and the host's programs. */
static void build_root(const char *root)
{
    static const char *const dirs[] = {"usr", "w", "proc", "dev", "dev/pts", "old", "etc"};
    static const char *const links[] = {"bin", "lib", "lib64", "sbin"};
    char path[256];
    char target[64];

    MUST(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
    MUST(mount("root", root, "tmpfs", 0, "mode=0755") == 0);
    MUST(chdir(root) == 0);
    for (size_t i = 0; i < ARRAY_LENGTH(dirs); i++)
        MUST(mkdir(dirs[i], 0755) == 0);
    for (size_t i = 0; i < ARRAY_LENGTH(links); i++) {
        (void)snprintf(target, sizeof(target), "usr/%s", links[i]);
        MUST(symlink(target, links[i]) == 0);
    }
    (void)snprintf(path, sizeof(path), "%s/usr", root);
    MUST(mount("/usr", path, NULL, MS_BIND | MS_REC, NULL) == 0);
    MUST(mount("w", "w", "tmpfs", 0, "mode=0755") == 0);
    MUST(mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0);
    MUST(mount("devpts", "dev/pts", "devpts", MS_NOSUID, "newinstance,ptmxmode=0666,mode=620") ==
         0);
    bind_node(root, "null");
    bind_node(root, "tty");
    MUST(symlink("pts/ptmx", "dev/ptmx") == 0);
    MUST(symlink("/proc/self/fd", "dev/fd") == 0);
    MUST(symlink("/proc/self/fd/2", "dev/stderr") == 0);
    MUST(symlink("/proc/self/fd/1", "dev/stdout") == 0);
    MUST(syscall(SYS_pivot_root, ".", "old") == 0);
    MUST(chdir("/") == 0 && umount2("/old", MNT_DETACH) == 0);
    MUST(mount(NULL, "/usr", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) ==
             0 ||
         errno == EPERM);
}

static void write_map(pid_t pid, const char *file, const char *text)
{
    char path[64];
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

/* A sandbox with a command in it. */
struct sandbox {
    struct test_image image;
    uid_t host_uid; /* who the command is to the host; to itself it is 0 where that differs */
    char root[64];
    pid_t pid;
    int sock;
    int fds[2]; /* listener, root */
    struct supervisor *supervisor;
    unsigned refusals;
    char refused[256]; /* the last: "SYSCALL PATH ERRNO" */
};

static void note_refusal(void *context, const char *syscall_name, const char *path, int errnum)
{
    struct sandbox *sandbox = context;

    sandbox->refusals++;
    (void)snprintf(sandbox->refused, sizeof(sandbox->refused), "%s %s %s", syscall_name, path,
                   strerrorname_np(errnum));
}

/* No capability is left: like a command in a sandbox of bawn's. */
static void drop_rights(void)
{
    struct {
        unsigned version;
        int pid;
    } header = {0x20080522, 0};
    unsigned data[6] = {0};

    for (int i = 0; i < 64; i++)
        (void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    MUST(syscall(SYS_capset, &header, data) == 0);
    (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* Root's command is somebody else to the host; there only root can test it. */
enum { OWN_ID = 0 };
static const uid_t who[] = {OWN_ID, 54321};

/* What runs inside: free before, supervised after. */
struct command {
    void (*before)(void);
    void (*after)(void);
};

static _Noreturn void run_inside(const struct sandbox *sandbox, const struct command *command,
                                 int sock, int go)
{
    int fds[2];
    char byte;

    MUST(read(go, &byte, 1) == 1);
    if (sandbox->host_uid != OWN_ID)
        MUST(setresgid(0, 0, 0) == 0 && setresuid(0, 0, 0) == 0);
    build_root(sandbox->root);
    MUST(setsid() > 0);
    MUST(chdir("/w") == 0);
    if (command->before)
        command->before();
    drop_rights();
    fds[1] = open("/", O_PATH | O_CLOEXEC);
    fds[0] = load_filter();
    MUST(fds[0] >= 0);
    send_fds(sock, fds);
    close(fds[0]);
    close(fds[1]);
    command->after();
    _exit(0);
}

static void map_ids(const struct sandbox *sandbox)
{
    bool is_own = sandbox->host_uid == OWN_ID;
    char map[64];

    write_map(sandbox->pid, "setgroups", "deny");
    (void)snprintf(map, sizeof(map), "%u %u 1", is_own ? geteuid() : 0,
                   is_own ? geteuid() : sandbox->host_uid);
    write_map(sandbox->pid, "uid_map", map);
    (void)snprintf(map, sizeof(map), "%u %u 1", is_own ? getegid() : 0,
                   is_own ? getegid() : sandbox->host_uid);
    write_map(sandbox->pid, "gid_map", map);
}

static void sandbox_start(struct sandbox *sandbox, const struct command *command, uid_t host_uid)
{
    struct supervisor_options options;
    struct bawn_error err = {0};
    int socks[2];
    int go[2];

    memset(sandbox, 0, sizeof(*sandbox));
    make_image(&sandbox->image);
    sandbox->host_uid = host_uid;
    if (host_uid != OWN_ID)
        sandbox->image.header.host_uid = sandbox->image.header.host_gid = host_uid;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(shared != MAP_FAILED);
    (void)snprintf(sandbox->root, sizeof(sandbox->root), "/tmp/bawn-supervise-XXXXXX");
    ck_assert(mkdtemp(sandbox->root) != NULL);
    ck_assert_int_eq(chmod(sandbox->root, 0755), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks), 0);
    ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
    sandbox->pid =
        (pid_t)syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
    ck_assert_msg(sandbox->pid >= 0, "clone: %s", strerror(errno));
    if (sandbox->pid == 0)
        run_inside(sandbox, command, socks[1], go[0]);
    close(socks[1]);
    map_ids(sandbox);
    ck_assert_int_eq(write(go[1], "", 1), 1);
    ck_assert_msg(receive_fds(socks[0], sandbox->fds), "the sandbox did not start");
    close(go[0]);
    close(go[1]);
    sandbox->sock = socks[0];
    options = (struct supervisor_options){.image = &sandbox->image.header,
                                          .notify_fd = sandbox->fds[0],
                                          .root_fd = sandbox->fds[1],
                                          .on_refusal = note_refusal,
                                          .context = sandbox};
    ck_assert_int_eq(supervisor_new(&options, &sandbox->supervisor, &err), 0);
}

/* Until nobody is left inside. */
static void sandbox_serve(struct sandbox *sandbox)
{
    struct pollfd poller = {.fd = sandbox->fds[0], .events = POLLIN};
    struct bawn_error err = {0};
    int r = 0;

    while (r == 0) {
        int ready = poll(&poller, 1, 20000);

        ck_assert_msg(ready > 0, "nothing was asked for 20 s");
        r = supervisor_serve(sandbox->supervisor, &err);
    }
    ck_assert_msg(r == -EPIPE, "%s", err.message);
}

static void sandbox_end(struct sandbox *sandbox)
{
    int status;

    ck_assert_int_eq(waitpid(sandbox->pid, &status, 0), sandbox->pid);
    supervisor_free(sandbox->supervisor);
    close(sandbox->fds[0]);
    close(sandbox->fds[1]);
    close(sandbox->sock);
    ck_assert_int_eq(rmdir(sandbox->root), 0);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "inside: status %#x",
                  (unsigned)status);
}

static void sandbox_run(struct sandbox *sandbox, const struct command *command, uid_t host_uid)
{
    sandbox_start(sandbox, command, host_uid);
    sandbox_serve(sandbox);
    sandbox_end(sandbox);
}

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

static long openat2_(int dir, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
    struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};

    return syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

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
    OP(open("strange", O_RDWR | O_CREAT | O_NOFOLLOW, 07777));
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
    OP(open("/usr/bin/env", O_WRONLY));
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

static long renameat2_(const char *from, const char *to, unsigned flags)
{
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
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

/* A call and the errno that it must end with; 0: it succeeds. */
static void expect(const char *what, long result, int errnum)
{
    struct entry *entry = &shared->entries[1][shared->count[1]++];

    *entry = (struct entry){.what = what, .result = result, .errnum = result < 0 ? errno : 0};
    entry->notes[0] = errnum;
}
#define EXPECT(errnum, call) expect(#call, (errno = 0, (long)(call)), (errnum))
#define HOLDS(condition)     expect(#condition, (condition) ? 0 : (errno = EPROTO, -1), 0)

static void check_expected(void)
{
    unsigned wrong = 0;

    ck_assert_uint_gt(shared->count[1], 0);
    for (size_t i = 0; i < shared->count[1]; i++) {
        const struct entry *entry = &shared->entries[1][i];

        if (entry->errnum == entry->notes[0])
            continue;
        wrong++;
        (void)fprintf(stderr, "%s: %s, expected %s\n", entry->what, strerrorname_np(entry->errnum),
                      strerrorname_np((int)entry->notes[0]));
    }
    ck_assert_uint_eq(wrong, 0);
}

static void prepare_protected(void)
{
    static const char *const dirs[] = {
        "p",     "p/.git",   "p/.git/hooks", "q",  "q/.git", "x", "x/hooks",
        "homex", "p/.husky", "plain",        "q2", "many",   "ok"};

    for (size_t i = 0; i < ARRAY_LENGTH(dirs); i++)
        MUST(mkdir(dirs[i], 0755) == 0);
    put_file("p/.git/config", "witness");
    put_file("homex/.bashrc", "x");
    put_file("file", "file");
    put_file("secret.key", "secret");
    MUST(symlink("p/.git", "into") == 0 && symlink("x", "evil") == 0);
    MUST(symlink("p/.git/config", "toconfig") == 0 && symlink("p/.git/new", "tonew") == 0);
    MUST(symlink("q/.git/config", "toabsent") == 0);
    MUST(symlink("/w/p/.git/hooks", "tohooks") == 0);
}

static void try_opens(void)
{
    int dir = open("p/.git", O_RDONLY | O_DIRECTORY);
    int config = open("p/.git/config", O_RDONLY);
    char path[32];

    EXPECT(EACCES, open("p/.git/hooks/pre-commit", O_WRONLY | O_CREAT, 0755));
    EXPECT(EACCES, open("p/.git/hooks/pre-commit", O_WRONLY | O_CREAT | O_EXCL, 0755));
    EXPECT(EACCES, creat("p/.git/hooks/pre-commit", 0755));
    EXPECT(ENOENT, open("p/.git/hooks/pre-commit", O_WRONLY));
    EXPECT(EACCES, open("p/.git/config", O_WRONLY));
    EXPECT(EACCES, open("p/.git/config", O_RDWR));
    EXPECT(EACCES, open("p/.git/config", O_RDONLY | O_TRUNC));
    EXPECT(EEXIST, open("p/.git/config", O_RDWR | O_CREAT | O_EXCL, 0666));
    EXPECT(0, open("p/.git/config", O_RDONLY | O_CREAT, 0666));
    EXPECT(0, open("p/.git/other", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, openat(dir, "config", O_WRONLY));
    EXPECT(EACCES, openat(dir, "hooks/x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, openat2_(dir, "config", O_WRONLY, 0, RESOLVE_BENEATH));
    EXPECT(EACCES, openat2_(dir, "hooks/x", O_WRONLY | O_CREAT, 0666, RESOLVE_BENEATH));
    EXPECT(EACCES, openat2_(dir, "/hooks/x", O_WRONLY | O_CREAT, 0666, RESOLVE_IN_ROOT));
    EXPECT(EACCES, openat2_(AT_FDCWD, "p/.git/config", O_RDWR, 0, 0));
    EXPECT(0, openat2_(AT_FDCWD, "p/.git/config", O_RDONLY, 0, 0));
    EXPECT(ENOSYS, openat2_(AT_FDCWD, "p/.git/config", O_PATH, 0, 0));
    EXPECT(EACCES, openat2_(AT_FDCWD, "secret.key", O_RDONLY, 0, 0));
    EXPECT(EACCES, openat2_(AT_FDCWD, "secret.key", O_RDONLY, 0, RESOLVE_NO_SYMLINKS));
    EXPECT(EACCES, open("new.key", O_WRONLY | O_CREAT, 0600));
    EXPECT(EACCES, truncate("p/.git/config", 0));
    EXPECT(EACCES, truncate("toconfig", 0));
    EXPECT(EACCES, open("toconfig", O_WRONLY));
    EXPECT(EACCES, open("toabsent", O_WRONLY | O_CREAT, 0666));
    EXPECT(0, open("tonew", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, open("into/config", O_WRONLY));
    EXPECT(EACCES, open("tohooks/x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, open("ok/../p/./.git//hooks/x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, open("/proc/self/cwd/p/.git/config", O_WRONLY));
    EXPECT(EACCES, open("/proc/self/root/w/p/.git/hooks/x", O_WRONLY | O_CREAT, 0666));
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", config);
    EXPECT(EACCES, open(path, O_WRONLY));
    (void)snprintf(path, sizeof(path), "/dev/fd/%d", config);
    EXPECT(EACCES, open(path, O_RDWR));
    EXPECT(EACCES, truncate(path, 0));
    (void)snprintf(path, sizeof(path), "/dev/fd/%d/hooks/x", dir);
    EXPECT(EACCES, open(path, O_WRONLY | O_CREAT, 0666));
    (void)snprintf(path, sizeof(path), "/dev/fd/%d/fine", dir);
    EXPECT(0, open(path, O_WRONLY | O_CREAT, 0666));
    MUST(chdir("p/.git") == 0);
    EXPECT(EACCES, open("config", O_WRONLY));
    EXPECT(EACCES, open("hooks/../config", O_WRONLY));
    EXPECT(EACCES, open("../../q/.git/config", O_WRONLY | O_CREAT, 0666));
    MUST(chdir("hooks") == 0);
    EXPECT(EACCES, open("x", O_WRONLY | O_CREAT, 0666));
    MUST(chdir("/w") == 0);
    EXPECT(ENOENT, open("/w/home/.bashrc", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, open("/w/vendor", O_WRONLY | O_CREAT, 0666));
    close(dir);
    close(config);
}

static void try_names(void)
{
    int config = open("p/.git/config", O_PATH);
    char path[32];

    EXPECT(EEXIST, mkdir("p/.git/hooks", 0777));
    EXPECT(EACCES, mkdir("q/.git/hooks", 0777));
    EXPECT(EACCES, mkdir("p/.git/hooks/sub", 0777));
    EXPECT(EACCES, mkdir("vendor", 0777));
    EXPECT(EACCES, mknod("q/.git/config", S_IFREG | 0644, 0));
    EXPECT(EPERM, mknod("ok/whiteout", S_IFCHR | 0644, 0));
    EXPECT(EACCES, symlink("/tmp", "q/.git/hooks"));
    EXPECT(EACCES, link("file", "q/.git/config"));
    EXPECT(EACCES, link("p/.git/config", "ok/stolen"));
    EXPECT(EACCES, linkat(AT_FDCWD, "toconfig", AT_FDCWD, "ok/stolen", AT_SYMLINK_FOLLOW));
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", config);
    EXPECT(EACCES, linkat(AT_FDCWD, path, AT_FDCWD, "ok/stolen", AT_SYMLINK_FOLLOW));
    EXPECT(EACCES, linkat(config, "", AT_FDCWD, "ok/stolen", AT_EMPTY_PATH));
    EXPECT(EEXIST, link("file", "p/.git/config"));
    EXPECT(EACCES, rename("file", "q/.git/config"));
    EXPECT(EACCES, rename("file", "p/.git/hooks/x"));
    EXPECT(EBUSY, rename("file", "p/.git/config"));
    EXPECT(EBUSY, rename("p/.git/config", "ok/config"));
    EXPECT(EBUSY, renameat2_("file", "p/.git/config", RENAME_EXCHANGE));
    EXPECT(EBUSY, renameat2_("p/.git/config", "file", RENAME_EXCHANGE));
    EXPECT(EEXIST, renameat2_("file", "p/.git/config", RENAME_NOREPLACE));
    EXPECT(EPERM, renameat2_("file", "ok/file", RENAME_WHITEOUT));
    EXPECT(ENOENT, rename("absent", "q/.git/config"));
    EXPECT(EBUSY, rename("p/.git", "p/.git2"));
    EXPECT(EBUSY, renameat2_("p/.git", "ok", RENAME_EXCHANGE));
    EXPECT(EBUSY, rename("p/.husky", "ok/husky"));
    EXPECT(EACCES, rename("x", "q2/.git"));
    EXPECT(EACCES, rename("homex", "home"));
    EXPECT(EACCES, symlink("x", "q2/.git"));
    EXPECT(EACCES, rename("evil", "q2/.git"));
    EXPECT(EACCES, link("evil", "q2/.git"));
    EXPECT(EACCES, symlink("..", "q/.git/modules"));
    EXPECT(0, symlink(".git", "q2/innocent"));
    EXPECT(0, rename("plain", "q2/plain"));
    EXPECT(0, rename("p", "ok/p"));
    EXPECT(0, rename("ok/p", "p"));
    EXPECT(0, mkdir("q2/.git", 0777));
    EXPECT(EACCES, mkdir("q2/.git/hooks", 0777));
    EXPECT(0, mkdir("home", 0777));
    EXPECT(EACCES, open("home/.bashrc", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, rename("file", "home/.bashrc"));
    close(config);
}

/* pid 1 can be reached by the supervisor, and must not be through it. */
static void try_proc(void)
{
    EXPECT(EACCES, open("/proc/1/comm", O_WRONLY));
    EXPECT(EACCES, open("/proc/1/mem", O_RDWR));
    EXPECT(EACCES, open("/proc/1/fd/2", O_WRONLY));
    EXPECT(EACCES, open("/proc/1/root/w/ok/x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, open("/proc/1/cwd/ok/x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, openat2_(AT_FDCWD, "/proc/1/environ", O_RDONLY, 0, 0));
    EXPECT(EACCES, openat2_(AT_FDCWD, "/proc/1/environ", O_RDONLY, 0, RESOLVE_NO_SYMLINKS));
    EXPECT(EACCES, open("/proc/sys/kernel/hostname", O_WRONLY));
    EXPECT(0, openat2_(AT_FDCWD, "/proc/self/environ", O_RDONLY, 0, 0));
    EXPECT(0, openat2_(AT_FDCWD, "/proc/uptime", O_RDONLY, 0, 0));
    EXPECT(0, open("/proc/self/oom_score_adj", O_WRONLY));
    EXPECT(0, open("/proc/self/mem", O_RDWR));
}

static void in_fork(void (*run)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        run();
        _exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

static void try_protected(void)
{
    char text[16] = "";
    int fd;

    try_opens();
    try_names();
    in_fork(try_proc);
    fd = open("p/.git/config", O_RDONLY);
    MUST(fd >= 0 && read(fd, text, sizeof(text) - 1) == 7 && strcmp(text, "witness") == 0);
    EXPECT(0, rmdir("p/.git/hooks")); /* nothing is in it */
    EXPECT(ENOENT, access("q/.git/config", F_OK));
    EXPECT(ENOENT, access("ok/stolen", F_OK));
    EXPECT(ENOENT, access("q/.git/hooks", F_OK));
}

START_TEST(what_is_protected_stays_whichever_call_is_tried)
{
    struct command command = {.before = prepare_protected, .after = try_protected};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    check_expected();
    ck_assert_uint_gt(sandbox.refusals, 50);
    ck_assert_str_eq(sandbox.refused, "openat /proc/sys/kernel/hostname EACCES");
}
END_TEST

static void *open_reading(void *path)
{
    int fd;

    (void)usleep(150 * 1000);
    fd = open(path, O_RDONLY); /* not trapped */
    return fd < 0 ? NULL : (void *)(intptr_t)fd;
}

/* The other end comes later; meanwhile others are served. */
static void wait_for_fifo(void)
{
    struct timespec begin;
    struct timespec end;
    pthread_t thread;
    void *other;
    char byte = 0;
    int fd;

    MUST(mkfifo("fifo", 0600) == 0);
    MUST(pthread_create(&thread, NULL, open_reading, (void *)(uintptr_t) "fifo") == 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    fd = open("fifo", O_WRONLY);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    MUST(pthread_join(thread, &other) == 0);
    EXPECT(0, fd);
    HOLDS(fcntl(fd, F_GETFL) == (O_WRONLY | O_LARGEFILE | 0100000));
    HOLDS(write(fd, "x", 1) == 1 && read((int)(intptr_t)other, &byte, 1) == 1);
    HOLDS((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= 100);
    close(fd);
    close((int)(intptr_t)other);
}

/* Nobody ever comes: the caller is killed, and the others go on. */
static void die_waiting(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        (void)open("fifo", O_WRONLY);
        _exit(1);
    }
    (void)usleep(100 * 1000);
    EXPECT(0, open("meanwhile", O_WRONLY | O_CREAT, 0666));
    MUST(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
    HOLDS(WIFSIGNALED(status));
    EXPECT(0, open("after", O_WRONLY | O_CREAT, 0666));
}

static void open_waiting(void)
{
    wait_for_fifo();
    die_waiting();
}

START_TEST(an_open_that_waits_holds_up_nobody)
{
    struct command command = {.after = open_waiting};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    check_expected();
}
END_TEST

static void open_tty(void)
{
    int master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    char text[16] = "";
    int number = -1;
    int unlock = 0;
    char path[32];
    int slave;
    int tty;

    EXPECT(0, master);
    EXPECT(ENXIO, open("/dev/tty", O_RDWR));
    MUST(ioctl(master, TIOCSPTLCK, &unlock) == 0 && ioctl(master, TIOCGPTN, &number) == 0);
    (void)snprintf(path, sizeof(path), "/dev/pts/%d", number);
    slave = open(path, O_RDWR);
    EXPECT(0, slave);
    MUST(ioctl(slave, TIOCSCTTY, 0) == 0);
    tty = open("/dev/tty", O_RDWR);
    EXPECT(0, tty);
    HOLDS(write(tty, "inside", 6) == 6);
    HOLDS(read(master, text, sizeof(text) - 1) == 6 && strcmp(text, "inside") == 0);
    if (dup2(slave, 2) != 2)
        _exit(1);
    tty = open("/dev/stderr", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    HOLDS(write(tty, "stderr", 6) == 6);
    HOLDS(read(master, text, sizeof(text) - 1) == 6 && strcmp(text, "stderr") == 0);
}

static void open_tty_in_session(void)
{
    in_fork((void (*)(void))setsid);
    open_tty();
}

/* In a session with a terminal of its own, which is what /dev/tty would be out here. */
static void check_tty(uid_t host_uid)
{
    struct command command = {.after = open_tty_in_session};
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    char seen[256] = "";
    struct sandbox sandbox;
    int slave;

    ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    ck_assert_int_gt(setsid(), 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    ck_assert_int_ge(slave, 0);
    ck_assert_int_eq(ioctl(slave, TIOCSCTTY, 0), 0);
    sandbox_run(&sandbox, &command, host_uid);
    check_expected();
    ck_assert_int_eq(fcntl(master, F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_lt(read(master, seen, sizeof(seen)), 0);
}

START_TEST(dev_tty_is_the_terminal_of_the_caller)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        check_tty(who[_i]);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* A path that a second thread keeps changing between what may and what must not be made. */
enum { RACE_TRIES = 20000 };
static char racing[64];

static void *rewrite_path(void *unused)
{
    volatile char *byte = &racing[11]; /* "config" or "conf0g" */

    while (!atomic_load(&shared->is_over)) {
        /* One byte differs: each read sees one or the other, whole. */
        *byte = '0';
        *byte = 'i';
    }
    return unused;
}

static void race_path(void)
{
    pthread_t thread;

    memcpy(racing, "q/.git/config", 14);
    MUST(pthread_create(&thread, NULL, rewrite_path, NULL) == 0);
    for (int i = 0; i < RACE_TRIES; i++) {
        int fd = open(racing, O_WRONLY | O_CREAT, 0666);

        atomic_fetch_add(&shared->counter, fd >= 0);
        close(fd);
        if (access("q/.git/config", F_OK) == 0)
            shared->status = 1;
    }
    atomic_store(&shared->is_over, 1);
    MUST(pthread_join(thread, NULL) == 0);
}

START_TEST(a_path_that_changes_meanwhile_is_decided_and_used_once)
{
    struct command command = {.before = prepare_protected, .after = race_path};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    ck_assert_int_eq(shared->status, 0);
    /* Both sides of the race were met. */
    ck_assert_int_gt(atomic_load(&shared->counter), 0);
    ck_assert_uint_gt(sandbox.refusals, 0);
}
END_TEST

/* A directory and a link to a protected one change places while files are made through it. */
static void *swap_dirs(void *unused)
{
    while (!atomic_load(&shared->is_over))
        (void)renameat2_("ok/dir", "ok/link", RENAME_EXCHANGE);
    return unused;
}

static void race_dirs(void)
{
    pthread_t thread;

    MUST(mkdir("ok/dir", 0755) == 0 && symlink("../p/.git/hooks", "ok/link") == 0);
    MUST(pthread_create(&thread, NULL, swap_dirs, NULL) == 0);
    for (int i = 0; i < RACE_TRIES / 4; i++) {
        int fd = open("ok/dir/x", O_WRONLY | O_CREAT, 0666);

        atomic_fetch_add(&shared->counter, fd >= 0);
        close(fd);
        if (access("p/.git/hooks/x", F_OK) == 0)
            shared->status = 1;
    }
    atomic_store(&shared->is_over, 1);
    MUST(pthread_join(thread, NULL) == 0);
}

START_TEST(a_directory_that_becomes_a_link_leads_nowhere)
{
    struct command command = {.before = prepare_protected, .after = race_dirs};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    ck_assert_int_eq(shared->status, 0);
    ck_assert_int_gt(atomic_load(&shared->counter), 0);
    ck_assert_uint_gt(sandbox.refusals, 0);
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
        shared->count[0] = 0;
    }
}

static void prepare_flood(void)
{
    MUST(mkdir("b", 0755) == 0 && chdir("b") == 0);
    prepare_tree();
}

static unsigned count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    ck_assert(dir != NULL);
    while (readdir(dir))
        count++;
    (void)closedir(dir);
    return count;
}

START_TEST(nothing_is_left_open_after_many_calls)
{
    struct command command = {.before = prepare_flood, .after = flood};
    struct bawn_error err = {0};
    struct sandbox sandbox;
    unsigned before = 0;
    unsigned after = 0;
    unsigned served = 0;

    sandbox_start(&sandbox, &command, who[_i]);
    while (supervisor_serve(sandbox.supervisor, &err) == 0) {
        struct pollfd poller = {.fd = sandbox.fds[0], .events = POLLIN};

        if (++served == 1000)
            before = count_fds();
        if (served % 1000 == 0)
            after = count_fds();
        ck_assert_int_gt(poll(&poller, 1, 20000), 0);
    }
    ck_assert_uint_gt(served, 5000);
    ck_assert_uint_eq(before, after);
    sandbox_end(&sandbox);
}
END_TEST

static int write_own(const char *file, const char *text)
{
    int fd = open(file, O_WRONLY);
    ssize_t done = fd < 0 ? -1 : write(fd, text, strlen(text));

    if (fd >= 0 && done >= 0)
        close(fd);
    return done < 0 ? -1 : 0;
}

/* A container inside: other namespaces, another root. */
static void nest(void)
{
    char map[64];
    uid_t uid = geteuid();
    gid_t gid = getegid();

    MUST(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0);
    EXPECT(0, write_own("/proc/self/setgroups", "deny"));
    (void)snprintf(map, sizeof(map), "0 %u 1", uid);
    /* Without CAP_SETFCAP no map has the 0 of outside. */
    EXPECT(uid == 0 ? EPERM : 0, write_own("/proc/self/uid_map", map));
    (void)snprintf(map, sizeof(map), "0 %u 1", gid);
    EXPECT(0, write_own("/proc/self/gid_map", map));
    EXPECT(0, open("before", O_WRONLY | O_CREAT, 0666));
    EXPECT(0, chroot("/w/p"));
    MUST(chdir("/") == 0);
    EXPECT(0, open("/inside", O_WRONLY | O_CREAT, 0666));
    EXPECT(0, open("/../../inside2", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, open("/.git/config", O_WRONLY));
    EXPECT(EACCES, open("/.git/hooks/x", O_WRONLY | O_CREAT, 0666));
    EXPECT(ENOENT, open("/p/x", O_WRONLY | O_CREAT, 0666));
}

static void nest_and_look(void)
{
    in_fork(nest);
    EXPECT(0, access("/w/p/inside", F_OK));
    EXPECT(0, access("/w/p/inside2", F_OK));
    EXPECT(ENOENT, access("/inside2", F_OK));
}

START_TEST(a_container_inside_is_served_in_its_own_root)
{
    struct command command = {.before = prepare_protected, .after = nest_and_look};
    struct sandbox sandbox;

    sandbox_start(&sandbox, &command, who[_i]);
    sandbox.image.header.flags |= IMAGE_MAY_NEST;
    sandbox_serve(&sandbox);
    sandbox_end(&sandbox);
    check_expected();
}
END_TEST

/* A large directory cannot be looked through: whoever moves it copies it. */
static void move_large(void)
{
    EXPECT(0, rename("many", "many2"));
    EXPECT(EXDEV, rename("many2", "q2/many"));
    EXPECT(EXDEV, rename("many2", ".git"));
    EXPECT(0, rename("plain", "q2/plain"));
}

static void prepare_large(void)
{
    char path[32];

    prepare_protected();
    for (int i = 0; i < 10001; i++) {
        (void)snprintf(path, sizeof(path), "many/%d", i);
        MUST(mknod(path, S_IFREG | 0644, 0) == 0);
    }
}

START_TEST(a_directory_too_large_to_look_through_is_not_moved)
{
    struct command command = {.before = prepare_large, .after = move_large};
    struct sandbox sandbox;

    sandbox_run(&sandbox, &command, who[_i]);
    check_expected();
}
END_TEST

/* A directory of the host that came in as a descriptor: the mounts there are not the sandbox's. */
static int host_dir = -1;

static void use_host_dir(void)
{
    char path[64];

    EXPECT(EACCES, openat(host_dir, "x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, mkdirat(host_dir, "x", 0777));
    EXPECT(EACCES, openat(host_dir, "../escape-x", O_WRONLY | O_CREAT, 0666));
    EXPECT(EACCES, openat2_(host_dir, "witness", O_RDONLY, 0, 0));
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d/x", host_dir);
    EXPECT(EACCES, open(path, O_WRONLY | O_CREAT, 0666));
}

START_TEST(a_directory_of_the_host_is_not_written_by_descriptor)
{
    struct command command = {.after = use_host_dir};
    char dir[] = "/tmp/bawn-host-XXXXXX";
    struct sandbox sandbox;
    int fd;

    ck_assert(mkdtemp(dir) != NULL);
    ck_assert_int_eq(chmod(dir, 0777), 0);
    host_dir = open(dir, O_RDONLY | O_DIRECTORY);
    fd = openat(host_dir, "witness", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    ck_assert_int_ge(fd, 0);
    close(fd);
    sandbox_run(&sandbox, &command, who[_i]);
    ck_assert_int_eq(unlinkat(host_dir, "witness", 0), 0);
    ck_assert_int_eq(rmdir(dir), 0); /* nothing else is in it */
    check_expected();
}
END_TEST

static Suite *supervise_suite(void)
{
    Suite *suite = suite_create("supervise");
    TCase *all = tcase_create("supervise");
    int runs = geteuid() == 0 ? ARRAY_LENGTH(who) : 1;

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, what_is_not_protected_is_as_without_a_supervisor, 0, runs);
    tcase_add_loop_test(all, what_is_protected_stays_whichever_call_is_tried, 0, runs);
    tcase_add_loop_test(all, an_open_that_waits_holds_up_nobody, 0, runs);
    tcase_add_loop_test(all, dev_tty_is_the_terminal_of_the_caller, 0, runs);
    tcase_add_loop_test(all, a_path_that_changes_meanwhile_is_decided_and_used_once, 0, runs);
    tcase_add_loop_test(all, a_directory_that_becomes_a_link_leads_nowhere, 0, runs);
    tcase_add_loop_test(all, nothing_is_left_open_after_many_calls, 0, runs);
    tcase_add_loop_test(all, a_container_inside_is_served_in_its_own_root, 0, runs);
    tcase_add_loop_test(all, a_directory_too_large_to_look_through_is_not_moved, 0, runs);
    tcase_add_loop_test(all, a_directory_of_the_host_is_not_written_by_descriptor, 0, runs);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    return test_run(supervise_suite(), "supervise");
}
