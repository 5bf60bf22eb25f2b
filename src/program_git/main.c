/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program bawn-git: reads git configuration with libgit2, includes followed,
 * and writes what a command in the sandbox gets of it.
 *
 *     bawn-git GIT_DIR FILE...
 *
 * How it works: loading libgit2 and setting it up takes some four milliseconds,
 * which nobody else should pay. So this is a program of its own, started
 * where a plan is made and there is such a file. On standard output are records
 * that end with a NUL: "f" and a file that was read or looked for, in vain too;
 * "t" and the text; "e" and why something could not be read. GIT_DIR is the
 * repository that conditional includes ask about, or "".
 */
#include "base/text.h"
#include "config/gitconfig.h"

#include <git2/buffer.h>
#include <git2/config.h>
#include <git2/errors.h>
#include <git2/global.h>
#include <git2/repository.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    DEPTH_MAX = 16, /* libgit2 follows includes ten deep */
    PATH_BYTES = 4096,
    SECONDS = 2, /* for it all: a file may be a pipe */
};

struct reader {
    const char *git_dir;
    git_repository *repository; /* NULL: none */
    struct strbuf text;
    char files[DEPTH_MAX + 1][PATH_BYTES]; /* that an entry of each depth is in */
};

static void tell(char what, const char *text)
{
    (void)putchar(what);
    (void)fwrite(text, strlen(text) + 1, 1, stdout);
}

static void tell_error(const char *file)
{
    const git_error *error = git_error_last();

    (void)printf("e%s: %s", file, error && error->message ? error->message : "cannot be read");
    (void)putchar('\0');
}

/* The file that an include in another names, whether it was followed or not. */
static void name_included(struct reader *reader, unsigned depth, const char *value)
{
    const char *from = reader->files[depth];
    const char *slash = strrchr(from, '/');
    git_buf expanded = {0};
    char path[2 * PATH_BYTES] = "";

    if (*value != '/' && *value != '~' && slash)
        (void)snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - from), from, value);
    else if (git_config_parse_path(&expanded, value) == 0)
        (void)snprintf(path, sizeof(path), "%s", expanded.ptr);
    git_buf_dispose(&expanded);
    if (strlen(path) >= PATH_BYTES)
        *path = '\0';
    memcpy(reader->files[depth + 1], path, strlen(path) + 1);
    if (*path)
        tell('f', path);
}

/* Entries come in the order of the files, those of an included one right behind the entry that
 * includes it. */
static void take_entry(struct reader *reader, const git_config_entry *entry)
{
    char path[PATH_BYTES];

    gitconfig_add(&reader->text, entry->name, entry->value);
    if (entry->include_depth >= DEPTH_MAX || !entry->value ||
        (strncmp(entry->name, "include.", 8) != 0 && strncmp(entry->name, "includeif.", 10) != 0) ||
        !text_ends_with(entry->name, ".path"))
        return;
    name_included(reader, entry->include_depth, entry->value);
    if (strncmp(entry->name, "includeif.onbranch:", 19) == 0 && reader->repository) {
        (void)snprintf(path, sizeof(path), "%s/HEAD", reader->git_dir);
        tell('f', path);
    }
}

static int read_file(struct reader *reader, const char *file)
{
    git_config *config = NULL;
    git_config_iterator *entries = NULL;
    git_config_entry *entry;
    int r;

    tell('f', file);
    (void)snprintf(reader->files[0], PATH_BYTES, "%s", file);
    r = git_config_new(&config);
    if (r == 0)
        r = git_config_add_file_ondisk(config, file, GIT_CONFIG_LEVEL_GLOBAL, reader->repository,
                                       0);
    if (r == 0)
        r = git_config_iterator_new(&entries, config);
    while (r == 0 && (r = git_config_next(&entry, entries)) == 0)
        take_entry(reader, entry);
    if (r != GIT_ITEROVER && r != GIT_ENOTFOUND)
        tell_error(file);
    git_config_iterator_free(entries);
    git_config_free(config);
    return r == GIT_ITEROVER || r == GIT_ENOTFOUND ? 0 : r;
}

/* Whatever the caller does with signals: this one ends us. */
static void end_in(unsigned seconds)
{
    sigset_t none;

    (void)signal(SIGALRM, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)alarm(seconds);
}

/* libgit2 may read all certificates of the host at once, which takes most of its set-up; nothing
 * here needs one. It goes on where it cannot open their file. */
static int init_without_certificates(void)
{
    struct rlimit before, none;
    int r;

    if (getrlimit(RLIMIT_NOFILE, &before) < 0)
        return git_libgit2_init();
    none = (struct rlimit){.rlim_cur = 3, .rlim_max = before.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &none);
    r = git_libgit2_init();
    (void)setrlimit(RLIMIT_NOFILE, &before);
    return r < 0 ? git_libgit2_init() : r;
}

int main(int argc, char **argv)
{
    static struct reader reader;
    int r;

    if (argc < 3) {
        (void)fputs("bawn-git: bawn starts this where it needs it\n", stderr);
        return 125;
    }
    end_in(SECONDS);
    r = init_without_certificates();
    if (r < 0) {
        tell_error("libgit2");
        return 0;
    }
    r = 0;
    reader.git_dir = argv[1];
    /* SECURITY: bare: neither its configuration nor its work tree is looked at. */
    if (*argv[1] && git_repository_open_bare(&reader.repository, argv[1]) < 0)
        reader.repository = NULL;
    for (int i = 2; i < argc && r == 0; i++)
        r = read_file(&reader, argv[i]);
    if (r == 0 && reader.text.length && !reader.text.failed)
        tell('t', reader.text.text);
    strbuf_done(&reader.text);
    git_repository_free(reader.repository);
    (void)git_libgit2_shutdown();
    return fflush(stdout) == 0 ? 0 : 1;
}
