/* SPDX-License-Identifier: Apache-2.0 */
#include "config/gitconfig.h"

#include <string.h>

/* Who somebody is, how git looks, and what it does by default. The manual page has the same list:
 * program_policy/docgen_policy.c. */
static const char *const listed[] = {
    "author.email",
    "author.name",
    "branch.autosetupmerge",
    "branch.autosetuprebase",
    "branch.sort",
    "commit.cleanup",
    "commit.status",
    "commit.verbose",
    "committer.email",
    "committer.name",
    "core.abbrev",
    "core.autocrlf",
    "core.commentchar",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.quotepath",
    "core.safecrlf",
    "core.whitespace",
    "diff.algorithm",
    "diff.colormoved",
    "diff.colormovedws",
    "diff.context",
    "diff.interhunkcontext",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.renamelimit",
    "diff.renames",
    "diff.submodule",
    "diff.suppressblankempty",
    "fetch.prune",
    "fetch.prunetags",
    "i18n.commitencoding",
    "i18n.logoutputencoding",
    "init.defaultbranch",
    "init.defaultobjectformat",
    "log.abbrevcommit",
    "log.date",
    "log.decorate",
    "log.follow",
    "merge.branchdesc",
    "merge.conflictstyle",
    "merge.directoryrenames",
    "merge.ff",
    "merge.log",
    "merge.renames",
    "merge.stat",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "push.followtags",
    "rebase.abbreviatecommands",
    "rebase.autosquash",
    "rebase.autostash",
    "rebase.missingcommitscheck",
    "rebase.stat",
    "rebase.updaterefs",
    "rerere.autoupdate",
    "rerere.enabled",
    "safe.barerepository",
    "stash.showincludeuntracked",
    "stash.showpatch",
    "stash.showstat",
    "status.branch",
    "status.relativepaths",
    "status.short",
    "status.showstash",
    "status.showuntrackedfiles",
    "status.submodulesummary",
    "tag.sort",
    "user.email",
    "user.name",
    "user.useconfigonly",
};

/* Sections of colours, columns and words that are said or not: all that is in them. */
static const char *const sections[] = {"advice.", "color.", "column."};

static bool has_plain_name(const char *key)
{
    const char *name = strrchr(key, '.') + 1;

    return strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789.-") == strlen(key) && *name >= 'a' &&
           *name <= 'z';
}

bool gitconfig_is_listed(const char *key)
{
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        if (strncmp(key, sections[i], strlen(sections[i])) == 0)
            return has_plain_name(key);
    }
    for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++) {
        if (strcmp(key, listed[i]) == 0)
            return true;
    }
    return false;
}

/* In quotes nothing ends a value but a quote or a newline: both are escaped, and so is what
 * escapes. */
static void add_quoted(struct strbuf *out, const char *value)
{
    strbuf_add(out, "\"");
    for (; *value; value++) {
        if (*value == '\n')
            strbuf_add(out, "\\n");
        else if (*value == '"' || *value == '\\')
            strbuf_addf(out, "\\%c", *value);
        else
            strbuf_add_bytes(out, value, 1);
    }
    strbuf_add(out, "\"");
}

/* "color.diff.meta" is meta in [color "diff"], "user.name" name in [user]. */
void gitconfig_add(struct strbuf *out, const char *key, const char *value)
{
    const char *first = strchr(key, '.');
    const char *last = strrchr(key, '.');

    if (!gitconfig_is_listed(key) || !first)
        return;
    strbuf_add(out, "[");
    strbuf_add_bytes(out, key, (size_t)(first - key));
    if (last > first) {
        strbuf_add(out, " \"");
        strbuf_add_bytes(out, first + 1, (size_t)(last - first - 1));
        strbuf_add(out, "\"");
    }
    strbuf_addf(out, "]\n\t%s = ", last + 1);
    add_quoted(out, value ? value : "true");
    strbuf_add(out, "\n");
}
