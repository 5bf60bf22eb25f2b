/* SPDX-License-Identifier: Apache-2.0 */
/* Completions for bash, zsh and fish. */
#include "program_policy/docgen.h"
#include "program_policy/load.h"

#include <string.h>

/* Calls visit for every verb of the tree, those with verbs below too. */
static void each_verb(struct strbuf *out, const struct verb *verb,
                      void (*visit)(struct strbuf *out, const struct verb *verb))
{
    for (size_t i = 0; verb->verbs && verb->verbs[i]; i++)
        each_verb(out, verb->verbs[i], visit);
    visit(out, verb);
}

/* What may stand next: the verbs below, or the words of the first argument. */
static void add_words(struct strbuf *out, const struct verb *verb)
{
    const struct verb *const *verbs = verb == &verb_help ? verb_bawn.verbs : verb->verbs;
    const char *space = "";

    for (size_t i = 0; verbs && verbs[i]; i++, space = " ")
        strbuf_addf(out, "%s%s", space, verb_word(verbs[i]));
    for (size_t i = 0; verb->words && verb->words[i]; i++, space = " ")
        strbuf_addf(out, "%s%s", space, verb->words[i]);
}

static void add_values(struct strbuf *out, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        strbuf_addf(out, "%s%s", i > 0 ? " " : "", words[i]);
}

/* The first sentence without its full stop; special names what a backslash goes before. */
static void add_brief(struct strbuf *out, const char *text, const char *special)
{
    for (; *text && strcmp(text, ".") != 0 && strncmp(text, ". ", 2) != 0; text++) {
        if (*text == '\'')
            strbuf_add(out, "'\\''");
        else
            strbuf_addf(out, "%s%c", strchr(special, *text) ? "\\" : "", *text);
    }
}

/* ---- bash ---- */

/* A pattern for the option behind a verb, or behind any when that is NULL. */
static void bash_pattern(struct strbuf *out, const struct verb *verb, const struct option *option)
{
    const char *quote = verb ? "'" : "";
    const char *name = verb ? verb->name : "*";

    strbuf_addf(out, "%s%s:--%s%s", quote, name, option->name, quote);
    if (option->letter)
        strbuf_addf(out, " | %s%s:-%c%s", quote, name, option->letter, quote);
}

static void bash_values(struct strbuf *out, const struct verb *verb,
                        const struct option_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct option *option = &group->rows[i];

        if (!option->value)
            continue;
        strbuf_add(out, "    ");
        bash_pattern(out, verb, option);
        strbuf_add(out, ")\n");
        if (option->words) {
            strbuf_add(out, "        mapfile -t COMPREPLY < <(compgen -W '");
            add_values(out, option->words);
            strbuf_add(out, "' -- \"$cur\")\n");
        } else if (option->fill != FILL_NOTHING) {
            strbuf_addf(out,
                        "        compopt -o filenames\n"
                        "        mapfile -t COMPREPLY < <(compgen -%c -- \"$cur\")\n",
                        option->fill == FILL_DIRS ? 'd' : 'f');
        }
        strbuf_add(out, "        return\n        ;;\n");
    }
}

static void bash_own_values(struct strbuf *out, const struct verb *verb)
{
    for (const struct option_group *const *group = verb->groups; *group; group++) {
        if (!docgen_is_shared(*group))
            bash_values(out, verb, *group);
    }
}

/* Between two patterns of a list, which starts behind the spaces of its line. */
static void bash_or(struct strbuf *out)
{
    if (out->length > 0 && out->text[out->length - 1] != ' ')
        strbuf_add(out, " | ");
}

/* Patterns for the options of a group that have a value. */
static void bash_takers(struct strbuf *out, const struct verb *verb,
                        const struct option_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        if (!group->rows[i].value)
            continue;
        bash_or(out);
        bash_pattern(out, verb, &group->rows[i]);
    }
}

static void bash_own_takers(struct strbuf *out, const struct verb *verb)
{
    for (const struct option_group *const *group = verb->groups; *group; group++) {
        if (!docgen_is_shared(*group))
            bash_takers(out, verb, *group);
    }
}

static void bash_verb(struct strbuf *out, const struct verb *verb)
{
    strbuf_addf(out, "    '%s')\n        options='", verb->name);
    for (const struct option_group *const *group = verb->groups; *group; group++) {
        for (size_t i = 0; i < (*group)->count; i++) {
            if ((*group)->rows[i].letter)
                strbuf_addf(out, "-%c ", (*group)->rows[i].letter);
            strbuf_addf(out, "--%s ", (*group)->rows[i].name);
        }
    }
    strbuf_add(out, "'\n        words='");
    add_words(out, verb);
    strbuf_addf(out, "'\n        fill=%s\n        ;;\n",
                verb->fill != FILL_NOTHING ? "files" : "''");
}

static void bash_path(struct strbuf *out, const struct verb *verb)
{
    if (!verb->name[0])
        return;
    bash_or(out);
    strbuf_addf(out, "'%s'", verb->name);
}

void docgen_bash(struct strbuf *out)
{
    strbuf_add(out, "# shellcheck shell=bash\n"
                    "# bash completion for bawn; made from its option tables\n"
                    "_bawn() {\n"
                    "    local cur prev word path='' count=0 options='' words='' fill='' i\n"
                    "    COMPREPLY=()\n"
                    "    cur=${COMP_WORDS[COMP_CWORD]}\n"
                    "    prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                    "    # --option=value comes as three words\n"
                    "    if [[ $cur == '=' ]]; then\n"
                    "        cur=''\n"
                    "    elif [[ $prev == '=' ]] && ((COMP_CWORD > 2)); then\n"
                    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                    "    fi\n"
                    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                    "        word=${COMP_WORDS[i]}\n"
                    "        case $path:$word in\n"
                    "        ");
    each_verb(out, &verb_bawn, bash_own_takers);
    bash_takers(out, NULL, &load_options);
    strbuf_add(out, ")\n"
                    "            i=$((i + 1))\n"
                    "            if [[ ${COMP_WORDS[i]-} == '=' ]]; then i=$((i + 1)); fi\n"
                    "            ;;\n"
                    "        *:-*) ;;\n"
                    "        *)\n"
                    "            case ${path:+$path }$word in\n"
                    "            ");
    each_verb(out, &verb_bawn, bash_path);
    strbuf_add(out, ") path=${path:+$path }$word ;;\n"
                    "            *) count=$((count + 1)) ;;\n"
                    "            esac\n"
                    "            ;;\n"
                    "        esac\n"
                    "    done\n"
                    "    case $path:$prev in\n");
    each_verb(out, &verb_bawn, bash_own_values);
    bash_values(out, NULL, &load_options);
    strbuf_add(out, "    esac\n    case $path in\n");
    each_verb(out, &verb_bawn, bash_verb);
    strbuf_add(out, "    esac\n"
                    "    if [[ $cur == -* ]]; then\n"
                    "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
                    "    elif [[ -n $words && $count == 0 ]]; then\n"
                    "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                    "    elif [[ -n $fill ]]; then\n"
                    "        compopt -o filenames\n"
                    "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                    "    fi\n"
                    "}\n"
                    "complete -F _bawn bawn\n");
}

/* ---- zsh ---- */

/* "policy lint" as a part of a function's name. */
static void zsh_name(struct strbuf *out, const struct verb *verb)
{
    strbuf_add(out, verb->name[0] ? "_bawn_" : "_bawn");
    for (const char *c = verb->name; *c; c++)
        strbuf_add_bytes(out, *c == ' ' ? "_" : c, 1);
}

static void zsh_option(struct strbuf *out, const struct option *option)
{
    const char *equals = option->value ? "=" : "";

    strbuf_add(out, " \\\n        ");
    if (option->letter)
        strbuf_addf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name,
                    option->letter, option->value ? "+" : "", option->name, equals);
    else
        strbuf_addf(out, "'%s--%s%s[", option->repeats ? "*" : "", option->name, equals);
    add_brief(out, option->help, "[]:\\");
    strbuf_add(out, "]");
    if (option->value) {
        strbuf_addf(out, ":%s:", option->value);
        if (option->words) {
            strbuf_add(out, "(");
            add_values(out, option->words);
            strbuf_add(out, ")");
        } else {
            strbuf_add(out, option->fill == FILL_DIRS    ? "_directories"
                            : option->fill == FILL_FILES ? "_files"
                                                         : " ");
        }
    }
    strbuf_add(out, "'");
}

static void zsh_options(struct strbuf *out, const struct verb *verb)
{
    for (const struct option_group *const *group = verb->groups; *group; group++) {
        for (size_t i = 0; i < (*group)->count; i++)
            zsh_option(out, &(*group)->rows[i]);
    }
}

static void zsh_leaf(struct strbuf *out, const struct verb *verb)
{
    strbuf_add(out, "    _arguments -s -S");
    zsh_options(out, verb);
    if (verb->words || verb == &verb_help) {
        strbuf_add(out, " \\\n        '1:word:(");
        add_words(out, verb);
        strbuf_add(out, ")'");
    }
    if (verb->fill != FILL_NOTHING)
        strbuf_add(out, " \\\n        '*:argument:_files'");
    strbuf_add(out, "\n");
}

static void zsh_branch(struct strbuf *out, const struct verb *verb)
{
    strbuf_add(out, "    local curcontext=$curcontext state line\n"
                    "    local -A opt_args\n"
                    "    local -a verbs\n"
                    "    _arguments -s -C");
    zsh_options(out, verb);
    strbuf_add(out, " \\\n        '1:verb:->verb' \\\n        '*::argument:->argument'\n"
                    "    case $state in\n"
                    "    verb)\n"
                    "        verbs=(\n");
    for (size_t i = 0; verb->verbs[i]; i++) {
        strbuf_addf(out, "            '%s:", verb_word(verb->verbs[i]));
        add_brief(out, verb->verbs[i]->summary, ":\\");
        strbuf_add(out, "'\n");
    }
    strbuf_add(out, "        )\n"
                    "        _describe verb verbs\n"
                    "        ;;\n"
                    "    argument)\n"
                    "        case $words[1] in\n");
    for (size_t i = 0; verb->verbs[i]; i++) {
        strbuf_addf(out, "        %s) ", verb_word(verb->verbs[i]));
        zsh_name(out, verb->verbs[i]);
        strbuf_add(out, " ;;\n");
    }
    strbuf_add(out, "        esac\n        ;;\n    esac\n");
}

static void zsh_verb(struct strbuf *out, const struct verb *verb)
{
    zsh_name(out, verb);
    strbuf_add(out, "() {\n");
    if (verb->verbs)
        zsh_branch(out, verb);
    else
        zsh_leaf(out, verb);
    strbuf_add(out, "}\n\n");
}

void docgen_zsh(struct strbuf *out)
{
    strbuf_add(out, "#compdef bawn\n"
                    "# zsh completion for bawn; made from its option tables\n\n");
    each_verb(out, &verb_bawn, zsh_verb);
    strbuf_add(out, "_bawn \"$@\"\n");
}

/* ---- fish ---- */

/* The condition under which the verb is the one being completed. */
static void fish_condition(struct strbuf *out, const struct verb *verb)
{
    strbuf_addf(out, "complete -c bawn -n '__bawn_at \"%s\"'", verb->name);
}

static void fish_option(struct strbuf *out, const struct verb *verb, const struct option *option)
{
    fish_condition(out, verb);
    if (option->letter)
        strbuf_addf(out, " -s %c", option->letter);
    strbuf_addf(out, " -l %s", option->name);
    if (option->words) {
        strbuf_add(out, " -x -a '");
        add_values(out, option->words);
        strbuf_add(out, "'");
    } else if (option->value) {
        strbuf_add(out, option->fill == FILL_DIRS    ? " -x -a '(__fish_complete_directories)'"
                        : option->fill == FILL_FILES ? " -r -F"
                                                     : " -x");
    }
    strbuf_add(out, " -d '");
    add_brief(out, option->help, "\\");
    strbuf_add(out, "'\n");
}

static void fish_verb(struct strbuf *out, const struct verb *verb)
{
    for (size_t i = 0; verb->verbs && verb->verbs[i]; i++) {
        fish_condition(out, verb);
        strbuf_addf(out, " -f -a %s -d '", verb_word(verb->verbs[i]));
        add_brief(out, verb->verbs[i]->summary, "\\");
        strbuf_add(out, "'\n");
    }
    if (verb->words || verb == &verb_help) {
        fish_condition(out, verb);
        strbuf_add(out, " -f -a '");
        add_words(out, verb);
        strbuf_add(out, "'\n");
    }
    if (verb->fill != FILL_NOTHING) {
        fish_condition(out, verb);
        strbuf_add(out, " -F\n");
    }
    for (const struct option_group *const *group = verb->groups; *group; group++) {
        for (size_t i = 0; i < (*group)->count; i++)
            fish_option(out, verb, &(*group)->rows[i]);
    }
}

static void fish_path(struct strbuf *out, const struct verb *verb)
{
    if (verb->name[0])
        strbuf_addf(out, " '%s'", verb->name);
}

void docgen_fish(struct strbuf *out)
{
    strbuf_add(out, "# fish completion for bawn; made from its option tables\n"
                    "function __bawn_at\n"
                    "    set -l path ''\n"
                    "    set -l verbs");
    each_verb(out, &verb_bawn, fish_path);
    strbuf_add(out, "\n"
                    "    for word in (commandline -opc)[2..-1]\n"
                    "        set -l longer (string trim \"$path $word\")\n"
                    "        if contains -- $longer $verbs\n"
                    "            set path $longer\n"
                    "        end\n"
                    "    end\n"
                    "    test \"$path\" = \"$argv[1]\"\n"
                    "end\n\n"
                    "complete -c bawn -f\n");
    each_verb(out, &verb_bawn, fish_verb);
}
