/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/scene.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <git2/global.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd) < 0)
        _exit(NO_OVERLAY);
}

/* Becomes root of a namespace of its own, with the overlay at merged. */
void scene_enter(void)
{
    char map[64];
    char work[32];
    char options[128];
    unsigned uid = geteuid();
    unsigned gid = getegid();

    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        _exit(NO_OVERLAY);
    write_file("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof(map), "0 %u 1", uid);
    write_file("/proc/self/uid_map", map);
    (void)snprintf(map, sizeof(map), "0 %u 1", gid);
    write_file("/proc/self/gid_map", map);
    /* Without "volatile" the end of it would wait for the disk; with it a work directory serves
     * once. */
    (void)snprintf(work, sizeof(work), "work.%d", (int)getpid());
    (void)snprintf(options, sizeof(options),
                   "lowerdir=lower,upperdir=upper,workdir=%s,userxattr,volatile", work);
    if (mkdir(work, 0700) < 0 ||
        mount("overlay", "merged", "overlay", MS_NOSUID | MS_NODEV, options) < 0)
        _exit(NO_OVERLAY);
}

/* attr FILE NAME [VALUE]: sets an extended attribute, or takes it away. */
#define PRELUDE                                                                                    \
    "attr() { python3 -c 'import os, sys; a = sys.argv[1:]; "                                      \
    "os.setxattr(a[0], a[1], a[2].encode()) if a[2:] else os.removexattr(*a)' \"$@\"; }\n"

/* Runs a script in one of the directories: its status. */
int scene_try(const struct scene *scene, const char *where, const char *script)
{
    pid_t pid = fork();
    char *whole;
    int status;

    if (pid == 0) {
        (void)umask(022);
        if (chdir(scene->dir) < 0 || asprintf(&whole, PRELUDE "%s", script) < 0)
            _exit(NO_OVERLAY);
        if (strcmp(where, "merged") == 0)
            scene_enter();
        if (chdir(where) < 0)
            _exit(NO_OVERLAY);
        (void)execl("/bin/bash", "bash", "-ec", whole, NULL);
        _exit(NO_OVERLAY);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void scene_run(const struct scene *scene, const char *where, const char *script)
{
    ck_assert_msg(scene_try(scene, where, script) == 0, "in %s: %s", where, script);
}

/* False: there is no overlay for this user here. */
bool scene_start(struct scene *scene, const char *name, const char *lower_script)
{
    char path[PATH_BYTES];

    scene_run(scene, ".", "mkdir lower upper merged");
    if (scene_try(scene, "merged", "true") == NO_OVERLAY) {
        test_skip(name, "no overlay in a user namespace");
        return false;
    }
    scene_run(scene, "lower", lower_script);
    (void)snprintf(path, sizeof(path), "%s/lower", scene->dir);
    scene->tree.lower_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    (void)snprintf(path, sizeof(path), "%s/upper", scene->dir);
    scene->tree.upper_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(scene->tree.lower_fd, 0);
    ck_assert_int_ge(scene->tree.upper_fd, 0);
    return true;
}

void scene_find(struct scene *scene)
{
    struct bawn_error err = {0};

    changes_done(&scene->changes);
    ck_assert_msg(changes_find(&scene->tree, &scene->changes, &err) == 0, "%s", err.message);
}

void scene_end(struct scene *scene)
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

void scene_has(struct scene *scene, const char *wanted)
{
    autostrbuf struct strbuf out = {0};

    scene_find(scene);
    vec_each (&scene->changes.list, change)
        add_change(&out, change);
    ck_assert_str_eq(out.text ? out.text : "", wanted);
}

/* What a form shows of a scene. */
char *scene_shown(const struct scene *scene, struct show_options options)
{
    const struct show_tree tree = {.tree = &scene->tree, .changes = &scene->changes};
    autostrbuf struct strbuf out = {0};
    struct bawn_error err = {0};

    ck_assert_int_gt(git_libgit2_init(), 0);
    ck_assert_msg(show_add(&tree, 1, &options, &out, &err) == 0, "%s", err.message);
    ck_assert_int_ge(git_libgit2_shutdown(), 0);
    return strbuf_take(&out);
}

void scene_shows(struct scene *scene, struct show_options options, const char *wanted)
{
    autofree char *text = NULL;

    scene_find(scene);
    text = scene_shown(scene, options);
    ck_assert_str_eq(text, wanted);
}

void scene_keep(const struct scene *scene, const char *name, const char *text)
{
    char path[PATH_BYTES];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", scene->dir, name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}
