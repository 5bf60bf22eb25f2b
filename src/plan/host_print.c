/* SPDX-License-Identifier: Apache-2.0 */
/* `bawn detect` and `bawn doctor`: host facts and findings as text and as JSON. */
#include "backend/backend.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "plan/doctor.h"

#include <string.h>

enum { TEXT_COLUMNS = 88 };

static const char *const cgroup_names[] = {
    [CGROUP_NONE] = "none",
    [CGROUP_V1] = "v1",
    [CGROUP_V2] = "v2",
    [CGROUP_V2_SYSTEMD] = "v2-systemd",
};

static const char *const block_names[] = {
    [USERNS_OPEN] = "open",         [USERNS_SYSCTL] = "sysctl",   [USERNS_LIMIT] = "limit",
    [USERNS_APPARMOR] = "apparmor", [USERNS_SECCOMP] = "seccomp", [USERNS_UNKNOWN] = "unknown",
};

static const char *const level_names[] = {
    [FINDING_OK] = "ok",
    [FINDING_NOTE] = "optional",
    [FINDING_WARN] = "warning",
    [FINDING_BAD] = "problem",
};

/* Adds words on lines of TEXT_COLUMNS, each after the first indented. */
static void add_wrapped(struct strbuf *out, const char *text, size_t indent)
{
    size_t column = indent;

    while (*text) {
        size_t word = strcspn(text, " ");

        if (column > indent && column + 1 + word > TEXT_COLUMNS) {
            strbuf_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            strbuf_add(out, " ");
            column++;
        }
        strbuf_add_bytes(out, text, word);
        column += word;
        text += word + strspn(text + word, " ");
    }
    strbuf_add(out, "\n");
}

/* Adds lines as they are, each after the first indented; no space on empty ones. */
static void add_lines(struct strbuf *out, const char *text, size_t indent)
{
    while (*text) {
        size_t line = strcspn(text, "\n");

        strbuf_add_bytes(out, text, line);
        strbuf_add(out, "\n");
        text += line + (text[line] == '\n');
        if (*text && *text != '\n')
            strbuf_addf(out, "%*s", (int)indent, "");
    }
}

static void add_host(struct strbuf *out, const struct host_facts *facts)
{
    strbuf_addf(out, "%s %s %s, %u CPU%s, %.1f GiB of memory, %s%s\n", facts->sysname,
                facts->release, facts->machine, facts->cpus, facts->cpus == 1 ? "" : "s",
                (double)facts->memory_bytes / (1024.0 * 1024.0 * 1024.0),
                facts->uid == 0 ? "as root" : "as an ordinary user",
                facts->in_container ? ", in a container" : "");
}

/* Why bawn would start commands with it, or why not. */
static const char *backend_reason(const struct host_facts *facts, enum backend_id id)
{
    const struct backend_fact *backend = &facts->backends[id];

    if (backend->reason[0])
        return backend->reason;
    return backend_row(id)->can_start ? "all that it needs was tried and works"
                                      : "works here, but bawn starts no commands with it yet";
}

/* What a command would be started with, or NULL. */
static const char *best_name(const struct host_facts *facts)
{
    enum backend_id best = backend_best(facts);

    return best == BACKEND_COUNT ? NULL : backend_row(best)->name;
}

static void add_backends(struct strbuf *out, const struct host_facts *facts)
{
    strbuf_add(out, "\nBackends\n");
    for (int i = 0; i < BACKEND_COUNT; i++) {
        const struct backend_fact *backend = &facts->backends[i];

        strbuf_addf(out, "  %-11s %-4s", backend_row((enum backend_id)i)->name,
                    backend->available ? "yes" : "no");
        if (backend->version[0])
            strbuf_addf(out, "%s: ", backend->version);
        strbuf_addf(out, "%s\n", backend_reason(facts, (enum backend_id)i));
    }
    strbuf_addf(out, "  bawn would use: %s\n",
                best_name(facts) ? best_name(facts)
                                 : "none, and refuse; 'bawn doctor' gives the remedy");
}

/* How one feature failed, behind its summary. */
static void add_failure(struct strbuf *out, const struct host_facts *facts, enum feature feature)
{
    const struct feature_fact *fact = &facts->features[feature];
    enum feature needs = facts_feature_needs(feature);

    if (fact->errnum)
        strbuf_addf(out, " (%s: %s)", fact->step, facts_error_text(fact->errnum));
    else if (needs != FEATURE_COUNT && !facts->features[needs].available)
        strbuf_addf(out, " (needs %s)", facts_feature_name(needs));
}

static void add_features(struct strbuf *out, const struct host_facts *facts)
{
    strbuf_add(out, "\nKernel features\n");
    for (int i = 0; i < FEATURE_COUNT; i++) {
        enum feature feature = (enum feature)i;
        bool available = facts->features[i].available;

        strbuf_addf(out, "  %-15s %-4s%s", facts_feature_name(feature), available ? "yes" : "no",
                    facts_feature_summary(feature));
        if (!available)
            add_failure(out, facts, feature);
        else if (feature == FEATURE_LANDLOCK)
            strbuf_addf(out, " (ABI %d)", facts->landlock_abi);
        else if (feature == FEATURE_CGROUP)
            strbuf_addf(out, " (%s)", cgroup_names[facts->cgroup]);
        strbuf_add(out, "\n");
    }
}

static void json_host(struct strbuf *out, const struct host_facts *facts)
{
    json_open(out, "host", '{');
    json_put_string(out, "system", facts->sysname);
    json_put_string(out, "release", facts->release);
    json_put_string(out, "machine", facts->machine);
    json_put_uint(out, "cpus", facts->cpus);
    json_put_uint(out, "memory_bytes", facts->memory_bytes);
    json_put_uint(out, "uid", facts->uid);
    json_put_uint(out, "gid", facts->gid);
    json_put_bool(out, "in_container", facts->in_container);
    json_put_string(out, "cgroup", cgroup_names[facts->cgroup]);
    json_put_string(out, "user_namespaces", block_names[facts->userns_block]);
    json_put_uint(out, "landlock_abi", (uint64_t)facts->landlock_abi);
    json_close(out, '}');
}

static void json_backends(struct strbuf *out, const struct host_facts *facts)
{
    json_open(out, "backends", '{');
    for (int i = 0; i < BACKEND_COUNT; i++) {
        const struct backend_fact *backend = &facts->backends[i];

        json_open(out, backend_row((enum backend_id)i)->name, '{');
        json_put_bool(out, "available", backend->available);
        json_put_string(out, "version", backend->version[0] ? backend->version : NULL);
        json_put_bool(out, "usable",
                      backend_row((enum backend_id)i)->can_start && backend->available);
        json_put_string(out, "reason", backend_reason(facts, (enum backend_id)i));
        json_close(out, '}');
    }
    json_close(out, '}');
}

static void json_features(struct strbuf *out, const struct host_facts *facts)
{
    json_open(out, "features", '{');
    for (int i = 0; i < FEATURE_COUNT; i++) {
        const struct feature_fact *fact = &facts->features[i];

        json_open(out, facts_feature_name((enum feature)i), '{');
        json_put_bool(out, "available", fact->available);
        if (fact->errnum) {
            json_put_string(out, "step", fact->step);
            json_put_string(out, "errno", strerrorname_np(fact->errnum));
        }
        json_close(out, '}');
    }
    json_close(out, '}');
}

int host_print(const struct host_facts *facts, enum bawn_format format, char **ret_text,
               struct bawn_error *err)
{
    autostrbuf struct strbuf out = {0};

    if (format == BAWN_FORMAT_JSON) {
        json_open(&out, NULL, '{');
        json_put_bool(&out, "ok", best_name(facts) != NULL);
        json_put_string(&out, "best", best_name(facts));
        json_host(&out, facts);
        json_backends(&out, facts);
        json_features(&out, facts);
        json_close(&out, '}');
        strbuf_add(&out, "\n");
    } else {
        add_host(&out, facts);
        add_backends(&out, facts);
        add_features(&out, facts);
    }
    return strbuf_give(&out, ret_text, err);
}

static size_t count_level(const struct finding *findings, size_t count, enum finding_level level)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += findings[i].level == level;
    return found;
}

/* The first thing to know: does it work, and how well. */
static void add_verdict(struct strbuf *out, const struct host_facts *facts, size_t bad)
{
    const char *best = best_name(facts);
    enum backend_id first = backend_first();

    strbuf_add(out, "\n");
    if (best && bad == 0) {
        strbuf_addf(out, "The %s sandbox works here at full strength.\n", best);
        return;
    }
    if (best) {
        strbuf_addf(out,
                    "The %s sandbox works here, but %zu problem%s keep%s it from full "
                    "strength.\n",
                    best, bad, bad == 1 ? "" : "s", bad == 1 ? "s" : "");
        return;
    }
    strbuf_addf(out, "The %s sandbox cannot run here: it %s.\n", backend_row(first)->name,
                facts->backends[first].reason);
    strbuf_add(out, "No other backend can take its place: bawn refuses to run commands.\n");
}

static void add_finding(struct strbuf *out, const struct finding *finding)
{
    strbuf_addf(out, "\n[%s] %s\n", level_names[finding->level], finding->title);
    strbuf_add(out, "  seen     ");
    add_wrapped(out, finding->detail, 11);
    strbuf_add(out, "  matters  ");
    add_wrapped(out, finding->costs, 11);
    strbuf_add(out, "  to do    ");
    add_lines(out, finding->remedy, 11);
}

static void add_passed(struct strbuf *out, const struct finding *findings, size_t count)
{
    autostrbuf struct strbuf names = {0};
    size_t good = count_level(findings, count, FINDING_OK);

    for (size_t i = 0; i < count; i++)
        if (findings[i].level == FINDING_OK)
            strbuf_addf(&names, "%s%s", names.length ? " " : "", findings[i].id);
    strbuf_addf(out, "\n%zu of %zu checks passed%s\n  ", good, count, good ? ":" : ".");
    add_wrapped(out, names.text ? names.text : "", 2);
}

/* The worst first. */
static void add_findings(struct strbuf *out, const struct finding *findings, size_t count)
{
    for (int level = FINDING_BAD; level > FINDING_OK; level--)
        for (size_t i = 0; i < count; i++)
            if (findings[i].level == (enum finding_level)level)
                add_finding(out, &findings[i]);
    add_passed(out, findings, count);
}

static void json_findings(struct strbuf *out, const struct host_facts *facts,
                          const struct finding *findings, size_t count)
{
    json_open(out, NULL, '{');
    json_host(out, facts);
    json_put_string(out, "backend", best_name(facts));
    json_put_uint(out, "problems", count_level(findings, count, FINDING_BAD));
    json_put_uint(out, "warnings", count_level(findings, count, FINDING_WARN));
    json_open(out, "findings", '[');
    for (size_t i = 0; i < count; i++) {
        json_open(out, NULL, '{');
        json_put_string(out, "id", findings[i].id);
        json_put_string(out, "level", level_names[findings[i].level]);
        json_put_string(out, "title", findings[i].title);
        json_put_string(out, "detail", findings[i].detail);
        json_put_string(out, "costs", findings[i].costs);
        json_put_string(out, "remedy", findings[i].remedy);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
    strbuf_add(out, "\n");
}

int doctor_print(const struct host_facts *facts, enum bawn_format format, char **ret_text,
                 struct bawn_error *err)
{
    autostrbuf struct strbuf out = {0};
    struct finding findings[FINDINGS_MAX];
    size_t count = doctor_examine(facts, findings, FINDINGS_MAX);
    size_t bad = count_level(findings, count, FINDING_BAD);
    int r;

    if (format == BAWN_FORMAT_JSON) {
        json_findings(&out, facts, findings, count);
    } else {
        add_host(&out, facts);
        add_verdict(&out, facts, bad);
        add_findings(&out, findings, count);
    }
    r = strbuf_give(&out, ret_text, err);
    return r < 0 ? r : (int)bad;
}
