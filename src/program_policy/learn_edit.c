/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that bawn learn proposes, in the user's editor: a rule a line, in the words of 'bawn
 * policy save', so that what is saved afterwards is saved as any rule is. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "program_policy/learn.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A text that a line cannot have as it is, and an editor not change. */
static bool is_plain(const char *text)
{
    autofree char *shown = text_escape_new(text, strlen(text), TEXT_ONE_LINE);

    return shown && strcmp(shown, text) == 0 && !isspace((unsigned char)*text) &&
           !isspace((unsigned char)text[strlen(text) - 1]);
}

static void add_lines(struct strbuf *out, const struct proposal *proposal)
{
    strbuf_add(out, "# A rule a line, as 'bawn policy save' takes them: read PATH, write PATH, "
                    "host NAME[:PORT], preset NAME, ...\n"
                    "# Take out or change what you do not want. Nothing is saved before you accept "
                    "it.\n");
    for (size_t i = 0; i < proposal->rules.count; i++) {
        const struct bawn_rule *rule = &proposal->rules.items[i];

        strbuf_add(out, "\n# ");
        learn_add_reason(out, rule, proposal->reasons.items[i]);
        if (is_plain(rule->text)) {
            strbuf_addf(out, "\n%s %s\n", bawn_rule_word(rule->kind), rule->text);
        } else {
            strbuf_add(out, "\n# ");
            strbuf_add_escaped(out, rule->text);
            strbuf_addf(out, "\nkeep %zu\n", i + 1);
        }
    }
}

static int refuse_line(unsigned number, const char *line, struct bawn_error *err)
{
    char shown[256];

    text_escape(shown, sizeof(shown), line, strlen(line), TEXT_ONE_LINE);
    (void)error_set(err, EINVAL, "learn.bad_line", "line %u is no rule: '%s'", number, shown);
    error_hint(err, "a rule is a word and what it is about, as in 'read ~/notes'");
    return -EINVAL;
}

static const struct bawn_evidence *reason_of(const struct proposal *proposal,
                                             const struct bawn_rule *rule)
{
    for (size_t i = 0; i < proposal->rules.count; i++)
        if (proposal->rules.items[i].kind == rule->kind &&
            strcmp(proposal->rules.items[i].text, rule->text) == 0)
            return proposal->reasons.items[i];
    return NULL;
}

static int read_line(char *line, unsigned number, const struct proposal *old, struct proposal *new,
                     struct bawn_error *err)
{
    size_t length = strlen(line);
    struct bawn_rule rule;
    uint64_t kept;
    char *text;

    while (length > 0 && isspace((unsigned char)line[length - 1]))
        line[--length] = '\0';
    line += strspn(line, " \t");
    if (!*line || *line == '#')
        return 0;
    text = line + strcspn(line, " \t");
    if (!*text)
        return refuse_line(number, line, err);
    *text++ = '\0';
    text += strspn(text, " \t");
    if (strcmp(line, "keep") == 0 && text_parse_count(text, old->rules.count, &kept) && kept > 0) {
        rule = old->rules.items[kept - 1];
    } else {
        rule = (struct bawn_rule){.kind = bawn_rule_kind(line), .text = text};
        if (rule.kind == BAWN_RULE_KINDS)
            return refuse_line(number, line, err);
    }
    return proposal_add(new, rule.kind, rule.text, reason_of(old, &rule)) < 0 ? error_memory(err)
                                                                              : 0;
}

static int read_lines(char *text, const struct proposal *old, struct proposal *new,
                      struct bawn_error *err)
{
    unsigned number = 1;
    int r = 0;

    for (char *line; r == 0 && (line = strsep(&text, "\n")); number++)
        r = read_line(line, number, old, new, err);
    return r;
}

/* SECURITY: the editor is the user's, outside of any sandbox, and gets the file by its name alone.
 */
static int run_editor(const char *file, struct bawn_error *err)
{
    const char *editor = getenv("VISUAL");
    pid_t pid;
    int status;

    editor = editor && *editor ? editor : getenv("EDITOR");
    editor = editor && *editor ? editor : "vi";
    pid = fork();
    if (pid < 0)
        return error_errno(err, errno, "start the editor");
    if (pid == 0) {
        autofree char *command = NULL;
        sigset_t none;

        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        if (asprintf(&command, "%s \"$1\"", editor) > 0)
            (void)execl("/bin/sh", "sh", "-c", command, "sh", file, (char *)NULL);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    (void)error_set(err, ECHILD, "learn.editor", "the editor '%s' has failed", editor);
    error_hint(err, "set VISUAL or EDITOR to one that works");
    return -ECHILD;
}

static int write_all(int fd, const struct strbuf *text, struct bawn_error *err)
{
    size_t done = 0;

    while (done < text->length) {
        ssize_t got = write(fd, text->text + done, text->length - done);

        if (got < 0)
            return error_errno(err, errno, "write the rules for the editor");
        done += (size_t)got;
    }
    return 0;
}

int learn_edit(struct proposal *proposal, struct bawn_error *err)
{
    const char *dir = getenv("TMPDIR");
    struct proposal edited = {0};
    autostrbuf struct strbuf lines = {0};
    autofree char *file = NULL;
    autofree char *text = NULL;
    autoclose int fd = -EBADF;
    size_t length;
    int r;

    add_lines(&lines, proposal);
    if (lines.failed ||
        asprintf(&file, "%s/bawn-learn-XXXXXX", dir && *dir == '/' ? dir : "/tmp") < 0) {
        file = NULL;
        return error_memory(err);
    }
    fd = mkostemp(file, O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno, "make %s", file);
    r = write_all(fd, &lines, err);
    if (r == 0)
        r = run_editor(file, err);
    /* By its name: editors replace files. */
    if (r == 0)
        r = file_read(AT_FDCWD, file, LIMIT_CONFIG_BYTES, &text, &length, err);
    (void)unlink(file);
    if (r == 0)
        r = read_lines(text, proposal, &edited, err);
    if (r < 0) {
        proposal_done(&edited);
        return r;
    }
    proposal_done(proposal);
    *proposal = edited;
    return proposal->rules.count > 0;
}
