/* SPDX-License-Identifier: Apache-2.0 */
/* Host rules: printed and read again, and the index against a list that is tried from end to end.
 */
#include "fuzz/fuzz.h"
#include "policy/netrule.h"

/*
 * Each line is a rule; one that starts with > is a target. Rules that do not
 * parse are left out.
 */
enum { RULES = 64, TARGETS = 32, TEXT_BYTES = LIMIT_HOST_BYTES + 32 };

static bool is_v4(const struct host *host)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

    return memcmp(host->address, mapped, sizeof(mapped)) == 0;
}

/* A rule as a person would write it. */
static void print_host(const struct host *host, char text[static TEXT_BYTES])
{
    static const char *const fronts[] = {
        [HOST_NAME] = "", [HOST_SUBDOMAINS] = "*.", [HOST_DOMAIN] = "**.", [HOST_ADDRESS] = ""};
    bool v6 = host->kind == HOST_ADDRESS && strchr(host->name, ':');
    char range[16] = "";
    char port[16] = "";

    if (host->kind == HOST_ADDRESS && host->prefix_bits < 128)
        (void)snprintf(range, sizeof(range), "/%u", host->prefix_bits - (v6 ? 0 : 96));
    if (host->port)
        (void)snprintf(port, sizeof(port), ":%u", host->port);
    (void)snprintf(text, TEXT_BYTES, "%s%s%s%s%s%s", v6 && host->port ? "[" : "",
                   fronts[host->kind], host->name, range, v6 && host->port ? "]" : "", port);
}

static void check_name(const struct host *host)
{
    size_t length = strlen(host->name);

    fuzz_require(length > 0 && length < LIMIT_HOST_BYTES);
    fuzz_require(host->name[0] != '.' && host->name[length - 1] != '.');
    for (size_t i = 0; i < length; i++) {
        char byte = host->name[i];

        fuzz_require((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' ||
                     byte == '_' || byte == '.' || (byte == ':' && host->kind == HOST_ADDRESS));
    }
}

static void check_host(const char *text, const struct host *host)
{
    char printed[TEXT_BYTES];
    struct host again;
    const char *wrong;

    check_name(host);
    print_host(host, printed);
    wrong = host_parse_rule(printed, &again);
    if (wrong)
        (void)fprintf(stderr, "'%s' printed as '%s': %s\n", text, printed, wrong);
    fuzz_require(!wrong && again.kind == host->kind && again.port == host->port);
    fuzz_require(strcmp(again.name, host->name) == 0 && again.prefix_bits == host->prefix_bits);
    fuzz_require(memcmp(again.address, host->address, sizeof(again.address)) == 0);
}

static bool same_bits(const struct host *rule, const struct host *target)
{
    for (unsigned bit = 0; bit < rule->prefix_bits; bit++)
        if ((rule->address[bit / 8] ^ target->address[bit / 8]) >> (7 - bit % 8) & 1)
            return false;
    return is_v4(rule) == is_v4(target);
}

static bool slow_match(const struct host *rule, const struct host *target)
{
    size_t length = strlen(rule->name);
    size_t target_length = strlen(target->name);
    bool is_same = strcmp(rule->name, target->name) == 0;
    bool is_below = target_length > length && target->name[target_length - length - 1] == '.' &&
                    strcmp(target->name + target_length - length, rule->name) == 0;

    if (rule->port && rule->port != target->port)
        return false;
    if ((rule->kind == HOST_ADDRESS) != (target->kind == HOST_ADDRESS))
        return false;
    switch (rule->kind) {
    case HOST_NAME:
        return is_same;
    case HOST_SUBDOMAINS:
        return is_below;
    case HOST_DOMAIN:
        return is_same || is_below;
    case HOST_ADDRESS:
        return same_bits(rule, target);
    }
    return false;
}

struct found {
    const struct net_rule *rules;
    unsigned times[RULES];
    unsigned specificity[RULES];
};

static void note_found(void *context, const struct net_rule *rule, unsigned specificity)
{
    struct found *found = context;
    size_t which = (size_t)(rule - found->rules);

    fuzz_require(which < RULES);
    found->times[which]++;
    found->specificity[which] = specificity;
}

/* Whether a is more specific than b by the description; both match the same target. */
static bool is_more_specific(const struct host *a, const struct host *b)
{
    size_t a_size = a->kind == HOST_ADDRESS ? a->prefix_bits : strlen(a->name);
    size_t b_size = b->kind == HOST_ADDRESS ? b->prefix_bits : strlen(b->name);

    if (a_size != b_size)
        return a_size > b_size;
    return a->kind == b->kind && a->port && !b->port;
}

static void check_target(const struct netindex *index, const struct net_rule *rules, size_t count,
                         const char *text)
{
    struct found found = {.rules = rules};
    struct host target;

    if (host_parse_target(text, &target))
        return;
    check_host(text, &target);
    fuzz_require(target.port && (target.kind == HOST_NAME || target.kind == HOST_ADDRESS));
    netindex_ask(index, &target, note_found, &found);
    for (size_t i = 0; i < count; i++) {
        fuzz_require(found.times[i] == (slow_match(&rules[i].host, &target) ? 1 : 0));
        for (size_t j = 0; j < count && found.times[i]; j++)
            if (found.times[j] && is_more_specific(&rules[i].host, &rules[j].host))
                fuzz_require(found.specificity[i] > found.specificity[j]);
    }
}

/* A range names an address only when it is at least as narrow as the special range. */
static void check_special(const struct host *host)
{
    unsigned bits = 0;
    const char *special;

    if (host->kind != HOST_NAME && host->kind != HOST_ADDRESS)
        return;
    special = host_special(host, &bits);
    fuzz_require(bits <= 128 && (special || bits == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_lines lines = fuzz_lines_begin(data, size);
    static struct net_rule rules[RULES];
    const char *targets[TARGETS];
    size_t target_count = 0;
    struct netindex index = {0};
    size_t count = 0;
    const char *line;

    while ((line = fuzz_line(&lines))) {
        struct net_rule *rule = &rules[count];

        if (*line == '>') {
            if (target_count < TARGETS)
                targets[target_count++] = line + 1;
            continue;
        }
        if (count == RULES)
            continue;
        *rule = (struct net_rule){0};
        if (host_parse_rule(line, &rule->host))
            continue;
        check_host(line, &rule->host);
        check_special(&rule->host);
        fuzz_require(netindex_add(&index, rule));
        count++;
    }
    for (size_t i = 0; i < target_count; i++)
        check_target(&index, rules, count, targets[i]);
    netindex_done(&index);
    fuzz_lines_end(&lines);
    return 0;
}
