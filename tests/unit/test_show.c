/* SPDX-License-Identifier: Apache-2.0 */
/* How the changes of an overlay session are shown, and that git takes the patch. */
#include "base/cleanup.h"
#include "lib/scene.h"

#include <git2/global.h>
#include <string.h>
#include <unistd.h>

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

    if (!scene_make(&scene, "patch", lower_script))
        return;
    scene_run(&scene, "merged", script);
    scene_run(&scene, "merged", "(" LIST_FOR_GIT ") >../seen; [ -s ../seen ]");
    scene_find(&scene);
    patch = scene_shown(&scene, (struct show_options){.form = SHOW_PATCH});
    scene_keep(&scene, "patch", patch);
    scene_run(&scene, ".", "cp -a lower copy; cd copy; git apply --whitespace=nowarn ../patch");
    scene_run(&scene, "copy", "(" LIST_FOR_GIT ") >../got; diff ../seen ../got");
    scene_end(&scene);
}

START_TEST(git_takes_the_patch)
{
    git_applies("seq 100 >many; echo one >text; printf 'no end' >end; : >empty; echo a >gone;"
                "mkdir -p dir/sub; echo b >dir/x; echo c >dir/sub/y; ln -s a link; echo d >mode;"
                "echo e >to-link; ln -s f to-file; mkdir old; seq 9 >old/moved; ln -s old to-dir; "
                "mkdir old2; echo z >old2/moved; echo file >as-dir",
                "sed -i '50s/.*/changed/; 90d' many; echo two >>text; printf ' more' >>end;"
                "echo now >empty; rm gone; rm -r dir; echo now a file >dir; ln -sfn b link;"
                "chmod +x mode; rm to-link to-file; ln -s e to-link; echo f >to-file; : >new-empty;"
                "mkdir -p made/deep; mv old/moved made/deep/moved; echo g >made/x; chmod +x made/x;"
                "rm to-dir; mkdir to-dir; echo h >to-dir/moved; rm -r old2; ln -s old old2; rm "
                "as-dir; mkdir as-dir; echo in >as-dir/in");
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

/* What would take long to compare line by line is compared as a whole. */
START_TEST(files_with_very_many_lines_cost_little)
{
    struct scene scene;

    git_applies("seq 60000 >turned; seq 60000 >once", "seq 60000 -1 1 >turned; sed -i 30000d once");
    if (!scene_make(&scene, "lines", "seq 60000 >turned; seq 60000 >once"))
        return;
    scene_run(&scene, "merged", "seq 60000 -1 1 >turned; sed -i 30000d once");
    scene_shows(&scene, (struct show_options){.form = SHOW_STAT},
                " once | +0 -1\n turned | 348894 -> 348894 bytes\n"
                " 2 files changed, 0 lines added, 1 lines deleted\n");
    scene_end(&scene);
}
END_TEST

START_TEST(a_list_says_what_it_is_in_words)
{
    struct scene scene;

    if (!scene_make(&scene, "list",
                    "echo a >file; mkdir dir; echo >dir/x; ln -s a link; echo b >exe;"
                    "echo c >from; echo d >type; echo e >marked; echo f >both"))
        return;
    scene_run(
        &scene, "merged",
        "echo b >>file; rm -r dir; ln -sfn $'to\\033[2J' link; chmod +x exe; mv from to; rm type;"
        "mkdir type; attr marked user.a 1; mkfifo fifo; echo >tool; chmod 755 tool; echo g >>both;"
        "chmod 600 both; echo >$'a\\033]0;x\\007\\nb'; echo >set; chmod 4755 set; mkdir made;"
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'");
    scene_shows(
        &scene, (struct show_options){.form = SHOW_LIST},
        "A  a\\x1b]0;x\\x07\\nb\n"
        "M  both  (content, mode 0644 -> 0600)\n"
        "D  dir/  (1 file)\n"
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
    scene_end(&scene);
}
END_TEST

START_TEST(a_text_has_no_escape_of_a_file)
{
    struct scene scene;

    if (!scene_make(&scene, "text",
                    "printf 'one\\ntwo\\n' >file; printf '\\0a' >bin; echo >mode; echo a >gone"))
        return;
    scene_run(&scene, "merged",
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
    scene_run(&scene, "merged", "rm bin fifo link new mode; printf 'one\\n2\\n' >file");
    scene_run(&scene, "upper", "rm bin gone mode");
    scene_shows(&scene, (struct show_options){.form = SHOW_TEXT, .has_colours = true},
                "\033[1mdiff --git a/file b/file\n\033[m\033[1m--- a/file\n+++ b/file\n\033[m"
                "\033[36m@@ -1,2 +1,2 @@\033[m\n one\n\033[31m-two\033[m\n\033[32m+2\033[m\n");
    scene_end(&scene);
}
END_TEST

START_TEST(a_stat_counts_lines)
{
    struct scene scene;

    if (!scene_make(&scene, "stat",
                    "seq 5 >file; printf '\\0a' >bin; echo a >gone; mkdir dir; echo b >m"))
        return;
    scene_run(&scene, "merged",
              "sed -i 3d file; echo x >>file; echo y >>file; printf '\\0b' >>bin;"
              "rm -r gone dir; echo n >new; mv m moved");
    scene_shows(&scene, (struct show_options){.form = SHOW_STAT},
                " bin | 2 -> 4 bytes\n dir/ | directory, deleted\n file | +2 -1\n"
                " gone | +0 -1\n m -> moved | moved\n new | +1 -0\n"
                " 6 files changed, 1 added, 2 deleted, 1 moved, 3 lines added, 2 lines deleted\n");
    scene_end(&scene);
}
END_TEST

START_TEST(json_has_all_fields)
{
    struct scene scene;

    if (!scene_make(&scene, "json", "echo a >file; echo b >from"))
        return;
    scene_run(&scene, "merged",
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
    scene_end(&scene);
}
END_TEST

START_TEST(what_cannot_be_read_is_still_shown)
{
    struct scene scene;

    if (!scene_make(&scene, "unreadable", "echo a >gone; chmod 0 gone; echo b >file"))
        return;
    scene_run(&scene, "merged", "rm -f gone; chmod 0 file; echo c >new");
    scene_find(&scene);
    scene_shows(
        &scene, (struct show_options){.form = SHOW_TEXT},
        "M  file  (content, mode 0644 -> 0000)  [never applied: it cannot be read by this user]\n"
        "diff --git a/gone b/gone\ndeleted file mode 100000\n"
        "Binary files a/gone and /dev/null differ\n  before: 2 bytes, cannot be read\n"
        "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n"
        "@@ -0,0 +1 @@\n+c\n");
    scene_shows(
        &scene, (struct show_options){.form = SHOW_STAT},
        " file | never applied: it cannot be read by this user\n gone | cannot be read\n"
        " new | +1 -0\n"
        " 3 files changed, 1 added, 1 deleted, 1 never applied, 1 lines added, 0 lines deleted\n");
    scene_end(&scene);
}
END_TEST

START_TEST(a_patch_is_without_what_git_cannot_express)
{
    struct scene scene;

    if (!scene_make(&scene, "remarks",
                    "echo a >mode; echo b >both; echo c >x; chmod 755 x; mkdir dir"))
        return;
    scene_run(
        &scene, "merged",
        "chmod 600 mode; echo c >>both; attr both user.k 1; mkfifo fifo; mkdir -p made/empty;"
        "echo >set; chmod 4755 set; chmod 644 x; chmod 700 dir; mkfifo $'evil\ndiff --git a b'");
    scene_shows(
        &scene, (struct show_options){.form = SHOW_PATCH},
        "# not in this patch, or not all of it: M  both  (content, attributes)\n"
        "# not in this patch, or not all of it: M  dir/  (mode 0755 -> 0700)\n"
        "# not in this patch, or not all of it: A  evil\\ndiff --git a b  (FIFO)\n"
        "# not in this patch, or not all of it: A  fifo  (FIFO)\n"
        "# not in this patch, or not all of it: A  made/empty/\n"
        "# not in this patch, or not all of it: M  mode  (mode 0644 -> 0600)\n"
        "# not in this patch, or not all of it: A  set  (executable)  [never applied: it would run "
        "with the rights of its owner or group (set-id)]\n"
        "diff --git a/both b/both\n"
        "index 61780798228d17af2d34fce4cfbdf35556832472..9ddeb5c4846e8d831655fbafc24f9fe331753a77 "
        "100644\n"
        "--- a/both\n+++ b/both\n@@ -1 +1,2 @@\n b\n+c\n"
        "diff --git a/x b/x\nold mode 100755\nnew mode 100644\n");
    scene_end(&scene);
}
END_TEST

/* Several trees: names are below "/", and a patch is applied there. */
START_TEST(trees_are_shown_together)
{
    struct scene scenes[2];
    struct show_tree trees[2];
    const struct show_options patch = {.form = SHOW_PATCH};
    const struct show_options list = {.form = SHOW_LIST};
    autostrbuf struct strbuf text = {0};
    autostrbuf struct strbuf lines = {0};
    char copies[2][4 * PATH_BYTES];

    for (unsigned i = 0; i < 2; i++) {
        if (!scene_make(&scenes[i], "tree s", "echo a >file; echo b >gone"))
            return;
        scene_run(&scenes[i], "merged", "echo c >>file; rm gone; echo d >'n ew'");
        scene_run(&scenes[i], ".", "cp -a lower copy");
        scene_find(&scenes[i]);
        (void)snprintf(copies[i], sizeof(copies[i]), "%s/copy", scenes[i].dir);
        scenes[i].tree.path = copies[i];
        trees[i] = (struct show_tree){&scenes[i].tree, &scenes[i].changes};
        strbuf_addf(&lines, "M  %s/file\nD  %s/gone\nA  %s/n ew\n", copies[i], copies[i],
                    copies[i]);
    }
    ck_assert_int_eq(show_add(trees, 2, &list, &text, NULL), 0);
    ck_assert_str_eq(text.text, lines.text);
    strbuf_done(&text);
    ck_assert_int_gt(git_libgit2_init(), 0);
    ck_assert_int_eq(show_add(trees, 2, &patch, &text, NULL), 0);
    ck_assert_int_ge(git_libgit2_shutdown(), 0);
    scene_keep(&scenes[0], "patch", text.text);
    scene_run(&scenes[0], ".", "patch=$PWD/patch; cd /; git apply \"$patch\"");
    for (unsigned i = 0; i < 2; i++) {
        scene_run(&scenes[i], "merged", "diff -r . ../copy");
        scene_end(&scenes[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("show");
    TCase *tcase = tcase_create("show");

    tcase_add_test(tcase, git_takes_the_patch);
    tcase_add_test(tcase, git_takes_binary_files_and_odd_names);
    tcase_add_test(tcase, files_with_very_many_lines_cost_little);
    tcase_add_test(tcase, a_list_says_what_it_is_in_words);
    tcase_add_test(tcase, a_text_has_no_escape_of_a_file);
    tcase_add_test(tcase, a_stat_counts_lines);
    tcase_add_test(tcase, json_has_all_fields);
    if (geteuid() != 0) /* root reads everything */
        tcase_add_test(tcase, what_cannot_be_read_is_still_shown);
    tcase_add_test(tcase, a_patch_is_without_what_git_cannot_express);
    tcase_add_test(tcase, trees_are_shown_together);
    suite_add_tcase(suite, tcase);
    return test_run(suite, "show");
}
