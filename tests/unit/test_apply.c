/* SPDX-License-Identifier: Apache-2.0 */
/* What is applied of a session's changes, what is refused, and that nothing lands elsewhere. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "lib/layered.h"
#include "lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* False: there is no overlay here. The session's command has run and was noted. */
static bool begin(struct layered *layered, const char *lower_script, const char *script)
{
    int status;

    layered_init(layered, layered_fast_dir(), layered_fast_dir());
    layered_must(layered, "lower", lower_script);
    status = layered_script(layered, "merged", script);
    if (status == LAYERED_NO_OVERLAY) {
        test_skip("apply", "no overlay in a user namespace");
        layered_done(layered);
        return false;
    }
    ck_assert_msg(status == 0, "%s: exit status %d", script, status);
    layered_note(layered);
    return true;
}

/* One line for each: what became of it, and the path. */
static char *told(const struct apply_result *result)
{
    static const char *const fates[] = {"done",     "merged", "partly",    "left",
                                        "conflict", "barred", "protected", "failed"};
    struct strbuf out = {0};

    vec_each (&result->items, item) {
        strbuf_addf(&out, "%s ", fates[item->fate]);
        strbuf_add_escaped(&out, item->path);
        strbuf_add(&out, "\n");
        ck_assert_msg(item->fate <= APPLY_MERGED || strstr(item->why, item->path) ||
                          strpbrk(item->path, "\n\xff") || item->fate == APPLY_CONFLICT,
                      "%s", item->why);
        ck_assert(item->fate < APPLY_CONFLICT || *item->hint);
    }
    return strbuf_take(&out);
}

static int apply(struct layered *layered, const struct apply_options *options, const char *wanted)
{
    struct apply_result result;
    struct bawn_error err = {0};
    autofree char *text = NULL;
    int r;

    layered_find(layered);
    r = apply_changes(layered->store_fd, &layered->tree, 1, options, &result, &err);
    text = told(&result);
    ck_assert_msg(r == 0 || *err.message, "no message");
    ck_assert_msg(!wanted || strcmp(text, wanted) == 0, "%s(%d %s)--- should be\n%s", text, r,
                  err.message, wanted);
    apply_result_done(&result);
    return r;
}

static int undo(struct layered *layered)
{
    struct apply_result result;
    struct bawn_error err = {0};
    int r = apply_undo(layered->store_fd, &(struct apply_options){0}, &result, &err);

    ck_assert_msg(r == 0 || *err.message, "no message");
    apply_result_done(&result);
    return r;
}

static void unchanged(const struct layered *layered, const char *before)
{
    autofree char *now = layered_picture(layered->lower, LAYERED_INODE);

    ck_assert_str_eq(now, before);
}

#define ALL (&(struct apply_options){0})
#define PATHS(...)                                                                                 \
    .paths = (const char *const[]){__VA_ARGS__},                                                   \
    .path_count = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

START_TEST(what_the_host_changed_since_is_refused)
{
    struct layered layered;
    autofree char *before = NULL;

    if (!begin(&layered,
               "echo a >file; echo b >gone; echo c >same; mkdir -p dir/in; echo >dir/in/x",
               "echo mine >file; rm gone; echo mine >same; echo mine >new; rm -r dir"))
        return;
    layered_must(&layered, "lower",
                 "echo theirs >file; echo theirs >>gone; touch same; echo theirs >new;"
                 "echo theirs >dir/in/y");
    before = layered_picture(layered.lower, LAYERED_INODE);
    ck_assert_int_eq(apply(&layered, ALL,
                           "conflict dir\nconflict file\nconflict gone\nconflict new\ndone same\n"),
                     -ECANCELED);
    unchanged(&layered, before);
    ck_assert_int_eq(apply(&layered, &(struct apply_options){.conflicts = APPLY_THEIRS},
                           "left dir\nleft file\nleft gone\nleft new\ndone same\n"),
                     0);
    layered_must(&layered, "lower",
                 "test \"$(cat file new same)\" = $'theirs\\ntheirs\\nmine'; test -e gone;"
                 "test -e dir/in/y");
    ck_assert_int_eq(apply(&layered, &(struct apply_options){.conflicts = APPLY_MINE},
                           "done dir\ndone file\ndone gone\ndone new\n"),
                     0);
    layered_must(&layered, "lower",
                 "test \"$(cat file new)\" = $'mine\\nmine'; test ! -e gone; test ! -e dir");
    ck_assert_int_eq(undo(&layered), 0);
    layered_must(&layered, "lower",
                 "test \"$(cat file new same)\" = $'theirs\\ntheirs\\nmine'; test -e gone;"
                 "test -e dir/in/y");
    layered_done(&layered);
}
END_TEST

START_TEST(what_the_host_changed_while_the_command_ran_is_refused)
{
    struct layered layered;

    layered_init(&layered, layered_fast_dir(), layered_fast_dir());
    layered_must(&layered, "lower", "echo a >file");
    if (layered_script(&layered, "merged", "echo mine >file") == LAYERED_NO_OVERLAY) {
        layered_done(&layered);
        return;
    }
    layered_must(&layered, "lower", "sleep 0.02; echo theirs >file");
    layered_note(&layered);
    ck_assert_int_eq(apply(&layered, ALL, "conflict file\n"), -ECANCELED);
    layered_done(&layered);
}
END_TEST

START_TEST(without_a_note_it_is_not_known)
{
    struct layered layered;

    layered_init(&layered, layered_fast_dir(), layered_fast_dir());
    layered_must(&layered, "lower", "echo a >file");
    if (layered_script(&layered, "merged", "echo mine >file; echo >new") != LAYERED_NO_OVERLAY)
        ck_assert_int_eq(apply(&layered, ALL, "conflict file\ndone new\n"), -ECANCELED);
    layered_done(&layered);
}
END_TEST

START_TEST(the_first_note_counts)
{
    struct layered layered;

    if (!begin(&layered, "echo a >file", "echo mine >file"))
        return;
    layered_must(&layered, "lower", "echo theirs >file; sleep 0.02");
    layered_must(&layered, "merged", "echo more >>file");
    layered_note(&layered);
    ck_assert_int_eq(apply(&layered, ALL, "conflict file\n"), -ECANCELED);
    layered_done(&layered);
}
END_TEST

#define LINES "for i in 1 2 3 4 5 6 7 8 9; do echo $i; done"

START_TEST(texts_are_merged)
{
    struct layered layered;

    if (!begin(&layered, LINES " >text;" LINES " >clash; printf '\\0a' >binary; echo a >mode",
               "sed -i s/^2/two/ text clash; printf '\\0b' >binary; echo b >mode"))
        return;
    layered_must(&layered, "lower",
                 "sed -i s/^8/eight/ text; sed -i s/^2/ZWEI/ clash;"
                 "printf '\\0c' >binary; chmod 755 mode");
    ck_assert_int_eq(apply(&layered, &(struct apply_options){.conflicts = APPLY_MERGE},
                           "conflict binary\nconflict clash\nmerged mode\nmerged text\n"),
                     -ECANCELED);
    ck_assert_int_eq(apply(&layered,
                           &(struct apply_options){.conflicts = APPLY_MERGE, PATHS("text", "mode")},
                           "merged mode\nmerged text\n"),
                     0);
    layered_must(&layered, "lower",
                 "test \"$(tr -d '\\n' <text)\" = 1two34567eight9; test -x mode;"
                 "test $(cat mode) = b; ! grep -q '<<<' clash");
    layered_done(&layered);
}
END_TEST

START_TEST(only_what_is_selected_is_applied)
{
    struct layered layered;
    autofree char *before = NULL;

    if (!begin(&layered, "mkdir -p old/sub; echo a >old/sub/a; echo b >old/b; echo g >gone",
               "mkdir -p new/deep/er; echo 1 >new/deep/one; echo 2 >new/two; rm gone;"
               "echo x >old/sub/a; echo y >old/b; echo 3 >new/deep/er/three.c; echo >top.c"))
        return;
    before = layered_picture(layered.lower, LAYERED_INODE);
    ck_assert_int_eq(apply(&layered, &(struct apply_options){PATHS("nothing/like/it")}, ""),
                     -ENOENT);
    ck_assert_int_eq(apply(&layered, &(struct apply_options){PATHS("./new/deep/", "gone")},
                           "done gone\ndone new\ndone new/deep\ndone new/deep/er\n"
                           "done new/deep/er/three.c\ndone new/deep/one\n"),
                     0);
    layered_must(&layered, "lower",
                 "test -e new/deep/er/three.c; test ! -e new/two; test ! -e gone");
    ck_assert_int_eq(
        layered_script(&layered, "merged", "test -e new/deep/one; test -e new/two; test ! -e gone"),
        0);
    ck_assert_int_eq(undo(&layered), 0);
    unchanged(&layered, before);
    ck_assert_int_eq(apply(&layered, &(struct apply_options){PATHS("**/*.c")},
                           "done new\ndone new/deep\ndone new/deep/er\n"
                           "done new/deep/er/three.c\ndone top.c\n"),
                     0);
    ck_assert_int_eq(apply(&layered, ALL,
                           "done gone\ndone new/deep/one\ndone new/two\ndone old/b\n"
                           "done old/sub/a\n"),
                     0);
    layered_find(&layered);
    ck_assert_uint_eq(layered.changes.list.count, 0);
    layered_done(&layered);
}
END_TEST

START_TEST(directories_that_hide_stay_whole_until_all_is_applied)
{
    struct layered layered;

    if (!begin(&layered, "mkdir dir; echo a >dir/a; echo b >dir/b",
               "rm -r dir; mkdir dir; echo x >dir/a; echo y >dir/c"))
        return;
    ck_assert_int_eq(apply(&layered, &(struct apply_options){PATHS("dir/a")}, "done dir/a\n"), 0);
    ck_assert_int_eq(layered_script(&layered, "merged", "test \"$(ls dir | xargs)\" = 'a c'"), 0);
    ck_assert_int_eq(apply(&layered, ALL, "done dir/b\ndone dir/c\n"), 0);
    layered_must(&layered, "lower", "test \"$(ls dir | xargs)\" = 'a c'; test $(cat dir/a) = x");
    layered_done(&layered);
}
END_TEST

static const char *protect(void *context, const char *path, mode_t mode)
{
    (void)mode;
    (void)context;
    return strstr(path, "/.git") ? "programs run what is in it" : NULL;
}

START_TEST(protected_names_need_a_word_more)
{
    struct layered layered;
    struct apply_options options = {.is_protected = protect};

    if (!begin(&layered, "mkdir -p has/.git; echo a >has/.git/config; echo >file; mkdir old",
               "echo >.gitmodules; mkdir -p .git/hooks; echo >.git/hooks/run; rm -r has;"
               "mv file old/.gitconfig"))
        return;
    ck_assert_int_eq(apply(&layered, &options,
                           "protected .git\nleft .git/hooks\nleft .git/hooks/run\n"
                           "protected .gitmodules\ndone file\nprotected has\n"
                           "protected old/.gitconfig\n"),
                     -ECANCELED);
    options.allow_protected = true;
    ck_assert_int_eq(apply(&layered, &options, NULL), 0);
    layered_must(&layered, "lower", "test -e .git/hooks/run; test ! -e has");
    layered_done(&layered);
}
END_TEST

START_TEST(what_is_barred_is_never_made)
{
    struct layered layered;

    if (!begin(&layered, "echo a >file",
               "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")';"
               "cp /bin/true tool; chmod 4755 tool; chmod 2755 file; echo >fine"))
        return;
    ck_assert_int_eq(apply(&layered, ALL, "barred file\ndone fine\nbarred sock\nbarred tool\n"),
                     -ECANCELED);
    ck_assert_int_eq(apply(&layered, &(struct apply_options){.skip_barred = true},
                           "left file\ndone fine\nleft sock\nleft tool\n"),
                     0);
    layered_must(&layered, "lower", "test -e fine; test ! -e tool; test ! -e sock; test ! -g file");
    layered_done(&layered);
}
END_TEST

START_TEST(what_belongs_to_files_is_kept)
{
    struct layered layered;

    if (!begin(&layered, "true",
               "echo x >one; ln one two; mkdir d; ln one d/three; truncate -s 10M holes;"
               "echo end >>holes; touch -d '2001-02-03 04:05:06.789' one; chmod 640 one;"
               "python3 -c 'import os; os.setxattr(\"holes\", \"user.k\", b\"v\")';"
               "ln -s /etc/passwd out; touch -hd '2002-02-02' out"))
        return;
    ck_assert_int_eq(apply(&layered, ALL, NULL), 0);
    layered_must(&layered, "lower",
                 "test one -ef two; test one -ef d/three; test $(stat -c %h one) = 3;"
                 "test $(stat -c %b holes) -lt 100; test $(stat -c %s holes) = 10485764;"
                 "test \"$(stat -c %a.%y one | cut -c 1-27)\" = '640.2001-02-03 04:05:06.789';"
                 "test \"$(readlink out)\" = /etc/passwd; stat -c %y out | grep -q ^2002;"
                 "python3 -c 'import os; assert os.getxattr(\"holes\", \"user.k\") == b\"v\"'");
    layered_done(&layered);
}
END_TEST

START_TEST(what_somebody_changed_is_not_taken_back)
{
    struct layered layered;

    if (!begin(&layered, "echo a >file; echo b >gone", "echo x >file; rm gone; mkdir d; echo >d/f"))
        return;
    ck_assert_int_eq(undo(&layered), -ENODATA);
    ck_assert_int_eq(apply(&layered, ALL, NULL), 0);
    layered_must(&layered, "lower", "echo more >d/g");
    ck_assert_int_eq(undo(&layered), -ECANCELED);
    layered_must(&layered, "lower", "rm d/g; echo >gone");
    ck_assert_int_eq(undo(&layered), -ECANCELED);
    layered_must(&layered, "lower", "rm gone; touch file");
    ck_assert_int_eq(undo(&layered), 0);
    layered_must(&layered, "lower", "test $(cat file) = a; test $(cat gone) = b; test ! -e d");
    ck_assert_int_eq(undo(&layered), -ENODATA);
    layered_done(&layered);
}
END_TEST

/* A directory outside, which everything hostile aims at. */
static void hostile(const char *lower_script, const char *upper_script, bool is_mine)
{
    struct layered layered;
    autofree char *outside = NULL, *after = NULL;
    char path[LAYERED_DIR_BYTES + 16];

    layered_init(&layered, layered_fast_dir(), layered_fast_dir());
    layered_must(&layered, ".",
                 "mkdir outside outside/d; echo witness >outside/file;"
                 "echo witness >outside/d/file");
    (void)snprintf(path, sizeof(path), "%s/outside", layered.dir);
    outside = layered_picture(path, LAYERED_INODE);
    layered_must(&layered, "lower", lower_script);
    layered_must(&layered, "upper", upper_script);
    for (unsigned i = 0; i < 2; i++) {
        struct apply_options options = {.conflicts = is_mine ? APPLY_MINE : APPLY_THEIRS,
                                        .skip_barred = true};

        (void)apply(&layered, &options, NULL);
        after = layered_picture(path, LAYERED_INODE);
        ck_assert_str_eq(after, outside);
        free(take_ptr(&after));
        layered_must(&layered, "lower", "test -z \"$(find . -name '.bawn-apply*[1-9a-f]*')\"");
        (void)undo(&layered);
        after = layered_picture(path, LAYERED_INODE);
        ck_assert_str_eq(after, outside);
        free(take_ptr(&after));
    }
    layered_done(&layered);
}

START_TEST(nothing_lands_outside)
{
    static const struct {
        const char *lower, *upper;
    } cases[] = {
        /* A link where the other side has a directory. */
        {"ln -s ../outside d", "mkdir d; echo evil >d/file; mkdir d/d; echo evil >d/d/file"},
        {"mkdir -p d/d; echo >d/file", "ln -s ../../../outside d"},
        {"ln -s ../outside/file f; ln -s ../outside d", "echo evil >f; mkdir -p d/x/y"},
        {"mkdir d; ln -s ../../outside d/in",
         "mkdir -p d/in; echo evil >d/in/new; echo >d/in/file"},
        {"true", "ln -s ../../outside a; ln -s a b; ln -s b/file c; echo >d"},
        /* FIFOs and sockets, nobody at the other end. */
        {"mkfifo f; echo >g; mkfifo both", "echo x >f; mkfifo g; mkfifo both; mkfifo new"},
        /* Names. */
        {"true", "mkdir -- -rf '*' ' ' $'\\n' $'\\033[2J'; n=$(printf %0255d 7); mkdir $n;"
                 "echo x >$n/$n; echo >.bawn-apply-0000000000000000-0; echo >$'..\\n'; echo >...; "
                 "mkdir .wh.x"},
        /* Deep. */
        {"true", "for i in $(seq 1 300); do mkdir a; cd a; done; echo >file"},
        /* Forged marks. */
        {"mkdir d; echo >d/file; echo >f",
         "mkdir d; python3 -c 'import os\n"
         "for n in (\"opaque\", \"redirect\", \"metacopy\", \"origin\", \"whiteout\", "
         "\"protattr\"):\n"
         "  os.setxattr(\"d\", \"user.overlay.\" + n, b\"y\")\n"
         "  open(\"f\", \"w\").close()\n"
         "  os.setxattr(\"f\", \"user.overlay.\" + n, b\"/../outside/file\")'"},
        {"mkdir d; echo >d/f", "mkdir d; chmod 0 d; echo >s; chmod 0 s"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hostile(cases[i].lower, cases[i].upper, true);
        hostile(cases[i].lower, cases[i].upper, false);
    }
    if (geteuid() != 0)
        return;
    hostile("echo >f; mkdir d; echo >d/x",
            "mknod n c 1 5; mknod f c 1 3; mknod d b 8 0; mkdir e;"
            "mknod e/w c 0 0; mknod w c 0 0",
            true);
    hostile("mkdir -p d/e; echo >d/e/f", "mkdir d; mknod d/e c 0 0; mkdir w; mknod w/w c 0 0",
            true);
}
END_TEST

START_TEST(several_trees_are_one_apply)
{
    struct layered one, other;
    struct apply_tree trees[2];
    struct apply_result result;
    struct bawn_error err = {0};
    char path[2 * LAYERED_DIR_BYTES];
    autofree char *before = NULL;

    if (!begin(&one, "echo a >file", "echo x >file; echo >new"))
        return;
    ck_assert(begin(&other, "echo b >file; echo c >gone", "echo y >file; rm gone"));
    /* The second layer is number 2 of the first one's store. */
    (void)snprintf(path, sizeof(path), "%s/2", one.store);
    (void)snprintf(other.store + strlen(other.store), sizeof(other.store) - strlen(other.store),
                   "/1");
    ck_assert_int_eq(rename(other.store, path), 0);
    trees[0] = one.tree;
    trees[1] = other.tree;
    trees[1].number = 2;
    before = layered_picture(one.lower, LAYERED_INODE);
    layered_must(&other, "lower", "echo theirs >file");
    ck_assert_int_eq(apply_changes(one.store_fd, trees, 2, ALL, &result, &err), -ECANCELED);
    apply_result_done(&result);
    unchanged(&one, before);
    layered_must(&other, "lower", "echo b >file");
    changes_done(&other.changes);
    ck_assert_int_eq(changes_find(&other.tree.tree, &other.changes, &err), 0);
    ck_assert_msg(apply_changes(one.store_fd, trees, 2, ALL, &result, &err) == 0, "%s",
                  err.message);
    ck_assert_uint_eq(result.done, 4);
    apply_result_done(&result);
    layered_must(&one, "lower", "test $(cat file) = x; test -e new");
    layered_must(&other, "lower", "test $(cat file) = y; test ! -e gone");
    ck_assert_int_eq(undo(&one), 0);
    unchanged(&one, before);
    layered_must(&other, "lower", "test $(cat file) = b; test $(cat gone) = c");
    layered_done(&other);
    layered_done(&one);
}
END_TEST

START_TEST(owners_stay_and_set_id_bits_do_not)
{
    struct layered layered;

    if (geteuid() != 0)
        return; /* root's alone */
    layered_init(&layered, layered_fast_dir(), layered_fast_dir());
    layered_must(&layered, "lower",
                 "echo a >file; chown 1:2 file; chmod 6755 file; mkdir d;"
                 "chmod 2775 d; chown :3 d");
    layered_must(&layered, "upper",
                 "echo b >file; chmod 755 file; echo n >new; chown 4:5 new; mkdir d;"
                 "chmod 2775 d; chown :3 d; mkdir d/in; chown :3 d/in; chmod 2755 d/in");
    ck_assert_int_eq(apply(&layered, &(struct apply_options){.conflicts = APPLY_MINE},
                           "done d/in\ndone file\ndone new\n"),
                     0);
    layered_must(&layered, "lower",
                 "test $(stat -c %u:%g:%a file) = 1:2:755; test $(stat -c %u:%g new) = 4:5;"
                 "test $(stat -c %g:%a d/in) = 3:2755");
    ck_assert_int_eq(undo(&layered), 0);
    layered_must(&layered, "lower", "test $(stat -c %u:%g:%a file) = 1:2:6755; test ! -e d/in");
    layered_done(&layered);
}
END_TEST

#define LIST                                                                                       \
    "import os, struct\n"                                                                          \
    "def acl(uid): return struct.pack(\"<I\", 2) + b\"\".join(struct.pack(\"<HHI\", *e) for e in " \
    "[(1, 7, 2**32-1), (2, 7, uid), (4, 5, 2**32-1), (16, 7, 2**32-1), (32, 0, 2**32-1)])\n"

START_TEST(access_lists_are_those_of_the_layer)
{
    struct layered layered;

    layered_init(&layered, layered_slow_dir(), layered_slow_dir());
    layered_must(&layered, "lower",
                 "mkdir d; python3 -c '" LIST
                 "os.setxattr(\"d\", \"system.posix_acl_default\", acl(7))'");
    layered_must(&layered, "upper",
                 "mkdir d; python3 -c '" LIST
                 "os.setxattr(\"d\", \"system.posix_acl_default\", acl(7))';"
                 "mkdir d/in; echo >d/plain; chmod 640 d/plain; python3 -c '" LIST
                 "os.removexattr(\"d/plain\", \"system.posix_acl_access\")';"
                 "chmod 640 d/plain; echo >listed; python3 -c '" LIST
                 "os.setxattr(\"listed\", \"system.posix_acl_access\", acl(8))'");
    ck_assert_int_eq(apply(&layered, ALL, "done d/in\ndone d/plain\ndone listed\n"), 0);
    layered_must(&layered, "lower",
                 "test $(stat -c %a d/plain) = 640; python3 -c '" LIST
                 "assert os.getxattr(\"listed\", \"system.posix_acl_access\") == acl(8)\n"
                 "assert os.getxattr(\"d/in\", \"system.posix_acl_default\") == acl(7)\n"
                 "assert not os.listxattr(\"d/plain\")'");
    layered_done(&layered);
}
END_TEST

struct somebody {
    struct layered *layered;
    const char *script;
    unsigned at;
};

static void interfere(void *context)
{
    struct somebody *somebody = context;

    if (somebody->at > 0 && --somebody->at == 0)
        layered_must(somebody->layered, "lower", somebody->script);
}

START_TEST(who_changes_the_tree_meanwhile_gets_nothing_written_elsewhere)
{
    static const char *const scripts[] = {
        "mv d e; ln -s ../outside d",  "mv d/sub ..; ln -s ../../outside d/sub",
        "rm -r d; ln -s ../outside d", "echo theirs >>d/file",
        "mv d e; mv ../outside d", /* another directory of that name */
    };

    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
        for (unsigned step = 1; step < 30; step++) {
            struct layered layered;
            struct somebody somebody = {&layered, scripts[i], step};
            struct apply_options options = {.step = interfere, .step_context = &somebody};
            enum apply_recovered recovered;
            struct bawn_error err = {0};
            int r;
            autofree char *outside = NULL, *after = NULL;
            char path[LAYERED_DIR_BYTES + 16];

            if (!begin(&layered, "mkdir -p d/sub; echo a >d/file; echo b >d/sub/file",
                       "echo x >d/file; rm d/sub/file; echo y >d/sub/new; echo z >d/new; "
                       "chmod 711 d/sub"))
                return;
            layered_must(&layered, ".",
                         "mkdir -p outside/sub; echo witness >outside/file; "
                         "chmod 700 outside/sub; echo too >outside/sub/file");
            (void)snprintf(path, sizeof(path), "%s/outside", layered.dir);
            outside = layered_picture(path, LAYERED_INODE);
            (void)apply(&layered, &options, NULL);
            /* With the directory back where it was, what was broken off can be ended. */
            (void)layered_script(&layered, "lower",
                                 "if test -e ../sub; then rm d/sub; mv ../sub d; fi;"
                                 "if test -e e; then if test -L d; then rm d; else "
                                 "mv d ../outside; fi; mv e d; fi");
            r = apply_recover(layered.store_fd, NULL, &recovered, &err);
            ck_assert_msg(i == 2 || r == 0, "%s, step %u: %s", scripts[i], step, err.message);
            if (r < 0)
                ck_assert_int_eq(apply_abandon(layered.store_fd, &err), 0);
            ck_assert_int_eq(apply_recover(layered.store_fd, NULL, &recovered, &err), 0);
            if (i < 2 || i == 4)
                layered_must(&layered, "lower",
                             "now=$(cat d/file d/sub/* d/new 2>&1 | tr -d '\\n'); case $now in "
                             "ab*new*|xyz) ;; *) echo \"$now\"; exit 1;; esac");
            after = layered_picture(path, LAYERED_INODE);
            ck_assert_str_eq(after, outside);
            if (i == 3)
                layered_must(&layered, "lower",
                             "test \"$(cat d/file)\" = x -o "
                             "\"$(cat d/file)\" = $'a\\ntheirs' -o "
                             "\"$(cat d/file)\" = $'x\\ntheirs'");
            layered_done(&layered);
        }
}
END_TEST

START_TEST(what_somebody_puts_there_meanwhile_is_never_lost)
{
    static const struct {
        const char *script, *check;
    } cases[] = {
        {"test ! -d d || { echo work >d/work && touch did; }", "test ! -e did -o -e d/work"},
        {"test ! -d r || { echo work >r/work && touch did; }", "test ! -e did -o -e r/work"},
        {"test ! -d r/in || { echo work >>r/in/x && touch did; }",
         "test ! -e did || grep -q work r/in/x"},
        {"echo host >t; mv t f", "test \"$(cat f)\" = host"},
        {"echo host >t; mv t gone", "test \"$(cat gone)\" = host"},
        {"echo host >new", "test \"$(cat new)\" = host"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (unsigned step = 1; step < 40; step++) {
            struct layered layered;
            struct somebody somebody = {&layered, cases[i].script, step};
            struct apply_options options = {.step = interfere, .step_context = &somebody};
            enum apply_recovered recovered;

            if (!begin(&layered,
                       "mkdir -p d r/in; echo a >d/a; echo x >r/in/x; echo f >f; echo g >gone",
                       "rm -r d r; echo file >r; echo mine >f; rm gone; echo mine >new"))
                return;
            (void)apply(&layered, &options, NULL);
            ck_assert_int_eq(apply_recover(layered.store_fd, NULL, &recovered, NULL), 0);
            if (somebody.at == 0)
                layered_must(&layered, "lower", cases[i].check);
            layered_done(&layered);
        }
}
END_TEST

/* As root only: a small file system is the tree. */
START_TEST(a_full_disk_leaves_the_tree_as_it_was)
{
    struct layered layered;
    autofree char *before = NULL, *after = NULL;

    if (geteuid() != 0)
        return; /* root's alone */
    layered_init(&layered, layered_fast_dir(), layered_fast_dir());
    if (mount("tmpfs", layered.lower, "tmpfs", 0, "size=1m,mode=755") < 0) {
        test_skip("apply_full", "mounts a file system");
        return;
    }
    (void)close(layered.tree.tree.lower_fd);
    layered.tree.tree.lower_fd = open(layered.lower, O_PATH | O_DIRECTORY | O_CLOEXEC);
    layered_must(&layered, "lower", "echo a >a; echo b >b; head -c 300000 /dev/urandom >big");
    if (layered_script(&layered, "merged",
                       "echo x >a; rm b; mkdir d; for i in 1 2 3 4 5; do head -c 250000 "
                       "/dev/urandom >d/$i; done; head -c 400000 /dev/urandom >big") == 0) {
        layered_note(&layered);
        before = layered_picture(layered.lower, LAYERED_INODE);
        ck_assert_int_eq(apply(&layered, ALL, NULL), -ENOSPC);
        unchanged(&layered, before);
        free(before);
        before = layered_picture(layered.lower, LAYERED_EXACT); /* copies are other inodes */
        ck_assert_int_eq(apply(&layered, &(struct apply_options){PATHS("a", "b", "d/1")}, NULL), 0);
        ck_assert_int_eq(undo(&layered), 0);
        after = layered_picture(layered.lower, LAYERED_EXACT);
        ck_assert_str_eq(after, before);
    }
    (void)close(layered.tree.tree.lower_fd);
    ck_assert_int_eq(umount(layered.lower), 0);
    layered.tree.tree.lower_fd = open(layered.lower, O_PATH | O_DIRECTORY | O_CLOEXEC);
    layered_done(&layered);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("apply");
    TCase *tcase = tcase_create("apply");

    tcase_add_test(tcase, what_the_host_changed_since_is_refused);
    tcase_add_test(tcase, what_the_host_changed_while_the_command_ran_is_refused);
    tcase_add_test(tcase, without_a_note_it_is_not_known);
    tcase_add_test(tcase, the_first_note_counts);
    tcase_add_test(tcase, texts_are_merged);
    tcase_add_test(tcase, only_what_is_selected_is_applied);
    tcase_add_test(tcase, directories_that_hide_stay_whole_until_all_is_applied);
    tcase_add_test(tcase, protected_names_need_a_word_more);
    tcase_add_test(tcase, what_is_barred_is_never_made);
    tcase_add_test(tcase, what_belongs_to_files_is_kept);
    tcase_add_test(tcase, what_somebody_changed_is_not_taken_back);
    tcase_add_test(tcase, nothing_lands_outside);
    tcase_add_test(tcase, several_trees_are_one_apply);
    tcase_add_test(tcase, owners_stay_and_set_id_bits_do_not);
    tcase_add_test(tcase, access_lists_are_those_of_the_layer);
    tcase_add_test(tcase, who_changes_the_tree_meanwhile_gets_nothing_written_elsewhere);
    tcase_add_test(tcase, what_somebody_puts_there_meanwhile_is_never_lost);
    tcase_add_test(tcase, a_full_disk_leaves_the_tree_as_it_was);
    suite_add_tcase(suite, tcase);
    return layered_test_run(suite, "apply");
}
