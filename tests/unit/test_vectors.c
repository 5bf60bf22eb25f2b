/* SPDX-License-Identifier: Apache-2.0 */
/* The table of vectors: (policy, operation, path or host) -> (verdict, winning rule). Each case is
 * made for real, with files and links, in a mount namespace where /home is empty. */
#include "api/api.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "lib/test.h"
#include "policy/build.h"
#include "policy/decide.h"
#include "wire/rules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOME      "/home/vector/home"
#define WORKSPACE "/home/vector/work"
#define ORG       "/home/vector/org"
#define EXTRA     "/home/vector/extra.yaml"

enum section { SECTION_NONE, SECTION_LAYER, SECTION_TREE, SECTION_ROWS };

struct line {
    const char *text;
    unsigned number;
};

/* One case: the lines of its file that belong to it. */
struct vector_case {
    const char *file;
    const char *name;
    VEC(struct line) lines;
};

static VEC(struct vector_case) cases;

/* $W, $H and the escapes \n \t \\ \xNN replaced, in memory of its own. */
static char *expand(const char *text, bool escapes)
{
    struct strbuf out = {0};
    unsigned byte;

    for (; *text; text++) {
        if (strncmp(text, "$WORKSPACE", 10) != 0 && strncmp(text, "$W", 2) == 0) {
            strbuf_add(&out, WORKSPACE);
            text++;
        } else if (strncmp(text, "$HOME", 5) != 0 && strncmp(text, "$H", 2) == 0) {
            strbuf_add(&out, HOME);
            text++;
        } else if (escapes && *text == '\\' && text[1] == 'x' &&
                   sscanf(text + 2, "%2x", &byte) == 1) {
            char raw = (char)byte;

            strbuf_add_bytes(&out, &raw, 1);
            text += 3;
        } else if (escapes && *text == '\\' && text[1] && strchr("nt\\", text[1])) {
            text++;
            strbuf_add(&out, *text == 'n' ? "\n" : *text == 't' ? "\t" : "\\");
        } else {
            strbuf_add_bytes(&out, text, 1);
        }
    }
    return strbuf_take(&out);
}

static void make_parents(const char *path)
{
    autofree char *copy = strdup(path);
    struct bawn_error err = {0};

    *strrchr(copy, '/') = '\0';
    ck_assert_msg(!*copy || file_make_dirs(copy, &err) == 0, "%s", err.message);
}

static void make_file(const char *path, const char *text)
{
    autoclose int fd = -EBADF;

    make_parents(path);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ck_assert_msg(fd >= 0, "create %s: %s", path, strerror(errno));
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* "dir PATH", "file PATH", "text PATH -> TEXT", "link PATH -> TARGET", "hard PATH -> TARGET". */
static void make_entry(const char *line)
{
    autofree char *text = expand(line, true);
    char *path = strchr(text, ' ');
    char *arrow;

    ck_assert_ptr_nonnull(path);
    *path++ = '\0';
    if (strcmp(text, "dir") == 0) {
        struct bawn_error err = {0};

        ck_assert_msg(file_make_dirs(path, &err) == 0, "%s", err.message);
    } else if (strcmp(text, "file") == 0) {
        make_file(path, "x");
    } else {
        bool is_hard = strcmp(text, "hard") == 0;

        arrow = strstr(path, " -> ");
        ck_assert_ptr_nonnull(arrow);
        *arrow = '\0';
        if (strcmp(text, "text") == 0) {
            make_file(path, arrow + 4);
            return;
        }
        ck_assert(is_hard || strcmp(text, "link") == 0);
        make_parents(path);
        ck_assert_msg((is_hard ? link : symlink)(arrow + 4, path) == 0, "link %s: %s", path,
                      strerror(errno));
    }
}

static void fresh_home(void)
{
    struct bawn_error err = {0};

    /* Each case has a process of its own, and with it a /home and a /tmp of its own. */
    ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
    ck_assert_msg(mount("tmpfs", "/home", "tmpfs", 0, "mode=755") == 0, "mount: %s",
                  strerror(errno));
    ck_assert_msg(mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777") == 0, "mount: %s",
                  strerror(errno));
    ck_assert_int_eq(file_make_dirs(HOME, &err), 0);
    ck_assert_int_eq(file_make_dirs(WORKSPACE, &err), 0);
}

static struct bawn_load *new_load(void)
{
    static const char *const environment[] = {"HOME=" HOME, "PATH=/usr/bin:/bin", NULL};
    struct bawn_load *load = NULL;
    struct bawn_error err;

    ck_assert_int_eq(bawn_load_new(&load, &err), 0);
    ck_assert_int_eq(bawn_load_environ(load, environment, &err), 0);
    ck_assert_int_eq(bawn_load_workspace(load, WORKSPACE, &err), 0);
    load->org_dir = ORG;
    return load;
}

static void finish_layer(struct bawn_load *load, const char *layer, struct strbuf *text)
{
    static const struct {
        const char *name, *path;
    } layers[] = {
        {"org", ORG "/policy.yaml"},
        {"user", HOME "/.config/bawn/policy.yaml"},
        {"project", WORKSPACE "/.bawn/policy.yaml"},
        {"approved project", WORKSPACE "/.bawn/policy.yaml"},
        {"local", WORKSPACE "/.bawn/local.yaml"},
        {"policy", EXTRA},
    };
    struct bawn_error err = {0};

    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
        if (strcmp(layer, layers[i].name) != 0)
            continue;
        make_file(layers[i].path, text->text ? text->text : "");
        if (strcmp(layer, "approved project") == 0)
            ck_assert_msg(bawn_policy_approve(load, layers[i].path, text->text, text->length, NULL,
                                              &err) == 0,
                          "%s", err.message);
        if (strcmp(layer, "policy") == 0)
            ck_assert_int_eq(bawn_load_file(load, EXTRA, NULL, &err), 0);
        strbuf_done(text);
        return;
    }
    ck_abort_msg("no such layer: %s", layer);
}

static void set_profile(struct bawn_load *load, const char *profile)
{
    struct bawn_error err = {0};

    ck_assert_msg(bawn_load_profile(load, profile, &err) == 0, "%s", err.message);
}

/* "KEY=VALUE", as an option of the command line says it. */
static void set_key(struct bawn_load *load, const char *pair)
{
    autofree char *text = expand(pair, false);
    char *equals = strchr(text, '=');
    struct bawn_error err = {0};

    ck_assert_ptr_nonnull(equals);
    *equals = '\0';
    ck_assert_msg(bawn_load_set(load, text, equals + 1, "--set", &err) == 0, "%s", err.message);
}

/* A line of a case that opens no section; whether it is one. */
static bool set_word(struct bawn_load *load, const char *line)
{
    struct bawn_error err = {0};

    if (strcmp(line, "best-effort") == 0)
        return true; /* no question depends on it */
    else if (strncmp(line, "profile ", 8) == 0)
        set_profile(load, line + 8);
    else if (strncmp(line, "preset ", 7) == 0)
        ck_assert_msg(bawn_load_preset(load, line + 7, &err) == 0, "%s", err.message);
    else if (strncmp(line, "set ", 4) == 0)
        set_key(load, line + 4);
    else
        return strncmp(line, "! ", 2) == 0; /* why the case is not tried for real */
    return true;
}

/* Everything up to the rows; returns the index of the first row. */
static size_t set_up(const struct vector_case *one, struct bawn_load *load)
{
    enum section section = SECTION_NONE;
    const char *layer = NULL;
    autostrbuf struct strbuf text = {0};
    size_t i;

    for (i = 0; i < one->lines.count && section != SECTION_ROWS; i++) {
        const char *line = one->lines.items[i].text;

        if (*line == '|' && section == SECTION_LAYER) {
            autofree char *expanded = expand(line + (line[1] == ' ' ? 2 : 1), false);

            strbuf_add(&text, expanded);
            strbuf_add(&text, "\n");
            continue;
        }
        if (*line == '|') {
            ck_assert_int_eq(section, SECTION_TREE);
            make_entry(line + 2);
            continue;
        }
        if (section == SECTION_LAYER)
            finish_layer(load, layer, &text);
        section = SECTION_NONE;
        if (strncmp(line, "layer ", 6) == 0) {
            section = SECTION_LAYER;
            layer = line + 6;
        } else if (strcmp(line, "tree") == 0 || strcmp(line, "later") == 0) {
            section = SECTION_TREE;
        } else if (strcmp(line, "rows") == 0) {
            section = SECTION_ROWS;
        } else if (!set_word(load, line)) {
            ck_abort_msg("%s:%u: cannot read '%s'", one->file, one->lines.items[i].number, line);
        }
    }
    return i;
}

/* What the policy says, in the words of the table. */
static void answer(const struct bawn_policy *policy, const char *operation, const char *what,
                   struct strbuf *out)
{
    static const char *const operations[] = {"read", "write", "exec", "connect"};
    static const char *const verdicts[] = {"allow", "ask", "deny"};
    struct bawn_decision *decision = NULL;
    struct bawn_error err = {0};
    char *resolved = NULL;
    int verdict;

    if (strcmp(operation, "resolve") == 0) {
        if (bawn_resolve(policy, what, &resolved, &err) < 0)
            strbuf_addf(out, "error %s", err.code);
        else
            strbuf_add(out, resolved);
        free(resolved);
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        if (strcmp(operation, operations[i]) != 0)
            continue;
        verdict = bawn_decide(policy, i, what, &decision, &err);
        /* The answer must not depend on whether anybody wants to know why. */
        ck_assert_int_eq(verdict, bawn_decide(policy, i, what, NULL, &err));
        if (verdict < 0)
            strbuf_add(out, "error");
        else
            strbuf_addf(out, "%s\t%s", verdicts[verdict], bawn_decision_rule(decision));
        bawn_decision_free(decision);
        return;
    }
    ck_abort_msg("no such operation: %s", operation);
}

/* What a row expects, without the words on why it is not tried for real. */
static char *expected_of(const char *columns, const char *operation)
{
    const char *reason = strstr(columns, "\t! ");
    autofree char *text = reason ? strndup(columns, (size_t)(reason - columns)) : strdup(columns);

    return expand(text, strcmp(operation, "resolve") == 0);
}

static unsigned check_rows(const struct vector_case *one, size_t first,
                           const struct bawn_policy *policy)
{
    unsigned wrong = 0;

    for (size_t i = first; i < one->lines.count; i++) {
        const char *line = one->lines.items[i].text;
        autofree char *operation = strndup(line, strcspn(line, "\t"));
        const char *what_start = line + strlen(operation) + 1;
        autofree char *what_text = strndup(what_start, strcspn(what_start, "\t"));
        autofree char *what = expand(what_text, true);
        autofree char *expected = NULL;
        autostrbuf struct strbuf got = {0};

        ck_assert_msg(strlen(what_start) > strlen(what_text), "%s:%u: a row has columns", one->file,
                      one->lines.items[i].number);
        expected = expected_of(what_start + strlen(what_text) + 1, operation);
        answer(policy, operation, what, &got);
        if (strcmp(got.text, expected) != 0) {
            (void)fprintf(stderr, "%s:%u: %s %s\n    expected %s\n    got      %s\n", one->file,
                          one->lines.items[i].number, operation, what_text, expected, got.text);
            wrong++;
        }
    }
    return wrong;
}

/* The rules as an image has them, and read again. */
struct copy {
    struct strbuf strings;
    struct image *image;
    struct policy policy;
};

static uint32_t keep_string(void *context, const char *text)
{
    struct copy *copy = context;
    size_t at = copy->strings.length;

    strbuf_add_bytes(&copy->strings, text, strlen(text) + 1);
    return (uint32_t)at;
}

static void copy_rules(const struct policy *policy, struct copy *copy)
{
    size_t rules_at = (sizeof(struct image) + 7) & ~(size_t)7;
    size_t strings_at = rules_at + policy->rules.count * sizeof(struct image_rule);
    autofree struct image_rule *rules = calloc(policy->rules.count + 1, sizeof(*rules));
    struct image head = {.reads = (uint32_t)policy_number(policy, SETTING_READS)};
    struct bawn_error err = {0};

    strings_at = (strings_at + 7) & ~(size_t)7;
    strbuf_add_bytes(&copy->strings, "", 1);
    for (size_t i = 0; i < policy->rules.count; i++)
        rules[i] = rules_pack(policy->rules.items[i], keep_string, copy);
    head.workspace = keep_string(copy, policy->workspace);
    head.home = keep_string(copy, policy->home);
    head.parts[PART_RULES] =
        (struct image_span){.at = (uint32_t)rules_at, .count = (uint32_t)policy->rules.count};
    head.parts[PART_STRINGS] =
        (struct image_span){.at = (uint32_t)strings_at, .count = (uint32_t)copy->strings.length};
    copy->image = calloc(1, strings_at + copy->strings.length);
    ck_assert_ptr_nonnull(copy->image);
    memcpy(copy->image, &head, sizeof(head));
    memcpy((char *)copy->image + rules_at, rules, policy->rules.count * sizeof(*rules));
    memcpy((char *)copy->image + strings_at, copy->strings.text, copy->strings.length);
    ck_assert_msg(rules_unpack(copy->image, &copy->policy, &err) == 0, "%s", err.message);
}

static void copy_done(struct copy *copy)
{
    policy_done(&copy->policy);
    strbuf_done(&copy->strings);
    free(copy->image);
}

static bool is_same_decision(const struct path_decision *a, const struct path_decision *b)
{
    return a->access == b->access && a->reason == b->reason && !a->rule == !b->rule &&
           !a->only_dir == !b->only_dir &&
           (!a->rule ||
            (strcmp(a->rule->path, b->rule->path) == 0 && a->rule->kind == b->rule->kind));
}

/* Whoever decides by the image says what the policy says, of each path of the table. */
static unsigned check_image(const struct vector_case *one, size_t first,
                            const struct bawn_policy *policy)
{
    struct copy copy = {0};
    unsigned wrong = 0;

    copy_rules(&policy->policy, &copy);
    for (size_t i = first; i < one->lines.count; i++) {
        const char *line = one->lines.items[i].text;
        struct path_decision own[PATH_OP_COUNT] = {0};
        struct path_decision other[PATH_OP_COUNT] = {0};
        autofree char *what_text = NULL;
        autofree char *what = NULL;
        autofree char *resolved = NULL;
        struct bawn_error err;

        if (strncmp(line, "connect\t", 8) == 0)
            continue;
        line += strcspn(line, "\t") + 1;
        what_text = strndup(line, strcspn(line, "\t"));
        what = expand(what_text, true);
        if (bawn_resolve(policy, what, &resolved, &err) < 0)
            continue;
        ck_assert_int_eq(decide_path(&policy->policy, resolved, own), 0);
        ck_assert_int_eq(decide_path(&copy.policy, resolved, other), 0);
        for (enum path_op op = 0; op < PATH_OP_COUNT; op++) {
            if (is_same_decision(&own[op], &other[op]))
                continue;
            (void)fprintf(stderr, "%s:%u: %s: the image says something else\n", one->file,
                          one->lines.items[i].number, resolved);
            wrong++;
        }
    }
    copy_done(&copy);
    return wrong;
}

START_TEST(vectors_hold)
{
    const struct vector_case *one = &cases.items[_i];
    struct bawn_policy *policy = NULL;
    struct bawn_load *load;
    struct bawn_error err = {0};
    size_t first;
    unsigned wrong;
    int r;

    fresh_home();
    load = new_load();
    first = set_up(one, load);
    ck_assert_msg(first < one->lines.count, "%s: %s: no rows", one->file, one->name);
    r = bawn_policy_load(load, &policy, NULL, &err);
    /* A case whose only row is "load error CODE" is about a policy that is refused. */
    if (strncmp(one->lines.items[first].text, "load\terror\t", 11) == 0) {
        ck_assert_msg(r < 0, "%s: %s: loaded", one->file, one->name);
        ck_assert_str_eq(err.code, one->lines.items[first].text + 11);
        bawn_load_free(load);
        return;
    }
    ck_assert_msg(r == 0, "%s: %s: %s (%s)", one->file, one->name, err.message, err.hint);
    wrong = check_rows(one, first, policy) + check_image(one, first, policy);
    bawn_policy_free(policy);
    bawn_load_free(load);
    ck_assert_msg(wrong == 0, "%s: %s: %u rows differ", one->file, one->name, wrong);
}
END_TEST

static bool write_text(const char *path, const char *text)
{
    autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* An own user and mount namespace, so that a case can have any path without touching the host. */
static bool enter_namespace(void)
{
    unsigned uid = getuid();
    unsigned gid = getgid();
    char uids[64];
    char gids[64];

    (void)snprintf(uids, sizeof(uids), "%u %u 1", uid, uid);
    (void)snprintf(gids, sizeof(gids), "%u %u 1", gid, gid);
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
           write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", uids) &&
           write_text("/proc/self/gid_map", gids) &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static size_t read_cases(const char *file, char *text)
{
    struct vector_case *one = NULL;
    unsigned number = 0;
    size_t rows = 0;
    bool in_rows = false;

    for (char *line = strtok_r(text, "\n", &text); line; line = strtok_r(NULL, "\n", &text)) {
        number++;
        if (*line == '#' || *line == '\0')
            continue;
        if (strncmp(line, "case ", 5) == 0) {
            struct vector_case fresh = {.file = file, .name = line + 5};

            if (!vec_push(&cases, fresh))
                exit(EXIT_FAILURE);
            one = &cases.items[cases.count - 1];
            in_rows = false;
            continue;
        }
        if (!one || !vec_push(&one->lines, ((struct line){line, number})))
            exit(EXIT_FAILURE);
        rows += in_rows;
        in_rows = in_rows || strcmp(line, "rows") == 0;
    }
    return rows;
}

/* strtok drops empty lines, and with them the count of lines: keep each as a comment. */
static char *keep_lines(const char *text)
{
    struct strbuf out = {0};

    for (; *text; text++) {
        strbuf_add_bytes(&out, text, 1);
        if (*text == '\n' && text[1] == '\n')
            strbuf_add(&out, "#");
    }
    return strbuf_take(&out);
}

int main(void)
{
    Suite *suite = suite_create("vectors");
    TCase *all = tcase_create("vectors");
    static struct dirent **entries; /* the cases point to the names in it */
    int count = scandir("tests/vectors", &entries, NULL, alphasort);
    size_t rows = 0;

    for (int i = 0; i < count; i++) {
        char path[4096];
        char *text = NULL;
        size_t length;
        struct bawn_error err;

        if (!strstr(entries[i]->d_name, ".vec"))
            continue;
        (void)snprintf(path, sizeof(path), "tests/vectors/%s", entries[i]->d_name);
        if (file_read(AT_FDCWD, path, 1 << 20, &text, &length, &err) < 0)
            return EXIT_FAILURE;
        rows += read_cases(entries[i]->d_name, keep_lines(text));
        free(text);
    }
    (void)printf("%zu cases, %zu rows\n", cases.count, rows);
    if (rows < 300) {
        (void)fprintf(stderr, "fewer than 300 rows: the table is not complete\n");
        return EXIT_FAILURE;
    }
    if (enter_namespace())
        tcase_add_loop_test(all, vectors_hold, 0, (int)cases.count);
    else
        test_skip("vectors", "no user namespace to make the cases in");
    tcase_set_timeout(all, 60);
    suite_add_tcase(suite, all);
    return test_run(suite, "vectors");
}
