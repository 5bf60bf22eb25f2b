/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/image_print.h"

#include "backend/backend.h"
#include "policy/build.h"
#include "wire/rules.h"

#include <string.h>

/* A bit, and what it is called. */
struct bit {
    unsigned bit;
    const char *word;
};

static void add_bits(struct strbuf *out, unsigned value, const struct bit *bits)
{
    const char *before = "";

    for (; bits->word; bits++) {
        if (!(value & bits->bit))
            continue;
        strbuf_addf(out, "%s%s", before, bits->word);
        before = ",";
    }
    if (!*before)
        strbuf_add(out, "-");
}

static void add_string(struct strbuf *out, const struct image *image, uint32_t at)
{
    strbuf_add_escaped(out, image_string(image, at));
}

static void print_head(const struct image *image, struct strbuf *out)
{
    static const char *const reads[] = {
        [READS_STRICT] = "strict", [READS_DYNAMIC] = "dynamic", [READS_STATIC] = "static"};
    static const struct bit flags[] = {{IMAGE_OWN_NET, "own network"},
                                       {IMAGE_MAY_TRACE, "may trace"},
                                       {IMAGE_MAY_NEST, "may nest"},
                                       {IMAGE_NOTIFIES, "calls are held"},
                                       {IMAGE_PARTIAL, "partial"},
                                       {IMAGE_BIND_REMOUNT, "bind and remount"},
                                       {IMAGE_ONCE, "for one start"},
                                       {IMAGE_STEERS, "steered"},
                                       {IMAGE_PLAIN, "without nf_tables"},
                                       {IMAGE_OWN_TIME, "own time"},
                                       {IMAGE_OBSERVES, "observed"},
                                       {IMAGE_HANDS_OVER, "hands-over"},
                                       {IMAGE_ENGINE, "an engine"},
                                       {IMAGE_ASKS, "asks"},
                                       {IMAGE_VETH, "a pair of interfaces to the host"},
                                       {IMAGE_AROUND, "in another sandbox"},
                                       {IMAGE_HOLDS_READS, "every open is held"},
                                       {IMAGE_EXPLAINS, "explains"},
                                       {0}};

    strbuf_addf(out, "backend %s\n", backend_row(image->backend)->name);
    strbuf_addf(out, "audit %s\n", setting_table[SETTING_AUDIT].words[image->audit]);
    strbuf_addf(out, "caller %u:%u, to the host %u:%u, inside %u:%u", image->caller_uid,
                image->caller_gid, image->host_uid, image->host_gid, image->inside_uid,
                image->inside_gid);
    if (image->sub_count)
        strbuf_addf(out, ", and %u from %u:%u", image->sub_count, image->sub_uid, image->sub_gid);
    strbuf_add(out, "\nworkspace ");
    add_string(out, image, image->workspace);
    strbuf_add(out, ", shown at ");
    add_string(out, image, image->workspace_at);
    strbuf_add(out, "\nhome ");
    add_string(out, image, image->home);
    strbuf_add(out, "\nstarts in ");
    add_string(out, image, image->cwd);
    strbuf_addf(out, "\nreads %s\nflags ", reads[image->reads]);
    add_bits(out, image->flags, flags);
    strbuf_addf(out, "\ncapabilities up to %u are dropped\n", image->last_capability);
}

static void print_limits(const struct image *image, struct strbuf *out)
{
    const struct image_limits *limits = &image->limits;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"pids", limits->pids},
                {"memory_high", limits->memory_high},
                {"memory", limits->memory},
                {"cpu_percent", limits->cpu_percent},
                {"io_weight", limits->io_weight},
                {"io_read_bytes", limits->io_read_bytes},
                {"io_write_bytes", limits->io_write_bytes},
                {"io_read_ops", limits->io_read_ops},
                {"io_write_ops", limits->io_write_ops},
                {"open_files", limits->open_files},
                {"file_size", limits->file_size},
                {"layer_size", limits->layer_size},
                {"time_ms", limits->time_ms},
                {"inotify_instances", limits->inotify_instances},
                {"inotify_watches", limits->inotify_watches}};

    strbuf_addf(out, "\nlimits (by kind %u, demanded %#x):\n", limits->cgroup, limits->demanded);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].value)
            strbuf_addf(out, "  %s %llu\n", rows[i].name, (unsigned long long)rows[i].value);
    }
}

static const char *const step_words[STEP_COUNT] = {
    [STEP_DIR] = "dir",           [STEP_FILE] = "file",           [STEP_SYMLINK] = "link",
    [STEP_TEXT] = "text",         [STEP_BIND] = "bind",           [STEP_OVERLAY] = "overlay",
    [STEP_TMPFS] = "tmpfs",       [STEP_POOL] = "pool",           [STEP_PRIVATE] = "private",
    [STEP_PROC] = "proc",         [STEP_DEVPTS] = "devpts",       [STEP_NODE] = "node",
    [STEP_MASK_DIR] = "mask-dir", [STEP_MASK_FILE] = "mask-file", [STEP_SEAL] = "seal",
    [STEP_PIN] = "pin",           [STEP_SHUT] = "shut",           [STEP_CGROUP] = "cgroup",
    [STEP_SHELF] = "shelf",       [STEP_AGAIN] = "again",         [STEP_CLOSE] = "close",
    [STEP_SEAL_ALL] = "seal-all", [STEP_KEPT] = "kept",           [STEP_MASK_KEPT] = "mask-kept",
    [STEP_COPY] = "copy",         [STEP_TOLD] = "told",
};

/* "bind ro,steady 0755 /usr <- /usr" */
static void print_steps(const struct image *image, enum image_part part, const char *title,
                        struct strbuf *out)
{
    static const struct bit flags[] = {{STEP_READ_ONLY, "ro"},      {STEP_NO_EXEC, "noexec"},
                                       {STEP_IS_FILE, "file"},      {STEP_IN_TREE, "in-tree"},
                                       {STEP_IDMAP, "idmap"},       {STEP_OPTIONAL, "optional"},
                                       {STEP_ON_SHELF, "on-shelf"}, {STEP_ON_LINK, "on-link"},
                                       {STEP_STEADY, "steady"},     {0}};

    strbuf_addf(out, "\n%s (%u):\n", title, image_count(image, part));
    image_each (image, part, struct image_mount, step) {
        strbuf_addf(out, "  %-9s ", step_words[step->step]);
        add_bits(out, step->flags, flags);
        if (step->mode)
            strbuf_addf(out, " %04o", step->mode);
        strbuf_add(out, " /");
        add_string(out, image, step->target);
        if (*image_string(image, step->source)) {
            strbuf_add(out, step->step == STEP_SYMLINK ? " -> " : " <- ");
            add_string(out, image, step->source);
        }
        if (step->size_bytes)
            strbuf_addf(out, step->step == STEP_NODE ? " device %#llx" : " %llu bytes",
                        (unsigned long long)step->size_bytes);
        strbuf_add(out, "\n");
    }
}

static int print_rules(const struct image *image, struct strbuf *out, struct bawn_error *err)
{
    static const char *const kinds[] = {[RULE_PATH] = "path",
                                        [RULE_PATTERN] = "pattern",
                                        [RULE_SECRET] = "secret",
                                        [RULE_PROTECTED] = "protected",
                                        [RULE_SEALED] = "sealed"};
    static const char *const accesses[] = {
        [ACCESS_UNSET] = "-",         [ACCESS_ALLOW] = "allow", [ACCESS_OVERLAY] = "overlay",
        [ACCESS_PRIVATE] = "private", [ACCESS_ASK] = "ask",     [ACCESS_DENY] = "deny"};
    struct policy policy = {0};
    int r = rules_unpack(image, &policy, err);

    strbuf_addf(out, "\nrules (authority.order kind read write path):\n");
    vec_each (&policy.rules, at) {
        const struct path_rule *rule = *at;

        strbuf_addf(out, "  %u.%u %s %s %s%s%s%s%s ", rule->layer->authority, rule->layer->order,
                    kinds[rule->kind], accesses[rule->read], accesses[rule->write],
                    rule->wild ? " wild" : "", rule->is_repeat ? " repeat" : "",
                    rule->read_only ? " ro" : "", rule->only_dir ? " only-dir" : "");
        strbuf_add_escaped(out, rule->path);
        if (rule->link) {
            strbuf_add(out, " by ");
            strbuf_add_escaped(out, rule->link);
        }
        strbuf_add(out, "\n");
    }
    policy_done(&policy);
    return r;
}

static void print_rest(const struct image *image, struct strbuf *out)
{
    static const char *const env_words[] = {
        [ENV_PASS] = "pass", [ENV_DENY] = "deny", [ENV_SET] = "set"};

    strbuf_addf(out, "\nLandlock (ABI %u, files %#llx, network %#llx, scopes %#llx; %u rules):\n",
                image->landlock_abi, (unsigned long long)image->landlock_fs,
                (unsigned long long)image->landlock_net, (unsigned long long)image->landlock_scoped,
                image_count(image, PART_LANDLOCK));
    image_each (image, PART_LANDLOCK, struct image_landlock_rule, rule) {
        strbuf_addf(out, "  %#llx ", (unsigned long long)rule->access);
        add_string(out, image, rule->path);
        strbuf_add(out, "\n");
    }
    strbuf_addf(out, "\nfilter: %u instructions\n\nenvironment:\n",
                image_count(image, PART_FILTER));
    image_each (image, PART_ENV, struct image_env, env) {
        strbuf_addf(out, "  %s ", env_words[env->what]);
        add_string(out, image, env->name);
        if (env->what == ENV_SET) {
            strbuf_add(out, "=");
            add_string(out, image, env->value);
        }
        strbuf_add(out, "\n");
    }
    strbuf_addf(out, "\nwatched from outside (%u):\n", image_count(image, PART_WATCHES));
    image_each (image, PART_WATCHES, struct image_watch, watch) {
        strbuf_add(out, watch->flags & WATCH_DEEP ? "  all in " : "  ");
        add_string(out, image, watch->path);
        strbuf_add(out, " of the tree ");
        add_string(out, image, watch->tree);
        strbuf_add(out, "\n");
    }
    if (image_count(image, PART_PORTS))
        strbuf_add(out, "\nports that are answered inside:\n");
    image_each (image, PART_PORTS, uint32_t, port)
        strbuf_addf(out, "  %u\n", *port);
    strbuf_addf(out, "\nnot held (%u):\n", image_count(image, PART_NOTES));
    image_each (image, PART_NOTES, uint32_t, note) {
        strbuf_add(out, "  ");
        add_string(out, image, *note);
        strbuf_add(out, "\n");
    }
}

static void print_told(const struct image *image, struct strbuf *out)
{
    const struct image *told = image_part(image, PART_TOLD);
    uint32_t size = image_count(image, PART_TOLD);

    if (size && image_check(told, size, NULL) == 0)
        strbuf_addf(out, "\ntold inside, at " TOLD_PATH ": %u of %u rules, %u of %u on hosts\n",
                    image_count(told, PART_RULES), image_count(image, PART_RULES),
                    image_count(told, PART_NET_RULES), image_count(image, PART_NET_RULES));
}

static void print_deps(const struct image *image, struct strbuf *out)
{
    static const char *const words[] = {
        [DEP_NONE] = "-",        [DEP_ENV] = "variable",    [DEP_NO_ENV] = "no variable",
        [DEP_ABSENT] = "absent", [DEP_NO_LINK] = "no link", [DEP_ENTRY] = "entry",
        [DEP_CLOSED] = "closed", [DEP_MODE] = "mode",       [DEP_FILE] = "file",
        [DEP_DIR] = "directory", [DEP_GATE] = "gate",       [DEP_MOUNTS] = "mounts"};

    strbuf_addf(out, "\nmade from (%u; looked at again before each start):\n",
                image_count(image, PART_DEPS));
    image_each (image, PART_DEPS, struct image_dep, dep) {
        strbuf_addf(out, "  %s ", words[dep->kind]);
        add_string(out, image, dep->path);
        if (dep->kind == DEP_GATE)
            strbuf_addf(out, " before %u", dep->behind);
        if (*image_string(image, dep->text)) {
            strbuf_add(out, dep->kind == DEP_ENV ? "=" : " -> ");
            add_string(out, image, dep->text);
        }
        strbuf_add(out, "\n");
    }
}

int image_print(const struct image *image, struct strbuf *out, struct bawn_error *err)
{
    int r;

    print_head(image, out);
    print_limits(image, out);
    print_steps(image, PART_SKELETON, "made once, in the skeleton", out);
    print_steps(image, PART_MOUNTS, "at each start, in this order", out);
    r = print_rules(image, out, err);
    print_rest(image, out);
    print_told(image, out);
    print_deps(image, out);
    return r;
}
