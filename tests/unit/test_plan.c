/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: crafted hosts and file systems, so that every answer is known beforehand. */
#include "api/api.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "lib/load.h"
#include "plan/compile.h"
#include "plan/image_print.h"
#include "policy/build.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <string.h>

/* A host that has everything, and one that lacks some of it. */
static struct host_facts rich_host(void)
{
    struct host_facts facts = {
        .landlock_abi = 7, .cgroup = CGROUP_V2, .memory_bytes = 16ULL << 30, .cpus = 4};

    for (size_t i = 0; i < FEATURE_COUNT; i++)
        facts.features[i].available = true;
    facts.backends[BACKEND_NATIVE].available = true;
    facts.backends[BACKEND_LANDLOCK].available = true;
    return facts;
}

/* Directories end in "/", links have " -> "; everything else is a file. */
static const char *const tree[] = {"/",
                                   "/srv/",
                                   "/srv/work/",
                                   "/srv/work/secret/",
                                   "/srv/work/key",
                                   "/srv/work/deep/",
                                   "/srv/work/deep/held",
                                   "/srv/ro/",
                                   "/srv/link -> /srv/ro",
                                   "/srv/engine",
                                   "/proc/",
                                   "/proc/sys/",
                                   "/proc/keys",
                                   "/dev/",
                                   "/dev/dri",
                                   "/dev/kvm",
                                   "/run/s.sock",
                                   NULL};

static enum look look_tree(void *context, const char *path, char *target, size_t target_size)
{
    size_t length = strlen(path);

    (void)context;
    for (const char *const *entry = tree; *entry; entry++) {
        const char *arrow = strstr(*entry, " -> ");
        size_t name = arrow ? (size_t)(arrow - *entry) : strlen(*entry);
        bool is_dir = !arrow && (*entry)[name - 1] == '/';

        if (is_dir && name > 1)
            name--;
        if (name != length || strncmp(*entry, path, length) != 0)
            continue;
        if (arrow)
            (void)snprintf(target, target_size, "%s", arrow + 4);
        return arrow ? LOOK_LINK : is_dir ? LOOK_DIRECTORY : LOOK_OTHER;
    }
    return LOOK_ABSENT;
}

static const struct looker tree_looker = {.look = look_tree};

/* The disk that the workspace is on. */
static struct disk test_disk = {.is_found = true, .major = 8, .minor = 16, .counts_writes = true};

static void make_plan(const struct bawn_policy *policy, const struct host_facts *facts,
                      const char *const *variables, struct plan *plan)
{
    struct plan_input input = {.policy = &policy->policy,
                               .facts = facts,
                               .environ = variables,
                               .looker = &tree_looker,
                               .disk = &test_disk};
    struct bawn_error err = {0};

    ck_assert_int_eq(plan_make(&input, plan, &err), 0);
}

static const struct mount_step *find_step(const struct plan *plan, const char *target)
{
    vec_each (&plan->mounts, step) {
        if (strcmp(step->target, target) == 0)
            return step;
    }
    return NULL;
}

static const struct enforcement *find_rule(const struct plan *plan, const char *start)
{
    vec_each (&plan->rules, line) {
        if (strncmp(line->what, start, strlen(start)) == 0)
            return line;
    }
    ck_abort_msg("no line on %s", start);
}

static bool has_syscall(const struct plan *plan, const char *name, enum syscall_action action)
{
    vec_each (&plan->syscalls, rule) {
        if (strcmp((*rule)->name, name) == 0 && (*rule)->action == action)
            return true;
    }
    return false;
}

/* With BAWN_TEST_GOLDEN=write the file is made anew, to be read before it is kept. */
static void check_golden(const char *path, const char *text)
{
    const char *wish = getenv("BAWN_TEST_GOLDEN");
    autofree char *expected = NULL;
    struct bawn_error err = {0};
    size_t length;
    FILE *file;

    if (wish && strcmp(wish, "write") == 0) {
        file = fopen(path, "we");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_ge(fputs(text, file), 0);
        ck_assert_int_eq(fclose(file), 0);
    }
    ck_assert_msg(file_read(AT_FDCWD, path, 1 << 20, &expected, &length, &err) == 0, "%s",
                  err.message);
    if (strcmp(text, expected) != 0)
        (void)fprintf(stderr, "%s\n", text);
    ck_assert_msg(strcmp(text, expected) == 0, "%s: the text above is another", path);
}

static const char work[] =
    "sandbox:\n"
    "  paths:\n"
    "    work: {root: /srv/work, mode: rw}\n"
    "    ro: {root: /srv/ro, mode: ro}\n"
    "    tmp: {root: /tmp, mode: private}\n"
    "    none: {root: /srv/none, mode: ro}\n"
    "  deny: [/srv/work/secret, /srv/work/key, /srv/hidden, '/srv/**/*.pem']\n"
    "  protect: [/srv/work/.git]\n";

START_TEST(grants_become_mounts_and_denials_masks)
{
    struct bawn_policy *policy = load_text(work);
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_int_eq((int)plan.backend, BACKEND_NATIVE);
    ck_assert_int_eq((int)find_step(&plan, "/srv/work")->kind, MOUNT_BIND);
    ck_assert(!find_step(&plan, "/srv/work")->read_only);
    ck_assert(find_step(&plan, "/srv/ro")->read_only);
    ck_assert_int_eq((int)find_step(&plan, "/tmp")->kind, MOUNT_TMPFS);
    ck_assert_uint_eq(find_step(&plan, "/tmp")->size_bytes, 2ULL << 30);
    ck_assert_int_eq((int)find_step(&plan, "/srv/work/secret")->kind, MOUNT_MASK_DIR);
    ck_assert_int_eq((int)find_step(&plan, "/srv/work/key")->kind, MOUNT_MASK_FILE);
    /* Hidden by absence, or not there: no step. */
    ck_assert_ptr_null(find_step(&plan, "/srv/hidden"));
    ck_assert_ptr_null(find_step(&plan, "/srv/none"));
    ck_assert_ptr_null(find_step(&plan, "/srv/work/.git"));
    ck_assert_uint_eq(find_rule(&plan, "deny /srv/work/secret")->by, BY_MOUNT | BY_WATCH);
    ck_assert_uint_eq(find_rule(&plan, "deny /srv/hidden")->by, BY_MOUNT);
    ck_assert_uint_eq(find_rule(&plan, "protect /srv/work/.git")->by, BY_SUPERVISOR);
    ck_assert_uint_eq(find_rule(&plan, "deny /srv/**/*.pem")->by,
                      BY_SUPERVISOR | BY_MOUNT | BY_WATCH);
    ck_assert_uint_eq(plan.unenforced, 0);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(parents_are_mounted_before_children)
{
    struct bawn_policy *policy = load_text(work);
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    for (size_t i = 0; i < plan.mounts.count; i++) {
        for (size_t j = 0; j < i; j++) {
            const char *earlier = plan.mounts.items[j].target;
            const char *later = plan.mounts.items[i].target;

            ck_assert_msg(strncmp(later, earlier, strlen(later)) != 0, "%s before %s", earlier,
                          later);
        }
    }
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(patterns_need_the_supervisor)
{
    struct bawn_policy *policy = load_text(work);
    struct host_facts facts = rich_host();
    struct plan plan;

    facts.features[FEATURE_NOTIFY].available = false;
    make_plan(policy, &facts, NULL, &plan);
    ck_assert_uint_eq(find_rule(&plan, "deny /srv/**/*.pem")->by, 0);
    ck_assert_uint_eq(find_rule(&plan, "protect /srv/work/.git")->by, 0);
    ck_assert_uint_eq(plan.unenforced, 2);
    ck_assert(!has_syscall(&plan, "mkdir", SYSCALL_NOTIFY));
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(calls_are_held_only_where_somebody_must_judge_them)
{
    static const struct {
        const char *text;
        bool holds;
    } policies[] = {
        {"sandbox: {paths: {work: {root: /srv/work, mode: rw}}, protect: [/srv/work/.git]}\n",
         true},
        {"sandbox: {paths: {work: {root: /srv/work, mode: ro}, tmp: {root: /tmp, mode: "
         "private}}}\n",
         false},
        /* What somebody wrote about names in a private tree. */
        {"sandbox: {paths: {tmp: {root: /tmp, mode: private}}, protect: ['/tmp/**/*.key']}\n",
         true},
    };
    struct host_facts facts = rich_host();

    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        struct bawn_policy *policy = load_text(policies[i].text);
        struct plan plan;

        make_plan(policy, &facts, NULL, &plan);
        ck_assert_int_eq(has_syscall(&plan, "mkdir", SYSCALL_NOTIFY), policies[i].holds);
        ck_assert_int_eq(has_syscall(&plan, "landlock_create_ruleset", SYSCALL_ENOSYS),
                         policies[i].holds);
        plan_done(&plan);
        bawn_policy_free(policy);
    }
}
END_TEST

START_TEST(without_namespaces_landlock_is_the_wall)
{
    struct bawn_policy *policy = load_text(work);
    struct host_facts facts = rich_host();
    struct plan plan;

    facts.backends[BACKEND_NATIVE].available = false;
    make_plan(policy, &facts, NULL, &plan);
    ck_assert_int_eq((int)plan.backend, BACKEND_LANDLOCK);
    ck_assert_uint_eq(find_rule(&plan, "paths.work")->by, BY_LANDLOCK);
    /* What a parent grants Landlock cannot take back; a private tmpfs it cannot make. */
    ck_assert_uint_eq(find_rule(&plan, "deny /srv/work/secret")->by, BY_SUPERVISOR);
    ck_assert_uint_eq(find_rule(&plan, "paths.tmp")->by, 0);
    ck_assert(plan.landlock.handled_fs & 1U << 2);
    ck_assert(plan.landlock.handles_tcp);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(a_host_with_nothing_enforces_nothing)
{
    struct bawn_policy *policy = load_text(work);
    struct host_facts facts = {.cpus = 1};
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_int_eq((int)plan.backend, BACKEND_COUNT);
    ck_assert_uint_gt(plan.unenforced, 5);
    ck_assert_uint_eq(plan.syscalls.count, 0);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(landlock_is_cut_to_the_abi)
{
    struct bawn_policy *policy = load_text("sandbox: {reads: strict}\n");
    const struct {
        int abi;
        uint64_t handled;
        bool scopes;
    } table[] = {{1, 0x1fff, false}, {2, 0x3fff, false}, {3, 0x7fff, false},
                 {5, 0xffff, false}, {6, 0xffff, true},  {7, 0xffff, true}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct host_facts facts = rich_host();
        struct plan plan;

        facts.landlock_abi = table[i].abi;
        make_plan(policy, &facts, NULL, &plan);
        ck_assert_uint_eq(plan.landlock.handled_fs, table[i].handled);
        ck_assert_int_eq(plan.landlock.scopes_signals, table[i].scopes);
        plan_done(&plan);
    }
    bawn_policy_free(policy);
}
END_TEST

START_TEST(landlock_grants_files_no_rights_of_directories)
{
    struct bawn_policy *policy = load_text(
        "sandbox:\n"
        "  reads: strict\n"
        "  paths: {key: {root: /srv/work/key, mode: ro}, file: {root: /dev/dri, mode: rw},\n"
        "          dir: {root: /srv/ro, mode: ro}}\n");
    static const struct {
        const char *path;
        uint64_t access;
    } table[] = {{"/", 0x8}, {"/srv/work/key", 0x5}, {"/dev/dri", 0xc007}, {"/srv/ro", 0xd}};
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_uint_eq(plan.landlock.rules.count, 4);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        vec_each (&plan.landlock.rules, rule) {
            if (strcmp(rule->path, table[i].path) == 0)
                ck_assert_uint_eq(rule->access, table[i].access);
        }
    }
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(the_hosts_network_has_abstract_sockets)
{
    struct bawn_policy *policy = load_text("sandbox: {network: {mode: host}}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_uint_eq(plan.unenforced, 0);
    plan_done(&plan);
    facts.landlock_abi = 5;
    make_plan(policy, &facts, NULL, &plan);
    ck_assert_uint_eq(plan.unenforced, 1);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(own_procfs_is_masked_and_sealed)
{
    struct bawn_policy *policy = load_text("sandbox:\n"
                                           "  paths: {proc: {root: /proc, mode: private}}\n"
                                           "  deny: [/proc/keys]\n"
                                           "  protect: [/proc/sys]\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_int_eq((int)find_step(&plan, "/proc")->kind, MOUNT_PROC);
    ck_assert_int_eq((int)find_step(&plan, "/proc/keys")->kind, MOUNT_MASK_FILE);
    ck_assert_int_eq((int)find_step(&plan, "/proc/sys")->kind, MOUNT_SEAL);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

static const struct mount_step *find_shut(const struct plan *plan, const char *target)
{
    const struct mount_step *found = NULL;

    vec_each (&plan->mounts, step) {
        if (step->kind == MOUNT_SHUT && strcmp(step->target, target) == 0)
            found = step;
    }
    return found;
}

START_TEST(sockets_of_services_are_shut)
{
    struct bawn_policy *policy = load_text(work);
    struct bawn_policy *all = load_text("sandbox:\n"
                                        "  reads: static\n"
                                        "  paths: {work: {root: /srv/work, mode: rw}}\n"
                                        "  protect: [/srv/work/secret]\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    facts.uid = 1000;
    policy->policy.home = all->policy.home = "/home/u";
    policy->policy.workspace = all->policy.workspace = "/srv/work";
    /* After it was mounted; not what can be written, nor what is not there. */
    make_plan(policy, &facts, NULL, &plan);
    ck_assert(find_shut(&plan, "/srv/ro") == find_step(&plan, "/srv/ro") + 1);
    ck_assert_ptr_null(find_shut(&plan, "/srv/work"));
    ck_assert_ptr_null(find_shut(&plan, "/srv"));
    ck_assert_ptr_null(find_shut(&plan, "/opt"));
    ck_assert_uint_eq(find_rule(&plan, "sockets in the system's")->by, BY_MOUNT);
    plan_done(&plan);
    /* Where all can be read the place itself is, and what is granted in it comes later. */
    make_plan(all, &facts, NULL, &plan);
    ck_assert_ptr_nonnull(find_shut(&plan, "/srv"));
    ck_assert(find_shut(&plan, "/srv") < find_step(&plan, "/srv/work"));
    ck_assert_ptr_null(find_shut(&plan, "/srv/ro"));
    ck_assert_ptr_null(find_shut(&plan, "/srv/work/secret"));
    plan_done(&plan);
    /* Root's command must find a way to the workspace. */
    facts.uid = 0;
    make_plan(all, &facts, NULL, &plan);
    ck_assert_ptr_null(find_shut(&plan, "/srv"));
    plan_done(&plan);
    facts.uid = 1000;
    /* The caller works below his home. */
    all->policy.home = "/srv/home";
    make_plan(all, &facts, NULL, &plan);
    ck_assert_ptr_null(find_shut(&plan, "/srv"));
    plan_done(&plan);
    /* Without overlays nobody holds it. */
    facts.features[FEATURE_OVERLAY].available = false;
    make_plan(policy, &facts, NULL, &plan);
    ck_assert_ptr_null(find_shut(&plan, "/srv/ro"));
    ck_assert_uint_eq(find_rule(&plan, "sockets in the system's")->by, 0);
    plan_done(&plan);
    bawn_policy_free(policy);
    bawn_policy_free(all);
}
END_TEST

START_TEST(environment_is_an_allow_list)
{
    static const char *const variables[] = {
        "PATH=/bin",   "LD_PRELOAD=x", "AWS_SECRET=1", "LC_ALL=C",          "BASH_ENV=x", "TOKEN=t",
        "HISTFILE=/h", "LC_SECRET=1",  "NOEQUALS",     "BAWN_READS=static", NULL};
    static const char *const expected[] = {
        "PATH=/bin", "LC_ALL=C", "HISTFILE=/dev/null", "TMPDIR=/tmp", "TMPPREFIX=/tmp/zsh", "X=1"};
    struct bawn_policy *policy =
        load_text("sandbox: {process: {env: {pass: [PATH, 'LC_*', 'L*', HISTFILE, 'B*', "
                  "NOEQUALS], deny: [LC_SECRET], set: {X: '1'}}}}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, variables, &plan);
    ck_assert_uint_eq(plan.env.count, sizeof(expected) / sizeof(expected[0]));
    for (size_t i = 0; i < plan.env.count; i++) {
        char text[64];

        (void)snprintf(text, sizeof(text), "%s=%s", plan.env.items[i].name,
                       plan.env.items[i].value);
        ck_assert_str_eq(text, expected[i]);
    }
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

static const struct env_step *find_env(const struct plan *plan, const char *name)
{
    vec_each (&plan->env, step) {
        if (strcmp(step->name, name) == 0)
            return step;
    }
    return NULL;
}

START_TEST(proxy_variables_are_set_where_there_is_a_proxy)
{
    static const char *const variables[] = {"http_proxy=http://a.example:1", NULL};
    static const char *const expected[] = {
        "http_proxy=http://127.0.0.1:800",
        "HTTP_PROXY=http://127.0.0.1:800",
        "https_proxy=http://127.0.0.1:800",
        "HTTPS_PROXY=http://127.0.0.1:800",
        "all_proxy=http://127.0.0.1:800",
        "ALL_PROXY=http://127.0.0.1:800",
        "no_proxy=localhost,127.0.0.1,::1",
        "NO_PROXY=localhost,127.0.0.1,::1",
        "NODE_USE_ENV_PROXY=1",
        "npm_config_proxy=http://127.0.0.1:800",
        "npm_config_https_proxy=http://127.0.0.1:800",
        "npm_config_noproxy=localhost,127.0.0.1,::1",
        "CARGO_HTTP_PROXY=http://127.0.0.1:800",
        "grpc_proxy=http://127.0.0.1:800",
        "no_grpc_proxy=localhost,127.0.0.1,::1",
    };
    static const char *const modes[] = {"proxy", "isolated"};
    enum { OWN = 3 }; /* HISTFILE and the like */
    struct host_facts facts = rich_host();

    for (size_t i = 0; i < 2; i++) {
        char text[128];
        struct bawn_policy *policy;
        struct plan plan;

        (void)snprintf(text, sizeof(text), "sandbox: {network: {mode: %s}}\n", modes[i]);
        policy = load_text(text);
        make_plan(policy, &facts, variables, &plan);
        ck_assert_uint_eq(plan.env.count, OWN + sizeof(expected) / sizeof(expected[0]));
        for (size_t k = 0; k < sizeof(expected) / sizeof(expected[0]); k++) {
            const struct env_step *step = &plan.env.items[OWN + k];

            (void)snprintf(text, sizeof(text), "%s=%s", step->name, step->value);
            ck_assert_str_eq(text, expected[k]);
            ck_assert(!step->passed);
        }
        plan_done(&plan);
        bawn_policy_free(policy);
    }
}
END_TEST

START_TEST(proxy_variables_are_as_the_policy_says)
{
    static const char *const variables[] = {"http_proxy=http://a.example:1",
                                            "npm_config_proxy=http://a.example:1",
                                            "grpc_proxy=http://a.example:1", NULL};
    struct bawn_policy *policy = load_text(
        "sandbox: {network: {mode: proxy}, process: {env: {pass: [http_proxy, "
        "HTTP_PROXY, 'npm_*'], set: {https_proxy: 'http://b.example:2'}, deny: [ALL*]}}}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, variables, &plan);
    ck_assert(find_env(&plan, "http_proxy")->passed);
    ck_assert_ptr_null(find_env(&plan, "HTTP_PROXY"));
    ck_assert_ptr_null(find_env(&plan, "ALL_PROXY"));
    ck_assert_str_eq(find_env(&plan, "https_proxy")->value, "http://b.example:2");
    ck_assert_str_eq(find_env(&plan, "npm_config_proxy")->value, "http://127.0.0.1:800");
    ck_assert(!find_env(&plan, "npm_config_proxy")->passed);
    ck_assert_str_eq(find_env(&plan, "grpc_proxy")->value, "http://127.0.0.1:800");
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(proxy_variables_are_left_out)
{
    static const char *const texts[] = {
        "sandbox: {network: {mode: none}}\n",
        "sandbox: {network: {mode: host}}\n",
        "sandbox: {network: {mode: veth}}\n",
        "sandbox: {network: {mode: proxy, proxy_env: false}}\n",
        "sandbox: {network: {mode: proxy}, process: {containers: true}}\n",
    };
    static const char *const variables[] = {"http_proxy=http://a.example:1", NULL};
    struct host_facts facts = rich_host();

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct bawn_policy *policy = load_text(texts[i]);
        struct plan plan;

        make_plan(policy, &facts, variables, &plan);
        ck_assert_ptr_null(find_env(&plan, "http_proxy"));
        ck_assert_ptr_null(find_env(&plan, "NO_PROXY"));
        plan_done(&plan);
        bawn_policy_free(policy);
    }
}
END_TEST

static uint64_t find_limit(const struct plan *plan, enum setting_id id, unsigned *ret_by)
{
    vec_each (&plan->limits, step) {
        if (step->id == id) {
            *ret_by = step->by;
            return step->value;
        }
    }
    return 0;
}

START_TEST(rates_of_a_disk_are_held_where_they_can_be)
{
    static const struct {
        enum cgroup_kind kind;
        bool is_found, counts_writes;
        unsigned reads, writes;
        const char *note; /* on writes */
    } rows[] = {
        {CGROUP_V2, true, true, BY_CGROUP, BY_CGROUP,
         "of the disk 8:16, which the workspace is on"},
        {CGROUP_V2_SYSTEMD, true, true, BY_CGROUP, BY_CGROUP,
         "of the disk 8:16, which the workspace is on"},
        {CGROUP_V2, true, false, BY_CGROUP, 0,
         "on this file system only direct writes are counted"},
        {CGROUP_V1, true, true, BY_CGROUP, 0, "cgroup v1 slows down direct writes only"},
        {CGROUP_V2, false, true, 0, 0, "none here"},
        {CGROUP_NONE, true, true, 0, 0, "there is no control group to hold it"},
    };
    struct bawn_policy *policy = load_text("sandbox: {limits: {io_read_bytes: 1M, io_read_ops: 5, "
                                           "io_write_bytes: 1M, io_write_ops: 5}}\n");
    const struct disk before = test_disk;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct host_facts facts = rich_host();
        struct plan plan;
        unsigned by;

        facts.cgroup = rows[i].kind;
        test_disk.is_found = rows[i].is_found;
        test_disk.counts_writes = rows[i].counts_writes;
        (void)snprintf(test_disk.why, sizeof(test_disk.why), "none here");
        make_plan(policy, &facts, NULL, &plan);
        test_disk = before;
        ck_assert_uint_eq(find_limit(&plan, SETTING_LIMITS_IO_READ_BYTES, &by), 1 << 20);
        ck_assert_uint_eq(by, rows[i].reads);
        ck_assert_uint_eq(find_limit(&plan, SETTING_LIMITS_IO_READ_OPS, &by), 5);
        ck_assert_uint_eq(by, rows[i].reads);
        ck_assert_uint_eq(find_limit(&plan, SETTING_LIMITS_IO_WRITE_BYTES, &by), 1 << 20);
        ck_assert_uint_eq(by, rows[i].writes);
        ck_assert_uint_eq(find_limit(&plan, SETTING_LIMITS_IO_WRITE_OPS, &by), 5);
        ck_assert_uint_eq(by, rows[i].writes);
        ck_assert_str_eq(find_rule(&plan, "sandbox.limits.io_write_bytes")->note, rows[i].note);
        plan_done(&plan);
    }
    bawn_policy_free(policy);
}
END_TEST

START_TEST(a_time_namespace_is_planned_where_there_are_some)
{
    struct bawn_policy *policy = load_text("sandbox: {process: {time_ns: true}}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    facts.features[FEATURE_TIME_NS].available = true;
    make_plan(policy, &facts, NULL, &plan);
    ck_assert(plan.process.has_own_time);
    ck_assert_uint_eq(find_rule(&plan, "sandbox.process.time_ns")->by, BY_NAMESPACE);
    plan_done(&plan);
    facts.features[FEATURE_TIME_NS] = (struct feature_fact){.errnum = EPERM, .step = "unshare"};
    make_plan(policy, &facts, NULL, &plan);
    ck_assert(!plan.process.has_own_time);
    ck_assert_uint_eq(find_rule(&plan, "sandbox.process.time_ns")->by, 0);
    ck_assert_str_eq(find_rule(&plan, "sandbox.process.time_ns")->note,
                     "no time namespace here (unshare: Operation not permitted)");
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(limits_scale_and_name_their_holder)
{
    struct bawn_policy *policy = load_text("sandbox: {limits: {open_files: 100, io_weight: 50}}\n");
    struct bawn_policy *strict = load_text("sandbox: {limits: strict}\n");
    struct host_facts facts = rich_host();
    struct plan plan;
    unsigned by;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_uint_eq(find_limit(&plan, SETTING_LIMITS_MEMORY, &by), 8ULL << 30);
    ck_assert_uint_eq(by, BY_CGROUP);
    ck_assert_uint_eq(find_limit(&plan, SETTING_LIMITS_CPU, &by), 320);
    ck_assert_uint_eq(find_limit(&plan, SETTING_LIMITS_OPEN_FILES, &by), 100);
    ck_assert_uint_eq(by, BY_RLIMIT);
    plan_done(&plan);
    facts.cgroup = CGROUP_NONE;
    make_plan(strict, &facts, NULL, &plan);
    ck_assert_uint_eq(find_limit(&plan, SETTING_LIMITS_PIDS, &by), 1024);
    ck_assert_uint_eq(by, BY_RLIMIT);
    ck_assert_uint_eq(find_limit(&plan, SETTING_LIMITS_MEMORY_HIGH, &by), 1ULL << 30);
    ck_assert_uint_eq(find_limit(&plan, SETTING_LIMITS_MEMORY, &by), 2ULL << 30);
    ck_assert_uint_eq(find_limit(&plan, SETTING_LIMITS_CPU, &by), 80);
    ck_assert_uint_eq(by, 0);
    plan_done(&plan);
    /* What was asked for and cannot be held counts; what a preset brings does not. */
    make_plan(policy, &facts, NULL, &plan);
    ck_assert_uint_eq(plan.unenforced, 1);
    plan_done(&plan);
    bawn_policy_free(policy);
    bawn_policy_free(strict);
}
END_TEST

START_TEST(a_denial_without_a_proxy_cannot_be_held)
{
    struct bawn_policy *policy = load_text("sandbox: {network: {mode: host, deny: [a.example]}}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_uint_eq(find_rule(&plan, "deny a.example")->by, 0);
    ck_assert(!plan.network.own_namespace);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

/* Whether a syscall of this name is told to the supervisor. */
static bool holds_call(const struct plan *plan, const char *name)
{
    vec_each (&plan->syscalls, rule) {
        if ((*rule)->action == SYSCALL_NOTIFY && strcmp((*rule)->name, name) == 0)
            return true;
    }
    return false;
}

START_TEST(opaque_hosts_are_handed_over_only_where_every_wall_stands)
{
    static const char opaque[] =
        "sandbox: {network: {mode: proxy, allow: ['b.example:22 opaque']}}";
    static const struct {
        const char *text;
        int lacks; /* a feature; FEATURE_COUNT: none */
        int abi;
        bool hands_over, has_opaque;
    } rows[] = {
        {opaque, FEATURE_COUNT, 4, true, true},
        {opaque, FEATURE_COUNT, 3, false, true},
        {opaque, FEATURE_LANDLOCK, 4, false, true},
        {opaque, FEATURE_NOTIFY, 4, false, true},
        {opaque, FEATURE_TAKE_FD, 4, false, true},
        {opaque, FEATURE_BAR, 4, false, true},
        {opaque, FEATURE_STEER, 4, true, true}, /* without nf_tables */
        {"sandbox: {network: {mode: proxy, allow: [b.example]}}", FEATURE_COUNT, 7, false, false},
        {"sandbox: {network: {mode: proxy, ask: ['b.example opaque']}}", FEATURE_COUNT, 7, false,
         false},
        {"sandbox: {network: {mode: proxy, allow: ['b.example opaque by=/bin/x']}}", FEATURE_COUNT,
         7, false, false},
        {"sandbox: {network: {mode: isolated}}", FEATURE_COUNT, 7, false, false},
        {"sandbox: {network: {mode: isolated, allow: ['b.example opaque']}}", FEATURE_COUNT, 7,
         true, true},
        {"sandbox: {network: {mode: host, allow: ['b.example opaque']}}", FEATURE_COUNT, 7, false,
         false},
        {"sandbox: {network: {mode: proxy, upstream_proxy: 'http://10.0.0.1:3128', allow: "
         "['b.example opaque']}}",
         FEATURE_COUNT, 7, false, true},
        {"sandbox: {process: {containers: true}, network: {mode: proxy, allow: ['b.example "
         "opaque']}}",
         FEATURE_COUNT, 7, false, true},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct host_facts facts = rich_host();
        struct bawn_policy *policy = load_text(rows[i].text);
        struct plan plan;

        facts.landlock_abi = rows[i].abi;
        if (rows[i].lacks != FEATURE_COUNT)
            facts.features[rows[i].lacks].available = false;
        make_plan(policy, &facts, NULL, &plan);
        ck_assert_msg(plan.network.hands_over == rows[i].hands_over, "row %zu", i);
        ck_assert_msg(plan.network.has_opaque == rows[i].has_opaque, "row %zu", i);
        ck_assert(!plan.network.why_relayed == (rows[i].hands_over || !rows[i].has_opaque));
        /* All or nothing. */
        ck_assert(plan.landlock.handles_tcp == rows[i].hands_over);
        ck_assert(holds_call(&plan, "connect") == rows[i].hands_over);
        ck_assert(holds_call(&plan, "listen") == rows[i].hands_over);
        ck_assert(!rows[i].hands_over || holds_call(&plan, "bind"));
        plan_done(&plan);
        bawn_policy_free(policy);
    }
}
END_TEST

START_TEST(rule_for_one_program_is_held_as_others_are)
{
    static const char text[] = "sandbox: {network: {mode: %s, allow: [a.example by=/bin/x, "
                               "'b.example:22 opaque']}}\n";
    static const char *const modes[] = {"proxy", "isolated", "host", "none"};
    struct host_facts facts = rich_host();

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        char document[256];
        struct bawn_policy *policy;
        struct plan plan;

        (void)snprintf(document, sizeof(document), text, modes[i]);
        policy = load_text(document);
        make_plan(policy, &facts, NULL, &plan);
        ck_assert_uint_eq(find_rule(&plan, "allow a.example by=/bin/x")->by,
                          find_rule(&plan, "allow b.example:22 opaque")->by);
        ck_assert_uint_ne(find_rule(&plan, "allow a.example by=/bin/x")->by, 0);
        plan_done(&plan);
        bawn_policy_free(policy);
    }
}
END_TEST

static unsigned held_in_veth(const struct host_facts *facts, const char *more, const char *rule,
                             bool *ret_routes)
{
    char document[256];
    struct bawn_policy *policy;
    struct plan plan;
    unsigned by;

    (void)snprintf(document, sizeof(document), "sandbox: {network: {mode: veth%s}}\n", more);
    policy = load_text(document);
    make_plan(policy, facts, NULL, &plan);
    by = find_rule(&plan, rule)->by;
    *ret_routes = plan.network.routes;
    ck_assert(!plan.network.steers);
    plan_done(&plan);
    bawn_policy_free(policy);
    return by;
}

START_TEST(veth_is_for_root_on_a_host_that_has_it)
{
    struct host_facts facts = rich_host();
    bool routes;

    ck_assert_uint_eq(held_in_veth(&facts, "", "network veth", &routes),
                      BY_NAMESPACE | BY_FIREWALL);
    ck_assert(routes);
    facts.uid = 1000;
    ck_assert_uint_eq(held_in_veth(&facts, "", "network veth", &routes), 0);
    ck_assert(!routes);
    facts.uid = 0;
    facts.features[FEATURE_VETH_V6].available = false;
    ck_assert_uint_ne(held_in_veth(&facts, "", "network veth", &routes), 0);
    ck_assert(routes);
    ck_assert_uint_eq(held_in_veth(&facts, ", ipv6: true", "network veth", &routes), 0);
    ck_assert(!routes);
    facts.features[FEATURE_VETH].available = false;
    ck_assert_uint_eq(held_in_veth(&facts, "", "network veth", &routes), 0);
    ck_assert(!routes);
}
END_TEST

START_TEST(veth_holds_no_rule_but_that_public_hosts_are_allowed)
{
    static const struct {
        const char *more, *rule;
        bool is_held;
    } rows[] = {
        {", allow: [a.example]", "allow a.example", true},
        {", allow: [203.0.113.7]", "allow 203.0.113.7", true},
        {", allow: [a.example by=/bin/x]", "allow a.example by=/bin/x", false},
        {", allow: [10.0.0.5]", "allow 10.0.0.5", false},
        {", allow: ['2001:db8::7']", "allow 2001:db8::7", false},
        {", deny: [a.example]", "deny a.example", false},
        {", ask: [a.example]", "ask a.example", false},
        {", publish: ['8080:80']", "sandbox.network.publish: 8080:80", false},
        {", host_ports: [81]", "sandbox.network.host_ports: 81", false},
        {", hosts: {a.example: 203.0.113.7}", "sandbox.network.hosts: a.example = 203.0.113.7",
         false},
        {", cidr: 10.9.8.4/30", "sandbox.network.cidr: 10.9.8.4/30", true},
        {", mtu: 1400", "sandbox.network.mtu: 1400", true},
        {", ipv6: true", "sandbox.network.ipv6: true", true},
        {", ipv6: true, allow: ['2001:db8::7']", "allow 2001:db8::7", true},
        {", ipv6: true, allow: ['fd00::7']", "allow fd00::7", false},
    };
    struct host_facts facts = rich_host();
    bool routes;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_int_eq(held_in_veth(&facts, rows[i].more, rows[i].rule, &routes) != 0,
                         rows[i].is_held);
}
END_TEST

START_TEST(engine_holds_ipv6_as_it_is_set)
{
    static const struct {
        const char *more, *rule;
        bool is_held;
    } rows[] = {
        {"", "network isolated", true},
        {", ipv6: true", "network isolated", true},
        {", ipv6: true", "sandbox.network.ipv6: true", true},
        {", ipv6: false", "sandbox.network.ipv6: false", true},
        {", allow: ['2001:db8::7']", "allow 2001:db8::7", false},
        {", ipv6: true, allow: ['2001:db8::7']", "allow 2001:db8::7", true},
        {", ipv6: true, allow: ['fd00::7']", "allow fd00::7", false},
        {", ipv6: true, allow: [10.0.0.5]", "allow 10.0.0.5", false},
        {", ipv6: true, deny: ['2001:db8::7']", "deny 2001:db8::7", false},
    };
    struct host_facts facts = rich_host();

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char document[256];
        struct bawn_policy *policy;
        struct plan plan;

        (void)snprintf(document, sizeof(document),
                       "sandbox: {network: {mode: isolated, engine: pasta, engine_path: "
                       "/srv/engine%s}}\n",
                       rows[i].more);
        policy = load_text(document);
        make_plan(policy, &facts, NULL, &plan);
        ck_assert(plan.network.has_engine);
        ck_assert_uint_eq(find_rule(&plan, rows[i].rule)->by,
                          rows[i].is_held ? BY_NAMESPACE | BY_FIREWALL : 0);
        plan_done(&plan);
        bawn_policy_free(policy);
    }
}
END_TEST

START_TEST(debug_and_containers_open_their_syscalls_only)
{
    struct bawn_policy *plain = load_text("sandbox: {}\n");
    struct bawn_policy *debug = load_text("sandbox: {process: {debug: true}}\n");
    struct bawn_policy *containers = load_text("sandbox: {process: {containers: true}}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(plain, &facts, NULL, &plan);
    ck_assert(has_syscall(&plan, "ptrace", SYSCALL_EPERM));
    ck_assert(has_syscall(&plan, "mount", SYSCALL_EPERM));
    ck_assert(has_syscall(&plan, "clone3", SYSCALL_ENOSYS));
    plan_done(&plan);
    make_plan(debug, &facts, NULL, &plan);
    ck_assert(!has_syscall(&plan, "ptrace", SYSCALL_EPERM));
    ck_assert(has_syscall(&plan, "mount", SYSCALL_EPERM));
    plan_done(&plan);
    make_plan(containers, &facts, NULL, &plan);
    ck_assert(has_syscall(&plan, "ptrace", SYSCALL_EPERM));
    ck_assert(!has_syscall(&plan, "mount", SYSCALL_EPERM));
    ck_assert(has_syscall(&plan, "bpf", SYSCALL_EPERM));
    ck_assert_uint_eq(plan.landlock.handled_fs, 0);
    plan_done(&plan);
    bawn_policy_free(plain);
    bawn_policy_free(debug);
    bawn_policy_free(containers);
}
END_TEST

START_TEST(devices_sockets_and_ports_are_in_the_plan)
{
    struct bawn_policy *policy = load_text(
        "sandbox:\n"
        "  devices: {kvm: true, allow: [/dev/dri, /dev/none, /dev/bad], deny: [/dev/bad]}\n"
        "  network: {mode: proxy, unix_sockets: [/run/s.sock], host_ports: [81],\n"
        "            publish: ['8080:80'], hosts: {a.example: 10.0.0.1}}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_int_eq((int)find_step(&plan, "/dev/kvm")->kind, MOUNT_NODE);
    ck_assert_int_eq((int)find_step(&plan, "/dev/dri")->kind, MOUNT_NODE);
    ck_assert_int_eq((int)find_step(&plan, "/run/s.sock")->kind, MOUNT_NODE);
    ck_assert_ptr_null(find_step(&plan, "/dev/none"));
    ck_assert_ptr_null(find_step(&plan, "/dev/bad"));
    ck_assert_uint_eq(find_rule(&plan, "deny /dev/bad")->by, BY_MOUNT);
    ck_assert_uint_eq(find_rule(&plan, "network proxy")->by, BY_PROXY | BY_NAMESPACE);
    ck_assert_uint_eq(find_rule(&plan, "sandbox.network.hosts: a.example")->by, BY_PROXY);
    ck_assert_uint_eq(find_rule(&plan, "sandbox.network.host_ports: 81")->by, BY_PROXY);
    ck_assert_uint_eq(find_rule(&plan, "sandbox.network.publish: 8080:80")->by, BY_PROXY);
    ck_assert_uint_eq(plan.unenforced, 0);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(root_of_the_host_is_not_root_of_the_command)
{
    struct bawn_policy *plain = load_text("sandbox: {}\n");
    struct bawn_policy *kept = load_text("sandbox: {process: {as_root: true}}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(plain, &facts, NULL, &plan);
    ck_assert(!plan.process.keeps_host_root);
    plan_done(&plan);
    make_plan(kept, &facts, NULL, &plan);
    ck_assert(plan.process.keeps_host_root);
    plan_done(&plan);
    facts.uid = 1000;
    make_plan(kept, &facts, NULL, &plan);
    ck_assert(!plan.process.keeps_host_root);
    plan_done(&plan);
    bawn_policy_free(plain);
    bawn_policy_free(kept);
}
END_TEST

START_TEST(what_is_asked_about_is_shown_where_opens_can_be_held_and_else_masked)
{
    struct bawn_policy *asked = load_text("sandbox:\n"
                                          "  reads: static\n"
                                          "  ask: [/srv]\n"
                                          "  deny: [/srv/work/secret, /srv/work/key]\n");
    struct bawn_policy *nested = load_text("sandbox:\n"
                                           "  reads: static\n"
                                           "  ask: [/srv]\n"
                                           "  deny: [/srv/work/secret]\n"
                                           "  process: {containers: true}\n");
    struct bawn_policy *dynamic = load_text("sandbox:\n"
                                            "  reads: dynamic\n"
                                            "  paths: {w: {root: /srv/work, mode: ro}}\n");
    struct bawn_policy *sealed = load_text("sandbox:\n"
                                           "  paths: {p: {root: /srv/work, mode: private}}\n"
                                           "  protect: [/srv/work]\n"
                                           "  reads: static\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(asked, &facts, NULL, &plan);
    ck_assert(plan.asks_reads && plan.holds_reads);
    /* In a tree from which programs are run it is a mount of its own, from which none is. */
    ck_assert(find_step(&plan, "/srv")->kind == MOUNT_BIND && find_step(&plan, "/srv")->no_exec);
    ck_assert(!find_step(&plan, "/")->no_exec);
    ck_assert_int_eq((int)find_step(&plan, "/srv/work/secret")->kind, MOUNT_MASK_DIR);
    plan_done(&plan);
    /* Whoever may run containers is not held: masked like a denial, with what is below it. */
    make_plan(nested, &facts, NULL, &plan);
    ck_assert(!plan.asks_reads && !plan.holds_reads);
    ck_assert_int_eq((int)find_step(&plan, "/srv")->kind, MOUNT_MASK_DIR);
    ck_assert_ptr_null(find_step(&plan, "/srv/work/secret"));
    plan_done(&plan);
    /* All that nobody listed: to be looked at, and not to be run. */
    make_plan(dynamic, &facts, NULL, &plan);
    ck_assert(plan.asks_reads && find_step(&plan, "/")->no_exec &&
              find_step(&plan, "/")->read_only);
    ck_assert(find_step(&plan, "/srv/work")->read_only && !find_step(&plan, "/srv/work")->no_exec);
    ck_assert_int_eq((int)find_step(&plan, "/sys")->kind, MOUNT_TMPFS);
    plan_done(&plan);
    make_plan(sealed, &facts, NULL, &plan);
    ck_assert_int_eq((int)find_step(&plan, "/srv/work")->kind, MOUNT_TMPFS);
    ck_assert(find_step(&plan, "/srv/work")->read_only);
    plan_done(&plan);
    bawn_policy_free(asked);
    bawn_policy_free(nested);
    bawn_policy_free(dynamic);
    bawn_policy_free(sealed);
}
END_TEST

static const struct watch_step *find_watch(const struct plan *plan, const char *path)
{
    vec_each (&plan->watches, watch) {
        if (strcmp(watch->path, path) == 0)
            return watch;
    }
    return NULL;
}

START_TEST(only_what_may_appear_in_a_shown_tree_is_watched)
{
    struct bawn_policy *policy = load_text("sandbox:\n"
                                           "  paths:\n"
                                           "    work: {root: /srv/work, mode: rw}\n"
                                           "    tmp: {root: /tmp, mode: private}\n"
                                           "  deny: [/srv/work/later, /srv/work/key, /srv/hidden,\n"
                                           "         /tmp/later, '/srv/work/deep/*.pem']\n"
                                           "  protect: [/srv/work/held]\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_ptr_nonnull(find_watch(&plan, "/srv/work/later"));
    ck_assert_str_eq(find_watch(&plan, "/srv/work/later")->tree, "/srv/work");
    ck_assert(!find_watch(&plan, "/srv/work/later")->is_deep);
    ck_assert_ptr_nonnull(find_watch(&plan, "/srv/work/key"));
    ck_assert(find_watch(&plan, "/srv/work/deep")->is_deep);
    ck_assert_ptr_null(find_watch(&plan, "/srv/hidden"));
    ck_assert_ptr_null(find_watch(&plan, "/tmp/later"));
    ck_assert_ptr_null(find_watch(&plan, "/srv/work/held"));
    ck_assert_uint_eq(find_rule(&plan, "deny /srv/work/later")->by, BY_SUPERVISOR | BY_WATCH);
    ck_assert_uint_eq(find_rule(&plan, "deny /srv/hidden")->by, BY_MOUNT);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(nothing_is_watched_where_nothing_is_hidden_in_a_shown_tree)
{
    struct bawn_policy *policy = load_text("sandbox:\n"
                                           "  paths: {work: {root: /srv/work, mode: rw}}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_uint_eq(plan.watches.count, 0);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

static bool holds_opens(const struct plan *plan)
{
    vec_each (&plan->syscalls, rule) {
        if ((*rule)->when == WHEN_HOLDING && (*rule)->action == SYSCALL_NOTIFY)
            return true;
    }
    return false;
}

static void check_late(const char *settings, bool is_held, const char *what, const char *note)
{
    struct bawn_policy *policy = load_text(settings);
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_msg(plan.holds_reads == is_held, "%s", settings);
    ck_assert_msg(holds_opens(&plan) == is_held, "%s", settings);
    if (what) {
        ck_assert_ptr_nonnull(find_rule(&plan, what));
        ck_assert(find_rule(&plan, what)->by & (is_held ? BY_SUPERVISOR : ~0U));
        ck_assert_msg(strstr(find_rule(&plan, what)->note, note) != NULL, "%s",
                      find_rule(&plan, what)->note);
    }
    plan_done(&plan);
    bawn_policy_free(policy);
}

#define WORK "sandbox:\n  paths: {work: {root: /srv/work, mode: rw}}\n"

START_TEST(opens_are_held_only_where_asked_for_and_a_hidden_name_may_appear)
{
    check_late(WORK "  late: held\n  deny: ['/srv/work/**/.env']\n", true, "deny /srv/work/**/.env",
               "cannot be opened");
    check_late(WORK "  late: held\n  deny: [/srv/work/later]\n", true, "deny /srv/work/later",
               "cannot be opened");
    check_late(WORK "  late: held\n  ask: ['/srv/work/**/.env']\n", true, "sandbox.late: held",
               "each open is made outside");
    check_late(WORK "  late: held\n", false, "sandbox.late: held", "no open is held");
    check_late(WORK "  late: held\n  deny: ['/elsewhere/**/.env']\n", false, NULL, NULL);
    check_late(WORK "  deny: ['/srv/work/**/.env']\n", false, "deny /srv/work/**/.env",
               "masked a moment later");
    check_late(WORK "  late: watch\n  deny: ['/srv/work/**/.env']\n", false,
               "deny /srv/work/**/.env", "masked a moment later");
}
END_TEST

START_TEST(opens_that_cannot_be_held_are_not_said_to_be)
{
    struct bawn_policy *policy = load_text(WORK "  late: held\n  deny: [/srv/work/key]\n"
                                                "  process: {containers: true}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert(!plan.holds_reads);
    ck_assert_uint_eq(find_rule(&plan, "sandbox.late: held")->by, 0);
    ck_assert_uint_gt(plan.unenforced, 0);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(nothing_is_watched_where_containers_have_mounts_of_their_own)
{
    struct bawn_policy *policy = load_text("sandbox:\n"
                                           "  paths: {work: {root: /srv/work, mode: rw}}\n"
                                           "  deny: [/srv/work/key]\n"
                                           "  process: {containers: true}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_uint_eq(plan.watches.count, 0);
    ck_assert_uint_eq(find_rule(&plan, "deny /srv/work/key")->by, BY_MOUNT);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(a_link_cannot_be_mounted_over)
{
    struct bawn_policy *policy = load_text("sandbox:\n"
                                           "  paths: {s: {root: /srv, mode: rw}}\n"
                                           "  deny: [/srv/link]\n"
                                           "  protect: [/srv/later]\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_uint_eq(find_rule(&plan, "deny /srv/link")->by, BY_SUPERVISOR | BY_WATCH);
    ck_assert_uint_eq(find_rule(&plan, "protect /srv/later")->by, BY_SUPERVISOR);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(no_mount_is_made_through_a_link)
{
    struct bawn_policy *policy = load_text("sandbox:\n"
                                           "  paths:\n"
                                           "    w: {root: /srv/work, mode: rw}\n"
                                           "    a: {root: /srv/link/in, mode: rw}\n"
                                           "    b: {root: /srv/link/in/more, mode: ro}\n"
                                           "  protect: [/srv/link/in/config]\n");
    struct host_facts facts = rich_host();
    struct plan plan;
    size_t links = 0;

    make_plan(policy, &facts, NULL, &plan);
    vec_each (&plan.mounts, step) {
        if (step->kind == MOUNT_SYMLINK && strcmp(step->target, "/srv/link") == 0)
            links++;
        else
            ck_assert_msg(strncmp(step->target, "/srv/link", 9) != 0, "%s", step->target);
    }
    ck_assert_uint_eq(links, 1);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

START_TEST(landlock_alone_grants_nothing_of_what_should_be_private)
{
    struct bawn_policy *policy = load_text("sandbox:\n"
                                           "  paths:\n"
                                           "    proc: {root: /proc, mode: private}\n"
                                           "    run: {root: /run, mode: private}\n"
                                           "    over: {root: /srv/work, mode: overlay}\n"
                                           "    ro: {root: /srv/ro, mode: ro}\n");
    struct host_facts facts = rich_host();
    struct plan plan;

    facts.backends[BACKEND_NATIVE].available = false;
    make_plan(policy, &facts, NULL, &plan);
    ck_assert_uint_eq(plan.landlock.rules.count, 2);
    vec_each (&plan.landlock.rules, rule) {
        ck_assert(strncmp(rule->path, "/srv/", 5) == 0);
        /* No right to write, make or remove. */
        ck_assert_uint_eq(rule->access & 0x3ff2U, 0);
    }
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

static bool is_new_syscall(const char *name)
{
    for (size_t i = 0; i < syscall_new_count; i++)
        if (strcmp(syscall_new[i].name, name) == 0)
            return true;
    return false;
}

START_TEST(every_name_in_the_table_is_a_syscall)
{
    for (size_t i = 0; i < syscall_table_count; i++)
        ck_assert_msg(is_new_syscall(syscall_table[i].name) ||
                          seccomp_syscall_resolve_name(syscall_table[i].name) != __NR_SCMP_ERROR,
                      "%s", syscall_table[i].name);
}
END_TEST

START_TEST(the_same_input_gives_the_same_plan)
{
    struct bawn_policy *policy = load_text(work);
    struct host_facts facts = rich_host();
    autofree char *first = NULL;
    autofree char *second = NULL;
    struct plan plan;

    make_plan(policy, &facts, NULL, &plan);
    ck_assert_int_eq(plan_print(&plan, BAWN_FORMAT_JSON, &first, NULL), 0);
    plan_done(&plan);
    make_plan(policy, &facts, NULL, &plan);
    ck_assert_int_eq(plan_print(&plan, BAWN_FORMAT_JSON, &second, NULL), 0);
    plan_done(&plan);
    ck_assert_str_eq(first, second);
    bawn_policy_free(policy);
}
END_TEST

/* Those are where this user's home is. */
static void drop_sealed(char *text)
{
    char *to = text;

    for (const char *line = text, *end; *line; line = end) {
        size_t length = strcspn(line, "\n");

        end = line + length + (line[length] == '\n');
        if (memmem(line, length, " sealed ", 8))
            continue;
        memmove(to, line, (size_t)(end - line));
        to += end - line;
    }
    *to = '\0';
}

/* What is decided after the plan: pins, seals, the order. */
START_TEST(the_compiled_plan_is_printed_whole)
{
    struct bawn_policy *policy =
        load_text("sandbox:\n"
                  "  paths:\n"
                  "    work: {root: /srv/work, mode: rw}\n"
                  "    ro: {root: /srv/ro, mode: ro}\n"
                  "    tmp: {root: /tmp, mode: private}\n"
                  "    run: {root: /run, mode: private}\n"
                  "    dev: {root: /dev, mode: private}\n"
                  "    proc: {root: /proc, mode: private}\n"
                  "  deny: [/srv/work/secret, /srv/work/key, '/srv/**/*.pem']\n"
                  "  protect: [/srv/work/deep/held, /srv/work/.git]\n");
    struct host_facts facts = rich_host();
    autostrbuf struct strbuf out = {0};
    autofree struct image *image = NULL;
    struct bawn_error err = {0};
    struct plan plan;

    facts.uid = facts.gid = 1000;
    make_plan(policy, &facts, NULL, &plan);
    struct compile_input input = {.plan = &plan,
                                  .looker = &tree_looker,
                                  .cwd = "/srv/work",
                                  .user = "user",
                                  .release = "0",
                                  .last_capability = 40};
    ck_assert_msg(compile_image(&input, &image, &err) == 0, "%s", err.message);
    ck_assert_int_eq(image_print(image, &out, &err), 0);
    drop_sealed(out.text);
    check_golden("tests/golden/image.txt", out.text);
    plan_done(&plan);
    bawn_policy_free(policy);
}
END_TEST

/* What a busy machine did not answer is asked again at the next start. */
START_TEST(a_plan_that_was_made_in_haste_is_for_one_start)
{
    struct bawn_policy *policy = load_text("sandbox: {paths: {w: {root: /srv/work, mode: rw}}}\n");

    for (int hasty = 0; hasty < 2; hasty++) {
        struct host_facts facts = rich_host();
        autofree struct image *image = NULL;
        struct bawn_error err = {0};
        struct plan plan;

        facts.is_hasty = hasty;
        make_plan(policy, &facts, NULL, &plan);
        struct compile_input input = {.plan = &plan,
                                      .looker = &tree_looker,
                                      .cwd = "/srv/work",
                                      .user = "user",
                                      .release = "0"};
        ck_assert_msg(compile_image(&input, &image, &err) == 0, "%s", err.message);
        ck_assert_int_eq((image->flags & IMAGE_ONCE) != 0, hasty);
        plan_done(&plan);
    }
    bawn_policy_free(policy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *all = tcase_create("plan");

    tcase_add_test(all, grants_become_mounts_and_denials_masks);
    tcase_add_test(all, parents_are_mounted_before_children);
    tcase_add_test(all, patterns_need_the_supervisor);
    tcase_add_test(all, calls_are_held_only_where_somebody_must_judge_them);
    tcase_add_test(all, without_namespaces_landlock_is_the_wall);
    tcase_add_test(all, a_host_with_nothing_enforces_nothing);
    tcase_add_test(all, landlock_is_cut_to_the_abi);
    tcase_add_test(all, landlock_grants_files_no_rights_of_directories);
    tcase_add_test(all, the_hosts_network_has_abstract_sockets);
    tcase_add_test(all, own_procfs_is_masked_and_sealed);
    tcase_add_test(all, sockets_of_services_are_shut);
    tcase_add_test(all, environment_is_an_allow_list);
    tcase_add_test(all, proxy_variables_are_set_where_there_is_a_proxy);
    tcase_add_test(all, proxy_variables_are_as_the_policy_says);
    tcase_add_test(all, proxy_variables_are_left_out);
    tcase_add_test(all, rule_for_one_program_is_held_as_others_are);
    tcase_add_test(all, opaque_hosts_are_handed_over_only_where_every_wall_stands);
    tcase_add_test(all, veth_is_for_root_on_a_host_that_has_it);
    tcase_add_test(all, veth_holds_no_rule_but_that_public_hosts_are_allowed);
    tcase_add_test(all, engine_holds_ipv6_as_it_is_set);
    tcase_add_test(all, limits_scale_and_name_their_holder);
    tcase_add_test(all, rates_of_a_disk_are_held_where_they_can_be);
    tcase_add_test(all, a_plan_that_was_made_in_haste_is_for_one_start);
    tcase_add_test(all, a_time_namespace_is_planned_where_there_are_some);
    tcase_add_test(all, a_denial_without_a_proxy_cannot_be_held);
    tcase_add_test(all, debug_and_containers_open_their_syscalls_only);
    tcase_add_test(all, devices_sockets_and_ports_are_in_the_plan);
    tcase_add_test(all, root_of_the_host_is_not_root_of_the_command);
    tcase_add_test(all, what_is_asked_about_is_shown_where_opens_can_be_held_and_else_masked);
    tcase_add_test(all, only_what_may_appear_in_a_shown_tree_is_watched);
    tcase_add_test(all, nothing_is_watched_where_nothing_is_hidden_in_a_shown_tree);
    tcase_add_test(all, nothing_is_watched_where_containers_have_mounts_of_their_own);
    tcase_add_test(all, opens_are_held_only_where_asked_for_and_a_hidden_name_may_appear);
    tcase_add_test(all, opens_that_cannot_be_held_are_not_said_to_be);
    tcase_add_test(all, a_link_cannot_be_mounted_over);
    tcase_add_test(all, no_mount_is_made_through_a_link);
    tcase_add_test(all, landlock_alone_grants_nothing_of_what_should_be_private);
    tcase_add_test(all, the_compiled_plan_is_printed_whole);
    tcase_add_test(all, every_name_in_the_table_is_a_syscall);
    tcase_add_test(all, the_same_input_gives_the_same_plan);
    suite_add_tcase(suite, all);
    return test_run(suite, "plan");
}
