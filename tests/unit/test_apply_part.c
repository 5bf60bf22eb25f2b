/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked about, and what becomes of files that are taken in part. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "lib/layered.h"
#include "lib/test.h"
#include "overlay/pieces.h"

#include <errno.h>
#include <fcntl.h>
#include <git2/global.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool begin(struct layered *layered, const char *lower_script, const char *script)
{
    int status;

    ck_assert_int_gt(git_libgit2_init(), 0);
    layered_init(layered, layered_fast_dir(), layered_fast_dir());
    layered_must(layered, "lower", lower_script);
    status = layered_script(layered, "merged", script);
    if (status == LAYERED_NO_OVERLAY) {
        test_skip("apply_part", "no overlay in a user namespace");
        layered_done(layered);
        return false;
    }
    ck_assert_msg(status == 0, "%s: exit status %d", script, status);
    layered_note(layered);
    return true;
}

/* What is answered: "y" and "n" for each piece of each change in turn, ' ' between the changes; "s"
 * before the others splits each hunk. What was asked is written down. */
struct script {
    const char *answers;
    struct strbuf asked;
    const char *edited;      /* the first hunk, or NULL */
    const char *host_script; /* run when something is asked about, or NULL */
    struct layered *layered;
};

static void split_all(struct pieces *pieces)
{
    for (size_t i = 0; i < pieces->hunks.list.count; i++)
        ck_assert_int_eq(hunks_split(&pieces->hunks, i), 0);
}

static int choose(void *context, const struct apply_asked *asked, struct apply_part *ret_part,
                  struct bawn_error *err)
{
    static const char letters[] = {'h', 'm', 'x', 'A', 'D', 'R', 'T', 'c'};
    const struct show_options options = {.form = SHOW_TEXT};
    struct script *script = context;
    struct pieces pieces;
    int r = pieces_make(asked, &options, false, &pieces, err);

    ck_assert_msg(r == 0, "%s", err->message);
    if (*script->answers == 's') {
        split_all(&pieces);
        script->answers++;
    }
    strbuf_addf(&script->asked, "%s:", asked->change->path);
    if (script->edited)
        ck_assert_int_eq(
            hunks_edit(&pieces.hunks, 0, &pieces.before, script->edited, strlen(script->edited)),
            1);
    for (size_t i = 0; i < pieces_count(&pieces); i++) {
        autostrbuf struct strbuf shown = {0};

        strbuf_addf(&script->asked, "%c", letters[pieces_kind(&pieces, i)]);
        ck_assert_int_eq(pieces_show(&pieces, i, &options, &shown), 0);
        ck_assert(shown.length > 0);
        ck_assert_msg(strchr("yn", *script->answers) && *script->answers, "too few answers: %s",
                      script->asked.text);
        *pieces_use(&pieces, i) = *script->answers++ == 'y' ? HUNK_TAKEN : HUNK_LEFT;
    }
    strbuf_add(&script->asked, " ");
    ck_assert_msg(*script->answers == ' ' || !*script->answers, "too many answers: %s",
                  script->asked.text);
    script->answers += *script->answers == ' ';
    r = pieces_conclude(&pieces, asked, ret_part);
    pieces_done(&pieces);
    if (script->host_script)
        layered_must(script->layered, "lower", script->host_script);
    return r;
}

static char *told(const struct apply_result *result)
{
    static const char *const fates[] = {"done",     "merged", "partly",    "left",
                                        "conflict", "barred", "protected", "failed"};
    struct strbuf out = {0};

    vec_each (&result->items, item)
        strbuf_addf(&out, "%s%s%s %s\n", fates[item->fate], item->fate == APPLY_LEFT ? "/" : "",
                    item->fate == APPLY_LEFT ? fates[item->cause] : "", item->path);
    return strbuf_take(&out);
}

/* What is asked, answered, and told. */
static int apply(struct layered *layered, struct apply_options options, struct script *script,
                 const char *asked, const char *wanted)
{
    struct apply_result result;
    struct bawn_error err = {0};
    autofree char *text = NULL;
    int r;

    layered_find(layered);
    script->layered = layered;
    options.choose = choose;
    options.choose_context = script;
    r = apply_changes(layered->store_fd, &layered->tree, 1, &options, &result, &err);
    text = told(&result);
    ck_assert_str_eq(script->asked.text ? script->asked.text : "", asked);
    ck_assert_msg(strcmp(text, wanted) == 0, "%s(%d %s)--- should be\n%s", text, r, err.message,
                  wanted);
    apply_result_done(&result);
    strbuf_done(&script->asked);
    return r;
}

#define ANSWERS(text) (&(struct script){.answers = (text)})
#define PLAIN         ((struct apply_options){0})

static void undo(struct layered *layered)
{
    struct apply_result result;
    struct bawn_error err = {0};
    int r = apply_undo(layered->store_fd, &(struct apply_options){0}, &result, &err);

    ck_assert_msg(r == 0, "%s", err.message);
    apply_result_done(&result);
}

/* Without questions. */
static int apply_rest(struct layered *layered, enum apply_conflicts conflicts)
{
    const struct apply_options options = {.conflicts = conflicts};
    struct apply_result result;
    int r;

    layered_find(layered);
    r = apply_changes(layered->store_fd, &layered->tree, 1, &options, &result, NULL);
    apply_result_done(&result);
    return r;
}

static void host_must(struct layered *layered, const char *script)
{
    layered_must(layered, "lower", script);
}

START_TEST(some_hunks_are_taken_and_the_rest_can_follow)
{
    struct layered layered;
    autofree char *before = NULL, *after = NULL;

    if (!begin(&layered, "seq 40 >f; chmod 640 f",
               "sed -i 's/^3$/x/;s/^5$/y/;s/^30$/z/' f; chmod 755 f"))
        return;
    before = layered_picture(layered.lower, LAYERED_INODE);
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("snynn"), "f:mhhh ", "partly f\n"), 0);
    host_must(&layered,
              "test \"$(sed -n '3p;5p;30p' f)\" = $'x\\n5\\n30'; test $(stat -c %a f) = 640");
    undo(&layered);
    after = layered_picture(layered.lower, LAYERED_INODE);
    ck_assert_str_eq(before, after);
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("nyn"), "f:mhh ", "partly f\n"), 0);
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("yn"), "f:mh ", "partly f\n"), 0);
    host_must(&layered,
              "test \"$(sed -n '3p;5p;30p' f)\" = $'x\\ny\\n30'; test $(stat -c %a f) = 755");
    ck_assert_int_eq(apply_rest(&layered, APPLY_REFUSE), 0);
    host_must(&layered, "test \"$(sed -n '3p;5p;30p' f)\" = $'x\\ny\\nz'");
    layered_find(&layered);
    ck_assert_uint_eq(layered.changes.list.count, 0);
    layered_done(&layered);
}
END_TEST

START_TEST(what_the_host_changes_after_a_part_is_a_conflict_that_merges)
{
    struct layered layered;

    if (!begin(&layered, "seq 40 >f", "sed -i 's/^3$/x/;s/^30$/z/' f"))
        return;
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("yn"), "f:hh ", "partly f\n"), 0);
    host_must(&layered, "sed -i 's/^18$/host/' f");
    ck_assert_int_eq(apply_rest(&layered, APPLY_REFUSE), -ECANCELED);
    ck_assert_int_eq(apply_rest(&layered, APPLY_MERGE), 0);
    host_must(&layered, "test \"$(sed -n '3p;18p;30p' f)\" = $'x\\nhost\\nz'");
    layered_done(&layered);
}
END_TEST

START_TEST(a_part_of_what_was_merged_leaves_the_rest_to_be_merged)
{
    struct layered layered;
    autofree char *before = NULL, *after = NULL;

    if (!begin(&layered, "seq 40 >f; chmod 600 f",
               "sed -i 's/^3$/x/;s/^5$/y/;s/^30$/z/' f; chmod 644 f"))
        return;
    host_must(&layered, "sed -i 's/^18$/host/' f");
    before = layered_picture(layered.lower, LAYERED_INODE);
    ck_assert_int_eq(apply(&layered, (struct apply_options){.conflicts = APPLY_MERGE},
                           ANSWERS("snynn"), "f:mhhh ", "partly f\n"),
                     0);
    host_must(&layered, "test \"$(sed -n '3p;5p;18p;30p' f)\" = $'x\\n5\\nhost\\n30'");
    /* The session's file as it is would take the host's line away. */
    ck_assert_int_eq(apply_rest(&layered, APPLY_REFUSE), -ECANCELED);
    ck_assert_int_eq(apply_rest(&layered, APPLY_MERGE), 0);
    host_must(&layered, "test \"$(sed -n '3p;5p;18p;30p' f)\" = $'x\\ny\\nhost\\nz';"
                        "test $(stat -c %a f) = 644");
    undo(&layered);
    host_must(&layered, "test \"$(sed -n '3p;5p;18p;30p' f)\" = $'x\\n5\\nhost\\n30'");
    ck_assert_int_eq(apply_rest(&layered, APPLY_REFUSE), -ECANCELED);
    ck_assert_int_eq(apply_rest(&layered, APPLY_MERGE), 0);
    host_must(&layered, "test \"$(sed -n '3p;5p;18p;30p' f)\" = $'x\\ny\\nhost\\nz'");
    after = layered_picture(layered.lower, LAYERED_INODE);
    ck_assert_str_ne(before, after);
    layered_done(&layered);
}
END_TEST

START_TEST(an_edited_part_of_what_was_merged_leaves_the_rest_to_be_merged)
{
    struct layered layered;
    struct script script = {.answers = "y", .edited = "@@ -3,3 +3 @@\n-3\n+x\n 4\n 5\n"};

    if (!begin(&layered, "seq 40 >f", "sed -i 's/^3$/x/;s/^4$/y/;s/^5$/z/' f"))
        return;
    host_must(&layered, "sed -i 's/^18$/host/' f");
    ck_assert_int_eq(apply(&layered, (struct apply_options){.conflicts = APPLY_MERGE}, &script,
                           "f:h ", "partly f\n"),
                     0);
    host_must(&layered, "test \"$(sed -n '3p;4p;5p;18p' f | xargs)\" = 'x 4 5 host'");
    /* The old base would have both sides change the same lines. */
    ck_assert_int_eq(apply_rest(&layered, APPLY_MERGE), 0);
    host_must(&layered, "test \"$(sed -n '3p;4p;5p;18p' f | xargs)\" = 'x y z host'");
    layered_done(&layered);
}
END_TEST

START_TEST(all_of_what_was_merged_is_merged)
{
    struct layered layered;

    if (!begin(&layered, "seq 40 >f", "sed -i 's/^3$/x/;s/^30$/z/' f"))
        return;
    host_must(&layered, "sed -i 's/^18$/host/' f");
    ck_assert_int_eq(apply(&layered, (struct apply_options){.conflicts = APPLY_MERGE},
                           ANSWERS("syy"), "f:hh ", "merged f\n"),
                     0);
    host_must(&layered, "test \"$(sed -n '3p;18p;30p' f)\" = $'x\\nhost\\nz'");
    layered_find(&layered);
    ck_assert_uint_eq(layered.changes.list.count, 0);
    layered_done(&layered);
}
END_TEST

START_TEST(a_part_of_what_wins_over_the_hosts_is_where_the_rest_starts)
{
    struct layered layered;

    if (!begin(&layered, "seq 40 >f", "sed -i 's/^3$/x/;s/^30$/z/' f"))
        return;
    host_must(&layered, "sed -i 's/^18$/host/' f");
    ck_assert_int_eq(apply(&layered, (struct apply_options){.conflicts = APPLY_MINE},
                           ANSWERS("ynn"), "f:hhh ", "partly f\n"),
                     0);
    host_must(&layered, "test \"$(sed -n '3p;18p;30p' f)\" = $'x\\nhost\\n30'");
    ck_assert_int_eq(apply_rest(&layered, APPLY_REFUSE), 0);
    host_must(&layered, "test \"$(sed -n '3p;18p;30p' f)\" = $'x\\n18\\nz'");
    layered_done(&layered);
}
END_TEST

static const char *protect(void *context, const char *path, mode_t mode)
{
    (void)mode;
    (void)context;
    return strstr(path, "hooks") ? "programs run it" : NULL;
}

START_TEST(what_cannot_be_taken_is_left_and_stops_nothing)
{
    struct layered layered;

    if (!begin(&layered, "echo a >f; echo b >g; mkdir hooks",
               "echo mine >f; echo mine >g; echo evil >hooks/x; echo >s; chmod 4755 s"))
        return;
    host_must(&layered, "echo theirs >f");
    ck_assert_int_eq(apply(&layered, (struct apply_options){.is_protected = protect}, ANSWERS("y"),
                           "g:h ",
                           "left/conflict f\ndone g\nleft/protected hooks/x\nleft/barred s\n"),
                     0);
    host_must(&layered, "test \"$(cat f g)\" = $'theirs\\nmine'; test ! -e hooks/x; test ! -e s");
    layered_done(&layered);
}
END_TEST

START_TEST(directories_come_with_what_is_in_them_and_only_then)
{
    struct layered layered;

    if (!begin(&layered, "echo >was; echo >gone",
               "mkdir -p a/b/c d/e empty; echo 1 >a/b/c/f; echo 2 >a/g; echo 3 >d/e/f; rm was;"
               "mkdir was; echo 4 >was/f; rm gone"))
        return;
    ck_assert_int_eq(
        apply(&layered, PLAIN, ANSWERS("y n n n n n"),
              "a/b/c/f:A a/g:A d/e/f:A empty:A gone:D was:T ",
              "done a\ndone a/b\ndone a/b/c\ndone a/b/c/f\nleft/left a/g\nleft/left d\n"
              "left/left d/e\nleft/left d/e/f\nleft/left empty\nleft/left gone\nleft/left was\n"
              "left/left was/f\n"),
        0);
    host_must(&layered, "test \"$(find . | sort | tr '\\n' ' ')\" = "
                        "'. ./a ./a/b ./a/b/c ./a/b/c/f ./gone ./was '; test -f was");
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("y y n n y y"),
                           "a/g:A d/e/f:A empty:A gone:D was:T was/f:A ",
                           "done a/g\ndone d\ndone d/e\ndone d/e/f\nleft/left empty\n"
                           "left/left gone\ndone was\ndone was/f\n"),
                     0);
    host_must(&layered, "test -e was/f -a -e gone -a ! -e empty -a -e d/e/f");
    layered_done(&layered);
}
END_TEST

START_TEST(a_move_is_one_question)
{
    struct layered layered;

    if (!begin(&layered, "seq 100 >one; seq 200 >two; seq 300 >three",
               "mv one new1; mv two new2; mkdir d; mv three d/three"))
        return;
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("n y n"), "d/three:R new1:R new2:R ",
                           "left/left d\nleft/left d/three\ndone new1\nleft/left new2\ndone one\n"
                           "left/left three\nleft/left two\n"),
                     0);
    host_must(&layered, "test \"$(echo *)\" = 'new1 three two'");
    /* Of one whose other side is not selected. */
    ck_assert_int_eq(
        apply(&layered,
              (struct apply_options){.paths = (const char *const[]){"two"}, .path_count = 1},
              ANSWERS("y"), "two:D ", "done two\n"),
        0);
    host_must(&layered, "test \"$(echo *)\" = 'new1 three'");
    layered_done(&layered);
}
END_TEST

START_TEST(what_moves_into_a_directory_that_is_not_wanted_is_asked_about_as_a_deletion)
{
    struct layered layered;

    if (!begin(&layered, "seq 100 >a; seq 300 >z; echo >d", "rm d; mkdir d; mv a d/a; mv z d/z"))
        return;
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("n n y"), "d:T a:D z:D ",
                           "left/left a\nleft/left d\nleft/left d/a\nleft/left d/z\ndone z\n"),
                     0);
    host_must(&layered, "test \"$(echo *)\" = 'a d'; test -f d");
    layered_done(&layered);
}
END_TEST

START_TEST(mode_attributes_and_content_without_lines_are_pieces)
{
    struct layered layered;

    if (!begin(&layered,
               "for i in 1 2 3; do printf 'a\\0b' >b$i; chmod 600 b$i; done; ln -s a l; mkfifo p;"
               "truncate -s 9M big; chmod 600 big; mkdir dir; echo >only",
               "for i in 1 2 3; do printf 'new\\0' >b$i; chmod 755 b$i; done; ln -sfn b l;"
               "chmod 600 p; echo x >>big; chmod 644 big; chmod 700 dir; chmod 600 only"))
        return;
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("yn ny nn yn n y y n"),
                           "b1:mc b2:mc b3:mc big:mc dir:m l:c only:m p:m ",
                           "partly b1\npartly b2\nleft/left b3\npartly big\nleft/left dir\ndone l\n"
                           "done only\nleft/left p\n"),
                     0);
    host_must(
        &layered,
        "test \"$(stat -c %a b1 b2 b3 big dir only | tr '\\n' ' ')\" = '755 600 600 644 755 600 ';"
        "test $(stat -c %s b1) = 3; test $(stat -c %s b2) = 4; test $(stat -c %s big) = "
        "9437184; test $(readlink l) = b");
    ck_assert_int_eq(
        apply(&layered, PLAIN, ANSWERS("y n yy y n n"), "b1:c b2:m b3:mc big:c dir:m p:m ",
              "done b1\nleft/left b2\ndone b3\ndone big\nleft/left dir\nleft/left p\n"),
        0);
    ck_assert_int_eq(apply_rest(&layered, APPLY_REFUSE), 0);
    layered_find(&layered);
    ck_assert_uint_eq(layered.changes.list.count, 0);
    layered_done(&layered);
}
END_TEST

START_TEST(set_id_bits_never_stay_with_new_lines)
{
    struct layered layered;

    if (!begin(&layered, "seq 40 >f; chmod 4755 f; seq 3 >g; chmod 2750 g",
               "sed -i 's/^3$/x/;s/^30$/z/' f; printf '1\\n2\\n4\\n' >g; chmod 700 g"))
        return;
    ck_assert_int_eq(
        apply(&layered, PLAIN, ANSWERS("nyn ny"), "f:mhh g:mh ", "partly f\npartly g\n"), 0);
    host_must(&layered, "test \"$(stat -c %a f g | tr '\\n' ' ')\" = '755 750 '");
    layered_done(&layered);
}
END_TEST

START_TEST(what_the_host_changes_while_somebody_answers_stops_it_all)
{
    struct layered layered;
    struct script script = {.answers = "yn y", .host_script = "echo host >>f; sleep 0.02"};

    if (!begin(&layered, "seq 40 >f; echo >g", "sed -i 's/^3$/x/;s/^30$/z/' f; echo x >g"))
        return;
    layered_find(&layered);
    ck_assert_int_eq(apply(&layered, PLAIN, &script, "f:hh g:h ", "conflict f\ndone g\n"),
                     -ECANCELED);
    host_must(&layered, "test \"$(cat g)\" = ''; test \"$(sed -n 3p f)\" = 3");
    layered_done(&layered);
}
END_TEST

START_TEST(nothing_wanted_leaves_what_undo_needs)
{
    struct layered layered;
    autofree char *before = NULL, *after = NULL;

    if (!begin(&layered, "echo >f; echo >g", "echo x >f; echo x >g"))
        return;
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("y n"), "f:h g:h ", "done f\nleft/left g\n"),
                     0);
    before = layered_picture(layered.lower, LAYERED_INODE);
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("n"), "g:h ", "left/left g\n"), 0);
    after = layered_picture(layered.lower, LAYERED_INODE);
    ck_assert_str_eq(before, after);
    undo(&layered);
    host_must(&layered, "test \"$(cat f)\" = ''");
    layered_done(&layered);
}
END_TEST

START_TEST(undo_brings_the_copy_that_merging_needs_also_after_a_run)
{
    struct layered layered;

    if (!begin(&layered, "seq 40 >f", "sed -i 's/^3$/x/;s/^30$/z/' f"))
        return;
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("yn"), "f:hh ", "partly f\n"), 0);
    /* The end of a run removes the copies that no note has. */
    layered_must(&layered, "merged", "echo >other");
    layered_note(&layered);
    undo(&layered);
    host_must(&layered, "sed -i 's/^18$/host/' f");
    ck_assert_int_eq(apply_rest(&layered, APPLY_MERGE), 0);
    host_must(&layered, "test \"$(sed -n '3p;18p;30p' f)\" = $'x\\nhost\\nz'");
    layered_done(&layered);
}
END_TEST

START_TEST(a_dry_run_asks_and_changes_nothing)
{
    struct layered layered;
    autofree char *before = NULL, *after = NULL, *notes = NULL, *notes_after = NULL;
    char base[LAYERED_DIR_BYTES + 16];

    if (!begin(&layered, "seq 40 >f", "sed -i 's/^3$/x/;s/^30$/z/' f"))
        return;
    before = layered_picture(layered.lower, LAYERED_INODE);
    (void)snprintf(base, sizeof(base), "%s/1/base", layered.store);
    notes = layered_picture(base, LAYERED_INODE);
    ck_assert_int_eq(apply(&layered, (struct apply_options){.dry_run = true}, ANSWERS("yn"),
                           "f:hh ", "partly f\n"),
                     0);
    after = layered_picture(layered.lower, LAYERED_INODE);
    notes_after = layered_picture(base, LAYERED_INODE);
    ck_assert_str_eq(before, after);
    ck_assert_str_eq(notes, notes_after);
    layered_done(&layered);
}
END_TEST

START_TEST(names_of_one_file_part_when_one_is_taken_in_part)
{
    struct layered layered;

    if (!begin(&layered, "seq 40 >f", "sed 's/^3$/x/;s/^30$/z/' f >n; cat n >f; rm n; ln f g"))
        return;
    ck_assert_int_eq(apply(&layered, PLAIN, ANSWERS("yn y"), "f:hh g:A ", "partly f\ndone g\n"), 0);
    host_must(&layered, "test \"$(sed -n '3p;30p' f | xargs)\" = 'x 30';"
                        "test \"$(sed -n '3p;30p' g | xargs)\" = 'x z'");
    ck_assert_int_eq(apply_rest(&layered, APPLY_REFUSE), 0);
    layered_done(&layered);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("apply_part");
    TCase *tcase = tcase_create("apply_part");

    tcase_add_test(tcase, some_hunks_are_taken_and_the_rest_can_follow);
    tcase_add_test(tcase, what_the_host_changes_after_a_part_is_a_conflict_that_merges);
    tcase_add_test(tcase, a_part_of_what_was_merged_leaves_the_rest_to_be_merged);
    tcase_add_test(tcase, an_edited_part_of_what_was_merged_leaves_the_rest_to_be_merged);
    tcase_add_test(tcase, all_of_what_was_merged_is_merged);
    tcase_add_test(tcase, a_part_of_what_wins_over_the_hosts_is_where_the_rest_starts);
    tcase_add_test(tcase, what_cannot_be_taken_is_left_and_stops_nothing);
    tcase_add_test(tcase, directories_come_with_what_is_in_them_and_only_then);
    tcase_add_test(tcase, a_move_is_one_question);
    tcase_add_test(tcase,
                   what_moves_into_a_directory_that_is_not_wanted_is_asked_about_as_a_deletion);
    tcase_add_test(tcase, mode_attributes_and_content_without_lines_are_pieces);
    tcase_add_test(tcase, set_id_bits_never_stay_with_new_lines);
    tcase_add_test(tcase, what_the_host_changes_while_somebody_answers_stops_it_all);
    tcase_add_test(tcase, nothing_wanted_leaves_what_undo_needs);
    tcase_add_test(tcase, undo_brings_the_copy_that_merging_needs_also_after_a_run);
    tcase_add_test(tcase, a_dry_run_asks_and_changes_nothing);
    tcase_add_test(tcase, names_of_one_file_part_when_one_is_taken_in_part);
    suite_add_tcase(suite, tcase);
    return layered_test_run(suite, "apply_part");
}
