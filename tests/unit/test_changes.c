/* SPDX-License-Identifier: Apache-2.0 */
/* What an overlay session changed, of overlays that the kernel made and of layers made by hand. */
#include "base/cleanup.h"
#include "lib/scene.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a script in the overlay changes of a tree that another made. */
static void overlay_changes(const char *lower_script, const char *script, const char *wanted)
{
    struct scene scene;

    if (!scene_make(&scene, "overlay", lower_script))
        return;
    scene_run(&scene, "merged", script);
    scene_has(&scene, wanted);
    scene_end(&scene);
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

/* A layer that was made by hand, by a script in upper. */
static void layer_changes(const char *lower_script, const char *script, const char *wanted)
{
    struct scene scene;

    if (!scene_make(&scene, "layer", lower_script))
        return;
    scene_run(&scene, "upper", script);
    scene_has(&scene, wanted);
    scene_end(&scene);
}

START_TEST(names_may_be_any_bytes)
{
    overlay_changes(
        "echo >$'a\\nb'; echo >-rf; mkdir $'\\377\\376'; echo >$'\\377\\376/\\033[31m'; mkdir a;"
        "echo >a/z; echo >a-b; echo >'a b'",
        "echo x >$'a\\nb'; rm ./-rf; echo y >$'\\377\\376/\\033[31m'; echo star >'*'; echo x >a/z;"
        "echo x >a-b; echo x >'a b'; echo one >$'a/\\001'",
        "A /*\nD /-rf\nA /a/\\x01\nMc /a/z\nMc /a\\nb\nMc /a b\nMc /a-b\n"
        "Mc /\\xff\\xfe/\\x1b[31m\n");
}
END_TEST

START_TEST(forged_attributes_say_no_more_than_the_kernel_reads)
{
    layer_changes(
        "mkdir dir opaque marks deep; echo a >dir/file; echo b >opaque/file; echo c >marks/one;"
        "echo d >marks/two; echo e >file; mkdir -p deep/er; echo f >deep/er/x",
        "mkdir dir opaque marks deep; attr dir user.overlay.redirect /../../etc;"
        "attr dir user.overlay.opaque yy; attr . user.overlay.opaque y;"
        "attr opaque user.overlay.opaque y; attr marks user.overlay.opaque x;"
        ": >marks/one; attr marks/one user.overlay.whiteout y; : >marks/none;"
        "attr marks/none user.overlay.whiteout y; echo full >marks/two;"
        "attr marks/two user.overlay.whiteout y; : >dir/file;"
        "attr dir/file user.overlay.whiteout y; echo e >file;"
        "attr file user.overlay.opaque y; attr file user.overlay.metacopy x;"
        "attr deep user.overlay.opaque $(printf %04000d 0); mkdir deep/er",
        "Mc /dir/file\nD /marks/one\nMc /marks/two\nD /opaque/file\n");
}
END_TEST

START_TEST(nothing_in_a_layer_is_waited_for)
{
    layer_changes("echo a >file; mkfifo fifo same",
                  "mkfifo file new; mkfifo same; mkfifo -m 600 fifo;"
                  "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'",
                  "Mm /fifo\nR /file\nA /new\nA /sock socket\n");
}
END_TEST

START_TEST(devices_are_never_applied)
{
    struct scene scene;

    if (!scene_make(&scene, "devices", "echo >file; echo >gone"))
        return;
    if (scene_try(&scene, "upper",
                  "mknod null c 1 3; mknod file b 7 0; mknod gone c 0 0; mknod no c 0 0"))
        test_skip("devices", "root may make no devices here");
    else
        scene_has(&scene, "R /file device\nD /gone\nA /null device\n");
    scene_end(&scene);
}
END_TEST

START_TEST(set_id_is_what_the_tree_has_or_is_barred)
{
    layer_changes(
        "echo a >has; echo b >keeps; echo c >other; chmod 4755 has keeps other; echo d >plain;"
        "mkdir group; chmod 2755 group; mkdir free",
        "echo a >has; chmod 4711 has; echo b >keeps; chmod 4755 keeps; echo evil >other;"
        "chmod 4755 other; echo d >plain; chmod 2755 plain; echo x >new; chmod 6755 new;"
        "mkdir -p group/made/deep; chmod 2755 group group/made group/made/deep;"
        "mkdir -p free/made/deep; chmod 2755 free/made free/made/deep; ln -s has link",
        "A /free/made set-id\nA /free/made/deep set-id\nA /group/made\nA /group/made/deep\n"
        "Mm /has\nA /link\nA /new set-id\nMc /other set-id\nMm /plain set-id\n");
}
END_TEST

START_TEST(what_cannot_be_read_says_so)
{
    layer_changes(
        "echo a >file; mkdir dir; echo b >dir/x; echo c >secret; chmod 0 secret; mkdir closed;"
        "echo d >closed/x; chmod 0 closed; echo same >same",
        "echo a >file; chmod 0 file; mkdir dir; echo e >dir/x; chmod 0 dir; echo c >secret;"
        "echo f >new; chmod 0 new; mkdir closed made; echo g >closed/x; echo h >made/x;"
        "chmod 0 made; chmod 600 secret",
        "Mm /closed\nM /closed/x unreadable\nMm /dir unreadable\nMcm /file unreadable\n"
        "A /made unreadable\nA /new unreadable\nMcm /secret unreadable\n");
}
END_TEST

START_TEST(links_are_never_followed)
{
    layer_changes(
        "mkdir dir; echo a >dir/passwd; ln -s /etc out; mkdir etc; ln -s ../dir etc/link",
        "ln -s /etc dir; mkdir out; cp /etc/passwd out; mkdir -p etc/link; echo >etc/link/passwd",
        "R /dir\nR /etc/link\nA /etc/link/passwd\nR /out\nA /out/passwd\n");
}
END_TEST

START_TEST(ten_thousand_entries)
{
    struct scene scene;
    size_t deleted = 0;

    if (!scene_make(&scene, "many", "mkdir a b; touch $(seq -f 'a/%g' 5000) $(seq -f 'b/%g' 5000)"))
        return;
    scene_run(&scene, "merged", "rm -r a; cp -r b c; cp -r b e; chmod 600 b/1*00");
    scene_find(&scene);
    vec_each (&scene.changes.list, change)
        deleted += change->kind == CHANGE_DELETED;
    ck_assert_uint_eq(deleted, 1);
    ck_assert_uint_eq(scene.changes.list.count, 1 + 2 + 5000 + 5000 + 11);
    for (size_t i = 0; i < scene.changes.list.count; i++) {
        const struct change *change = &scene.changes.list.items[i];

        ck_assert_ptr_eq(changes_at(&scene.changes, change->path), change);
    }
    ck_assert_ptr_null(changes_at(&scene.changes, "b"));
    scene_end(&scene);
}
END_TEST

static void have_few_descriptors(void)
{
    struct rlimit few = {.rlim_cur = 160, .rlim_max = 160};

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
}

/* A chain of directories "a" with a directory "z" at each, where statements of Python's make files.
 */
#define DEEP(count, made)                                                                          \
    "python3 -c 'import os\n"                                                                      \
    "def put(name, text): open(\"z/\" + name, \"w\").write(text)\n"                                \
    "for i in range(" #count "): os.mkdir(\"z\"); put(\"same\", str(i)); " made                    \
    "; os.mkdir(\"a\"); os.chdir(\"a\")'"

/* The chain is longer than what is held open, and there is more at each. */
START_TEST(deep_directories_are_opened_again)
{
    struct scene scene;

    if (!scene_make(&scene, "deep", DEEP(300, "put(\"gone\", \"\"); put(\"changed\", \"\")")))
        return;
    scene_run(&scene, "upper",
              DEEP(300, "put(\"changed\", \"1\"); put(\"new\", \"\");"
                        "os.setxattr(\"z\", \"user.overlay.opaque\", b\"y\")"));
    have_few_descriptors();
    scene_find(&scene);
    ck_assert_uint_eq(scene.changes.list.count, 3 * 300);
    vec_each (&scene.changes.list, change)
        ck_assert_int_eq(change->bar, CHANGE_FREE);
    scene_end(&scene);
}
END_TEST

START_TEST(a_path_is_as_long_as_paths_may_be)
{
    struct scene scene;
    const struct change *last;

    if (!scene_make(&scene, "long", "true"))
        return;
    scene_run(&scene, "upper",
              "python3 -c 'import os\nfor i in range(2100): os.mkdir(\"d\"); os.chdir(\"d\")'");
    have_few_descriptors();
    scene_find(&scene);
    ck_assert_uint_eq(scene.changes.list.count, 2048);
    last = &scene.changes.list.items[2047];
    ck_assert_uint_eq(strlen(last->path), 4095);
    ck_assert_int_eq(last->bar, CHANGE_UNREADABLE);
    ck_assert_int_eq(last->errnum, ENAMETOOLONG);
    ck_assert_int_eq(scene.changes.list.items[2046].bar, CHANGE_FREE);
    scene_end(&scene);
    scene_run(&scene, "upper",
              "python3 -c 'import os\nwhile os.path.exists(\"d\"): os.chdir(\"d\")\n"
              "for i in range(2100): os.chdir(\"..\"); os.rmdir(\"d\")'");
}
END_TEST

START_TEST(the_tree_may_change_meanwhile)
{
    struct scene scene;
    pid_t changer;

    if (!scene_make(&scene, "races",
                    "mkdir -p a/b/c; touch a/b/c/{1..50} a/b/{1..50}; echo x >a/b/7"))
        return;
    scene_run(&scene, "upper",
              "mkdir -p a/b/c a/new; echo y >a/b/7; touch a/b/c/{40..60}; echo z >a/b/9;"
              "attr a/b/c user.overlay.opaque y");
    changer = fork();
    if (changer == 0) {
        (void)setpgid(0, 0);
        (void)scene_try(
            &scene, "lower",
            "while :; do mv a/b x; mkdir -p a/b; mkfifo a/b/7; ln -s / a/b/c; rm -r a/b;"
            "mv x a/b; rm -r a/b/9; mkdir a/b/9; rm -r a/b/9; echo >a/b/9; done");
        _exit(0);
    }
    (void)setpgid(changer, changer);
    for (unsigned i = 0; i < 200; i++)
        scene_find(&scene);
    ck_assert_int_eq(kill(-changer, SIGKILL), 0);
    ck_assert_int_eq(waitpid(changer, NULL, 0), changer);
    scene_end(&scene);
}
END_TEST

START_TEST(a_layer_that_is_not_there_is_an_error)
{
    struct overlay_tree tree = {.path = "/t", .lower_fd = -1, .upper_fd = -1};
    struct changes changes = {0};
    struct bawn_error err = {0};

    ck_assert_int_eq(changes_find(&tree, &changes, &err), -EBADF);
    ck_assert_str_eq(err.message, "open /t and its layer: Bad file descriptor");
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
    tcase_add_test(tcase, names_may_be_any_bytes);
    tcase_add_test(tcase, forged_attributes_say_no_more_than_the_kernel_reads);
    tcase_add_test(tcase, nothing_in_a_layer_is_waited_for);
    /* Only root makes devices, and it reads everything. */
    if (geteuid() == 0)
        tcase_add_test(tcase, devices_are_never_applied);
    else
        tcase_add_test(tcase, what_cannot_be_read_says_so);
    tcase_add_test(tcase, set_id_is_what_the_tree_has_or_is_barred);
    tcase_add_test(tcase, links_are_never_followed);
    tcase_add_test(tcase, ten_thousand_entries);
    tcase_add_test(tcase, deep_directories_are_opened_again);
    tcase_add_test(tcase, a_path_is_as_long_as_paths_may_be);
    tcase_add_test(tcase, the_tree_may_change_meanwhile);
    tcase_add_test(tcase, a_layer_that_is_not_there_is_an_error);
    suite_add_tcase(suite, tcase);
    return test_run(suite, "changes");
}
