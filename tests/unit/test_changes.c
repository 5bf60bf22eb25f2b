/* SPDX-License-Identifier: Apache-2.0 */
/* What an overlay session changed, of overlays that the kernel made and of layers made by hand. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "lib/test.h"
#include "overlay/changes.h"
#include "overlay/show.h"

#include <errno.h>
#include <fcntl.h>
#include <git2/global.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = TEST_DIR_BYTES + 16, NO_OVERLAY = 77 };

/* A directory with lower, upper, work and merged in it. */
struct scene {
    char dir[TEST_DIR_BYTES];
    struct overlay_tree tree;
    struct changes changes;
};

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd) < 0)
        _exit(NO_OVERLAY);
}

/* Becomes root of a namespace of its own, with the overlay at merged. */
static void enter_overlay(void)
{
    char map[64];
    unsigned uid = geteuid();
    unsigned gid = getegid();

    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        _exit(NO_OVERLAY);
    write_file("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof(map), "0 %u 1", uid);
    write_file("/proc/self/uid_map", map);
    (void)snprintf(map, sizeof(map), "0 %u 1", gid);
    write_file("/proc/self/gid_map", map);
    if (mount("overlay", "merged", "overlay", MS_NOSUID | MS_NODEV,
              "lowerdir=lower,upperdir=upper,workdir=work,userxattr") < 0)
        _exit(NO_OVERLAY);
}

/* attr FILE NAME [VALUE]: sets an extended attribute, or takes it away. */
#define PRELUDE                                                                                    \
    "attr() { python3 -c 'import os, sys; a = sys.argv[1:]; "                                      \
    "os.setxattr(a[0], a[1], a[2].encode()) if a[2:] else os.removexattr(*a)' \"$@\"; }\n"

/* Runs a script in one of the directories: its status. */
static int run_in(const struct scene *scene, const char *where, const char *script)
{
    pid_t pid = fork();
    char *whole;
    int status;

    if (pid == 0) {
        (void)umask(022);
        if (chdir(scene->dir) < 0 || asprintf(&whole, PRELUDE "%s", script) < 0)
            _exit(NO_OVERLAY);
        if (strcmp(where, "merged") == 0)
            enter_overlay();
        if (chdir(where) < 0)
            _exit(NO_OVERLAY);
        (void)execl("/bin/bash", "bash", "-ec", whole, NULL);
        _exit(NO_OVERLAY);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void run_well(const struct scene *scene, const char *where, const char *script)
{
    ck_assert_msg(run_in(scene, where, script) == 0, "in %s: %s", where, script);
}

/* False: there is no overlay for this user here. */
static bool make_scene(struct scene *scene, const char *name, const char *lower_script)
{
    char path[PATH_BYTES];

    *scene = (struct scene){.tree = {.path = "/tree"}};
    test_make_dir(scene->dir, name);
    run_well(scene, ".", "mkdir lower upper work merged");
    if (run_in(scene, "merged", "true") == NO_OVERLAY) {
        test_skip(name, "no overlay in a user namespace");
        return false;
    }
    run_well(scene, "lower", lower_script);
    (void)snprintf(path, sizeof(path), "%s/lower", scene->dir);
    scene->tree.lower_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    (void)snprintf(path, sizeof(path), "%s/upper", scene->dir);
    scene->tree.upper_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(scene->tree.lower_fd, 0);
    ck_assert_int_ge(scene->tree.upper_fd, 0);
    return true;
}

static void find(struct scene *scene)
{
    struct bawn_error err = {0};

    changes_done(&scene->changes);
    ck_assert_msg(changes_find(&scene->tree, &scene->changes, &err) == 0, "%s", err.message);
}

static void end_scene(struct scene *scene)
{
    changes_done(&scene->changes);
    (void)close(scene->tree.lower_fd);
    (void)close(scene->tree.upper_fd);
}

/* One line for each: kind, what in letters, bar, path, from. */
static void add_change(struct strbuf *out, const struct change *change)
{
    static const char letters[] = "cmat";
    static const char *const bars[] = {"", " device", " socket", " set-id", " unreadable"};

    strbuf_addf(out, "%c", "AMDR"[change->kind]);
    for (unsigned i = 0; i < 3; i++) /* times differ by chance */
        if (change->what & 1U << i)
            strbuf_addf(out, "%c", letters[i]);
    strbuf_add(out, " /");
    strbuf_add_escaped(out, change->path);
    if (change->from) {
        strbuf_add(out, " < ");
        strbuf_add_escaped(out, change->from);
    }
    strbuf_addf(out, "%s%s\n", change->is_moved ? " moved" : "", bars[change->bar]);
}

static void scene_has(struct scene *scene, const char *wanted)
{
    autostrbuf struct strbuf out = {0};

    find(scene);
    vec_each (&scene->changes.list, change)
        add_change(&out, change);
    ck_assert_str_eq(out.text ? out.text : "", wanted);
}

/* What a script in the overlay changes of a tree that another made. */
static void overlay_changes(const char *lower_script, const char *script, const char *wanted)
{
    struct scene scene;

    if (!make_scene(&scene, "overlay", lower_script))
        return;
    run_well(&scene, "merged", script);
    scene_has(&scene, wanted);
    end_scene(&scene);
}

START_TEST(each_kind_of_change_is_found)
{
    overlay_changes(
        "echo a >changed; echo b >gone; mkdir -p dir/sub; echo c >dir/sub/file; echo >was",
        "echo x >new; echo y >>changed; rm gone; echo z >dir/sub/more; mkdir made;"
        "echo >made/file; ln -s to link; mkfifo fifo; rm was; mkdir was",
        "Mc /changed\nA /dir/sub/more\nA /fifo\nD /gone\nA /link\nA /made\n"
        "A /made/file\nA /new\nR /was\n");
}
END_TEST

START_TEST(what_is_only_touched_is_no_change)
{
    overlay_changes(
        "echo a >file; echo b >other; mkdir dir; echo c >dir/file; ln -s a link",
        "touch file; cat other >copy; cat copy >other; rm copy; mkdir dir/sub;"
        "rmdir dir/sub; touch dir; touch -h link; chmod 600 dir/file; chmod 644 dir/file",
        "");
}
END_TEST

START_TEST(modes_and_attributes_alone_are_changes)
{
    overlay_changes(
        "echo a >file; mkdir dir; echo >dir/x; echo b >has; attr has user.k 1;"
        "echo >loses; attr loses user.k 1; mkdir marked; echo >same; attr same user.k 1",
        "chmod 755 file; chmod 700 dir; attr has user.k 2; attr loses user.k;"
        "attr marked user.new 2; chmod 700 .; touch same; attr same user.k 1",
        "Mm /\nMm /dir\nMm /file\nMa /has\nMa /loses\nMa /marked\n");
}
END_TEST

START_TEST(directories_that_were_made_anew_hide_the_old)
{
    overlay_changes(
        "mkdir -p dir/sub/deep; echo a >dir/one; echo b >dir/two; echo c >dir/sub/x;"
        "echo same >dir/same; mkdir -p gone/with/all; echo >gone/with/all/this",
        "rm -r dir gone; mkdir dir; echo b >dir/two; echo other >dir/same;"
        "mkdir -p dir/sub; echo new >dir/sub/y",
        "D /dir/one\nMc /dir/same\nD /dir/sub/deep\nD /dir/sub/x\nA /dir/sub/y\nD /gone\n");
}
END_TEST

START_TEST(files_become_directories_and_back)
{
    overlay_changes("echo a >file; mkdir -p dir/sub; echo b >dir/sub/x; ln -s x link; echo d >reg",
                    "rm file; mkdir -p file/in; echo c >file/in/it; rm -r dir; echo e >dir;"
                    "rm link; echo f >link; rm reg; ln -s y reg",
                    "R /dir\nR /file\nA /file/in\nA /file/in/it\nR /link\nR /reg\n");
}
END_TEST

START_TEST(links_lead_elsewhere)
{
    overlay_changes("ln -s one link; ln -s same same; echo a >file; ln file hard",
                    "ln -sfn two link; rm same; ln -s same same; echo b >>hard",
                    "Mc /hard\nMc /link\n");
}
END_TEST

START_TEST(files_that_moved_name_where_they_came_from)
{
    overlay_changes(
        "mkdir a b; echo hello >a/one; echo hello >a/two; echo other >a/three; : >a/empty;"
        "mkdir c; echo deep >c/deep",
        "mv a/one b/uno; mv a/two b/two; mv a/three a/drei; mv a/empty b/; mv c d",
        "A /a/drei < a/three\nD /a/empty\nD /a/one moved\nD /a/three moved\nD /a/two moved\n"
        "A /b/empty\nA /b/two < a/two\nA /b/uno < a/one\nD /c\nA /d\nA /d/deep\n");
}
END_TEST

/* What a form shows of a scene. */
static char *shown(const struct scene *scene, struct show_options options)
{
    const struct show_tree tree = {.tree = &scene->tree, .changes = &scene->changes};
    autostrbuf struct strbuf out = {0};
    struct bawn_error err = {0};

    ck_assert_int_gt(git_libgit2_init(), 0);
    ck_assert_msg(show_add(&tree, 1, &options, &out, &err) == 0, "%s", err.message);
    ck_assert_int_ge(git_libgit2_shutdown(), 0);
    return strbuf_take(&out);
}

static void scene_shows(struct scene *scene, struct show_options options, const char *wanted)
{
    autofree char *text = NULL;

    find(scene);
    text = shown(scene, options);
    ck_assert_str_eq(text, wanted);
}

static void keep_text(const struct scene *scene, const char *name, const char *text)
{
    char path[PATH_BYTES];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", scene->dir, name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/* Of all files and links below: what git knows of them. */
#define LIST_FOR_GIT                                                                               \
    "LC_ALL=C; export LC_ALL; (find . -type f -perm -u+x -printf 'x %p\\n';"                       \
    " find . -type f ! -perm -u+x -printf '- %p\\n'; find . -type l -printf 'l %p %l\\n') | sort;" \
    " find . -type f -print0 | sort -z | xargs -0r sha256sum"

/* `git apply` of the patch to a copy of the tree gives what the sandbox saw. */
static void git_applies(const char *lower_script, const char *script)
{
    struct scene scene;
    autofree char *patch = NULL;

    if (!make_scene(&scene, "patch", lower_script))
        return;
    run_well(&scene, "merged", script);
    run_well(&scene, "merged", "(" LIST_FOR_GIT ") >../seen; [ -s ../seen ]");
    find(&scene);
    patch = shown(&scene, (struct show_options){.form = SHOW_PATCH});
    keep_text(&scene, "patch", patch);
    run_well(&scene, ".", "cp -a lower copy; cd copy; git apply --whitespace=nowarn ../patch");
    run_well(&scene, "copy", "(" LIST_FOR_GIT ") >../got; diff ../seen ../got");
    end_scene(&scene);
}

START_TEST(git_takes_the_patch)
{
    git_applies("seq 100 >many; echo one >text; printf 'no end' >end; : >empty; echo a >gone;"
                "mkdir -p dir/sub; echo b >dir/x; echo c >dir/sub/y; ln -s a link; echo d >mode;"
                "echo e >to-link; ln -s f to-file; mkdir old; seq 9 >old/moved; echo file >as-dir",
                "sed -i '50s/.*/changed/; 90d' many; echo two >>text; printf ' more' >>end;"
                "echo now >empty; rm gone; rm -r dir; echo now a file >dir; ln -sfn b link;"
                "chmod +x mode; rm to-link to-file; ln -s e to-link; echo f >to-file; : >new-empty;"
                "mkdir -p made/deep; mv old/moved made/deep/moved; echo g >made/x; chmod +x made/x;"
                "rm as-dir; mkdir as-dir; echo in >as-dir/in");
}
END_TEST

START_TEST(git_takes_binary_files_and_odd_names)
{
    git_applies(
        "head -c 100000 /dev/urandom >bin; head -c 5000 /dev/urandom >gone;"
        "printf 'a\\0b' >small; printf 'x\\ry\\r\\n\\033[2J\\n' >escapes; echo >'a b'; echo >'c d';"
        "printf 'caf\\351\\n' >latin",
        "printf 'z\\0' >>bin; rm gone; printf '\\0' >>small; head -c 20000 /dev/urandom >new;"
        "printf '\\033]0;\\007\\n' >>escapes; echo more >>'a b'; rm 'c d'; echo x >'new one';"
        "printf 'th\\351\\n' >>latin; echo x >$'new\\nline'; echo y >$'esc\\033[31m';"
        "echo z >$'bad\\377'; echo q >'quo\"te'; echo b >'back\\slash'; echo u >'\303\274ml';"
        "echo d >-dash; ln -s $'odd\\ntarget' odd; mkdir ' '; echo >' /b'; echo t >$'tab\\t'");
}
END_TEST

START_TEST(a_list_says_what_it_is_in_words)
{
    struct scene scene;

    if (!make_scene(&scene, "list",
                    "echo a >file; mkdir dir; echo >dir/x; ln -s a link; echo b >exe;"
                    "echo c >from; echo d >type; echo e >marked; echo f >both"))
        return;
    run_well(
        &scene, "merged",
        "echo b >>file; rm -r dir; ln -sfn $'to\\033[2J' link; chmod +x exe; mv from to; rm type;"
        "mkdir type; attr marked user.a 1; mkfifo fifo; echo >tool; chmod 755 tool; echo g >>both;"
        "chmod 600 both; echo >$'a\\033]0;x\\007\\nb'; echo >set; chmod 4755 set; mkdir made;"
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'");
    scene_shows(
        &scene, (struct show_options){.form = SHOW_LIST},
        "A  a\\x1b]0;x\\x07\\nb\n"
        "M  both  (content, mode 0644 -> 0600)\n"
        "D  dir/\n"
        "M  exe  (mode 0644 -> 0755)\n"
        "A  fifo  (FIFO)\n"
        "M  file\n"
        "M  link  (leads to to\\x1b[2J, was a)\n"
        "A  made/\n"
        "M  marked  (attributes)\n"
        "A  set  (executable)  [never applied: it would run with the rights of its owner or "
        "group (set-id)]\n"
        "A  sock  (socket)  [never applied: it is a socket]\n"
        "R  from -> to\n"
        "A  tool  (executable)\n"
        "T  type/  (was a file, is a directory)\n");
    end_scene(&scene);
}
END_TEST

START_TEST(a_text_has_no_escape_of_a_file)
{
    struct scene scene;

    if (!make_scene(&scene, "text",
                    "printf 'one\\ntwo\\n' >file; printf '\\0a' >bin; echo >mode; echo a >gone"))
        return;
    run_well(&scene, "merged",
             "printf '\\033[2Jx\\ty\\r\\n' >>file; printf '\\0b' >bin; chmod 600 mode; rm gone;"
             "ln -s $'a\\033b' link; mkfifo fifo; printf 'no end' >new");
    scene_shows(&scene, (struct show_options){.form = SHOW_TEXT},
                "diff --git a/bin b/bin\nBinary files a/bin and b/bin differ\n"
                "  before: 2 bytes, SHA-256 "
                "022a6979e6dab7aa5ae4c3e5e45f7e977112a7e63593820dbec1ec738a24f93c\n"
                "  after: 2 bytes, SHA-256 "
                "57eb35615d47f34ec714cacdf5fd74608a5e8e102724e80b24b287c0c27b6a31\n"
                "A  fifo  (FIFO)\n"
                "diff --git a/file b/file\n--- a/file\n+++ b/file\n@@ -1,2 +1,3 @@\n"
                " one\n two\n+\\x1b[2Jx\ty\\x0d\n"
                "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n"
                "@@ -1 +0,0 @@\n-a\n"
                "diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n"
                "@@ -0,0 +1 @@\n+a\\x1bb\n\\ No newline at end of file\n"
                "diff --git a/mode b/mode\nold mode 100644\nnew mode 100600\n"
                "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n"
                "@@ -0,0 +1 @@\n+no end\n\\ No newline at end of file\n");
    run_well(&scene, "merged", "rm bin fifo link new mode; printf 'one\\n2\\n' >file");
    run_well(&scene, "upper", "rm bin gone mode");
    scene_shows(&scene, (struct show_options){.form = SHOW_TEXT, .has_colours = true},
                "\033[1mdiff --git a/file b/file\n\033[m\033[1m--- a/file\n+++ b/file\n\033[m"
                "\033[36m@@ -1,2 +1,2 @@\033[m\n one\n\033[31m-two\033[m\n\033[32m+2\033[m\n");
    end_scene(&scene);
}
END_TEST

START_TEST(a_stat_counts_lines)
{
    struct scene scene;

    if (!make_scene(&scene, "stat",
                    "seq 5 >file; printf '\\0a' >bin; echo a >gone; mkdir dir; echo b >m"))
        return;
    run_well(&scene, "merged",
             "sed -i 3d file; echo x >>file; echo y >>file; printf '\\0b' >>bin;"
             "rm -r gone dir; echo n >new; mv m moved");
    scene_shows(&scene, (struct show_options){.form = SHOW_STAT},
                " bin | binary, 2 -> 4 bytes\n dir/ | directory, deleted\n file | +2 -1\n"
                " gone | +0 -1\n m -> moved | moved\n new | +1 -0\n"
                " 6 files changed, 1 added, 2 deleted, 1 moved, 3 lines added, 2 lines deleted\n");
    end_scene(&scene);
}
END_TEST

START_TEST(json_has_all_fields)
{
    struct scene scene;

    if (!make_scene(&scene, "json", "echo a >file; echo b >from"))
        return;
    run_well(&scene, "merged",
             "echo b >>file; touch -d @0 file; chmod 755 file; mv from to; mkfifo f");
    scene_shows(
        &scene, (struct show_options){.form = SHOW_JSON},
        "[{\"path\": \"f\", \"tree\": \"/tree\", \"kind\": \"added\", \"what\": [], \"before\": "
        "null, "
        "\"after\": {\"type\": \"FIFO\", \"mode\": \"0644\", \"size\": 0}}, "
        "{\"path\": \"file\", \"tree\": \"/tree\", \"kind\": \"changed\", \"what\": [\"content\", "
        "\"mode\", \"times\"], \"before\": {\"type\": \"file\", \"mode\": \"0644\", \"size\": 2}, "
        "\"after\": {\"type\": \"file\", \"mode\": \"0755\", \"size\": 4}}, "
        "{\"path\": \"from\", \"tree\": \"/tree\", \"kind\": \"deleted\", \"what\": [], "
        "\"before\": "
        "{\"type\": \"file\", \"mode\": \"0644\", \"size\": 2}, \"after\": null, \"moved\": true}, "
        "{\"path\": \"to\", \"tree\": \"/tree\", \"kind\": \"added\", \"what\": [], \"before\": "
        "null, "
        "\"after\": {\"type\": \"file\", \"mode\": \"0644\", \"size\": 2}, \"from\": \"from\"}]\n");
    end_scene(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("changes");
    TCase *tcase = tcase_create("changes");

    tcase_add_test(tcase, each_kind_of_change_is_found);
    tcase_add_test(tcase, what_is_only_touched_is_no_change);
    tcase_add_test(tcase, modes_and_attributes_alone_are_changes);
    tcase_add_test(tcase, directories_that_were_made_anew_hide_the_old);
    tcase_add_test(tcase, files_become_directories_and_back);
    tcase_add_test(tcase, links_lead_elsewhere);
    tcase_add_test(tcase, files_that_moved_name_where_they_came_from);
    tcase_add_test(tcase, git_takes_the_patch);
    tcase_add_test(tcase, git_takes_binary_files_and_odd_names);
    tcase_add_test(tcase, a_list_says_what_it_is_in_words);
    tcase_add_test(tcase, a_text_has_no_escape_of_a_file);
    tcase_add_test(tcase, a_stat_counts_lines);
    tcase_add_test(tcase, json_has_all_fields);
    suite_add_tcase(suite, tcase);
    return test_run(suite, "changes");
}
