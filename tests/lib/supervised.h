/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox for tests of the supervisor: a child in namespaces of its own, with
 * a filter that sends its calls to the test. No mock: what is answered here is
 * what a command would ask.
 */
#ifndef TESTS_LIB_SUPERVISED_H
#define TESTS_LIB_SUPERVISED_H

#include "lib/test.h"
#include "policy/model.h"
#include "supervise/supervise.h"
#include "wire/rules.h"

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
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* An image that holds rules and mounts alone. */
struct test_image {
    struct image header;
    struct image_mount mounts[8];
    struct image_rule rules[16];
    char strings[1024];
};

static inline uint32_t add_string(struct test_image *image, const char *text)
{
    struct image_span *span = &image->header.parts[PART_STRINGS];
    uint32_t at = span->count;

    ck_assert(at + strlen(text) + 1 <= sizeof(image->strings));
    memcpy(image->strings + at, text, strlen(text) + 1);
    span->count += (uint32_t)strlen(text) + 1;
    return at;
}

static inline uint32_t keep_string(void *image, const char *text)
{
    return add_string(image, text);
}

enum { RULE_WILD = 1, RULE_RO = 2 };

static inline void add_rule(struct test_image *image, const char *path, enum rule_kind kind,
                            enum access read, enum access write, unsigned flags)
{
    const struct layer layer = {.authority =
                                    kind == RULE_PATTERN ? AUTHORITY_USER : AUTHORITY_BUILTIN};
    const struct path_rule rule = {
        .path = path,
        .kind = kind,
        .read = read,
        .write = write,
        .wild = flags & RULE_WILD,
        .read_only = flags & RULE_RO,
        .layer = &layer,
    };

    image->rules[image->header.parts[PART_RULES].count++] = rules_pack(&rule, keep_string, image);
}

static inline void add_mount(struct test_image *image, const char *target, enum image_step step,
                             unsigned flags)
{
    image->mounts[image->header.parts[PART_MOUNTS].count++] = (struct image_mount){
        .step = (uint8_t)step, .flags = (uint16_t)flags, .target = add_string(image, target)};
}

static inline void make_image(struct test_image *image)
{
    struct image_span *parts = image->header.parts;

    memset(image, 0, sizeof(*image));
    parts[PART_MOUNTS].at = offsetof(struct test_image, mounts);
    parts[PART_RULES].at = offsetof(struct test_image, rules);
    parts[PART_STRINGS].at = offsetof(struct test_image, strings);
    (void)add_string(image, "");
    image->header.host_uid = image->header.caller_uid = geteuid();
    image->header.host_gid = image->header.caller_gid = getegid();
    image->header.reads = READS_STRICT;
    image->header.workspace = image->header.workspace_at = add_string(image, "/w");
    add_rule(image, "/w", RULE_PATH, ACCESS_ALLOW, ACCESS_ALLOW, 0);
    add_rule(image, "/w/vendor", RULE_PATH, ACCESS_ALLOW, ACCESS_DENY, RULE_RO);
    add_rule(image, "/usr", RULE_PATH, ACCESS_ALLOW, ACCESS_DENY, RULE_RO);
    add_rule(image, "/dev", RULE_PATH, ACCESS_PRIVATE, ACCESS_PRIVATE, 0);
    add_rule(image, "/**/.git/hooks", RULE_PROTECTED, ACCESS_UNSET, ACCESS_DENY, RULE_WILD);
    add_rule(image, "/**/.git/config", RULE_PROTECTED, ACCESS_UNSET, ACCESS_DENY, RULE_WILD);
    add_rule(image, "/**/.git/modules/**/hooks", RULE_PROTECTED, ACCESS_UNSET, ACCESS_DENY,
             RULE_WILD);
    add_rule(image, "/**/.husky", RULE_PROTECTED, ACCESS_UNSET, ACCESS_DENY, RULE_WILD);
    add_rule(image, "/w/home/.bashrc", RULE_PROTECTED, ACCESS_UNSET, ACCESS_DENY, 0);
    add_rule(image, "/w/**/*.key", RULE_PATTERN, ACCESS_DENY, ACCESS_DENY, RULE_WILD);
    add_mount(image, "w", STEP_BIND, 0);
    add_mount(image, "usr", STEP_BIND, STEP_READ_ONLY);
    add_mount(image, "proc", STEP_PROC, 0);
    /* Beside the root: it covers nothing of what was mounted before. */
    add_mount(image, "", STEP_POOL, 0);
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
    struct entry entries[2][512];
    size_t count[2];
    char trees[2][64 * 1024];
    atomic_long counter;
    atomic_int is_over;
    int status;
};

static struct shared *shared;

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

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

#define REQUEST(number)                                                                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 4),                                          \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),                \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), NOTIFY, ALLOW

static inline int load_filter(void)
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
        NR(unlink),
        NR(unlinkat),
        NR(rmdir),
        NR(bind),
        NR(chmod),
        NR(fchmod),
        NR(fchmodat),
        NR(fchmodat2),
        NR(setxattr),
        NR(lsetxattr),
        NR(fsetxattr),
        NR(removexattr),
        NR(lremovexattr),
        NR(fremovexattr),
        REQUEST(FS_IOC_SETFLAGS),
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

static inline void send_fds(int sock, const int fds[2])
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

static inline bool receive_fds(int sock, int fds[2])
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

static inline void must(bool ok, int line)
{
    if (ok)
        return;
    (void)dprintf(2, "test_supervise: set-up failed at line %d: %s\n", line, strerror(errno));
    _exit(91);
}
#define MUST(condition) must((condition), __LINE__)

static inline void put_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static inline void bind_node(const char *root, const char *name)
{
    char from[64];
    char to[256];

    (void)snprintf(from, sizeof(from), "/dev/%s", name);
    (void)snprintf(to, sizeof(to), "%s/dev/%s", root, name);
    put_file(to, "");
    MUST(mount(from, to, NULL, MS_BIND, NULL) == 0);
}

/* A root with a workspace, a /proc, a /dev and the host's programs. */
static inline void build_root(const char *root)
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

static inline void write_map(pid_t pid, const char *file, const char *text)
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
    char root[TEST_DIR_BYTES];
    pid_t pid;
    int sock;
    int fds[2]; /* listener, root */
    struct supervisor *supervisor;
    unsigned refusals, reports; /* what was refused, and in how many events that was noted_by */
    unsigned lost;              /* and what was not */
    char refused[65536];        /* each "SYSCALL PATH ERRNO RULE\n" */
};

static inline void note_refusal(void *context, const struct event *event)
{
    struct sandbox *sandbox = context;

    if (event->what != EVENT_REFUSED)
        return;
    sandbox->refusals += event->times;
    sandbox->reports++;
    sandbox->lost += event->lost;
    (void)snprintf(sandbox->refused + strlen(sandbox->refused),
                   sizeof(sandbox->refused) - strlen(sandbox->refused), "%s %s %s %s\n",
                   event->texts[EVENT_CALL], event->texts[EVENT_PATH],
                   strerrorname_np(event->errnum),
                   event->texts[EVENT_RULE] ? event->texts[EVENT_RULE] : "");
}

/* Set before the start: a rule asks about files that end in .ask, and who is asked. */
static bool (*asked)(void *context, const struct event *event);
static report_event noted_by; /* NULL: what is refused is noted */
static int answers;

/* No capability is left: like a command in a sandbox of bawn's. */
static inline void drop_rights(void)
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

static inline _Noreturn void run_inside(const struct sandbox *sandbox,
                                        const struct command *command, int sock, int go)
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
    /* A test that fails leaves nobody behind. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    fds[1] = open("/", O_PATH | O_CLOEXEC);
    fds[0] = load_filter();
    MUST(fds[0] >= 0);
    send_fds(sock, fds);
    close(fds[0]);
    close(fds[1]);
    command->after();
    _exit(0);
}

static inline void map_ids(const struct sandbox *sandbox)
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

static inline void sandbox_start(struct sandbox *sandbox, const struct command *command,
                                 uid_t host_uid)
{
    struct supervisor_options options;
    struct bawn_error err = {0};
    int socks[2];
    int go[2];

    memset(sandbox, 0, sizeof(*sandbox));
    make_image(&sandbox->image);
    if (asked) {
        sandbox->image.header.flags |= IMAGE_ASKS;
        add_rule(&sandbox->image, "/w/**/*.ask", RULE_PATTERN, ACCESS_UNSET, ACCESS_ASK, RULE_WILD);
    }
    sandbox->host_uid = host_uid;
    if (host_uid != OWN_ID)
        sandbox->image.header.host_uid = sandbox->image.header.host_gid = host_uid;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(shared != MAP_FAILED);
    test_make_dir(sandbox->root, "supervise");
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
                                          .report = noted_by ? noted_by : note_refusal,
                                          .ask = asked,
                                          .answer_fd = answers,
                                          .context = sandbox};
    ck_assert_int_eq(supervisor_new(&options, &sandbox->supervisor, &err), 0);
}

/* Until nobody is left inside. */
static inline void sandbox_serve(struct sandbox *sandbox)
{
    struct pollfd poller = {.fd = sandbox->fds[0], .events = POLLIN};
    struct bawn_error err = {0};
    int r = 0;

    while (r == 0) {
        int ready = poll(&poller, 1, 20000);

        ck_assert_msg(ready > 0 || errno == EINTR, "nothing was asked for 20 s");
        r = supervisor_serve(sandbox->supervisor, ready > 0 ? (uint32_t)poller.revents : 0, &err);
    }
    ck_assert_msg(r == -EPIPE, "%s", err.message);
}

static inline void sandbox_end(struct sandbox *sandbox)
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

static inline void sandbox_run(struct sandbox *sandbox, const struct command *command,
                               uid_t host_uid)
{
    sandbox_start(sandbox, command, host_uid);
    sandbox_serve(sandbox);
    sandbox_end(sandbox);
}

/* A call and the errno that it must end with; 0: it succeeds. */
static inline void expect(const char *what, long result, int errnum)
{
    struct entry *entry = &shared->entries[1][shared->count[1]++];

    *entry = (struct entry){.what = what, .result = result, .errnum = result < 0 ? errno : 0};
    /* What failed earlier says no errno any more: it failed all the same. */
    if (result < 0 && entry->errnum == 0)
        entry->errnum = EPROTO;
    entry->notes[0] = errnum;
}
#define EXPECT(errnum, call) expect(#call, (errno = 0, (long)(call)), (errnum))
#define HOLDS(condition)     expect(#condition, (condition) ? 0 : (errno = EPROTO, -1), 0)

static inline void check_expected(void)
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

static inline long openat2_(int dir, const char *path, uint64_t flags, uint64_t mode,
                            uint64_t resolve)
{
    struct open_how how = {.flags = flags, .mode = mode, .resolve = resolve};

    return syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static inline long renameat2_(const char *from, const char *to, unsigned flags)
{
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

static inline long fchmodat2_(int dir, const char *path, mode_t mode, int flags)
{
    return syscall(SYS_fchmodat2, dir, path, mode, flags);
}

static inline void in_fork(void (*run)(void))
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        run();
        _exit(0);
    }
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

static inline void prepare_protected(void)
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

#endif
