/* SPDX-License-Identifier: Apache-2.0 */
/* What an overlay session changed, of overlays that the kernel made and of layers made by hand. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "lib/test.h"
#include "overlay/changes.h"

#include <errno.h>
#include <fcntl.h>
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
    suite_add_tcase(suite, tcase);
    return test_run(suite, "changes");
}
