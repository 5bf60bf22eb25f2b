/* SPDX-License-Identifier: Apache-2.0 */
/* The filtered network on a host without nf_tables: which ports are answered, and what is said. */
#include "api/api.h"
#include "base/cleanup.h"
#include "lib/load.h"
#include "plan/compile.h"

#include <errno.h>
#include <string.h>

static enum look look_nowhere(void *context, const char *path, char *target, size_t target_size)
{
    (void)context;
    (void)path;
    (void)target;
    (void)target_size;
    return LOOK_ABSENT;
}

static const struct looker nowhere = {.look = look_nowhere};

static struct host_facts host_without(bool has_routes)
{
    struct host_facts facts = {.uid = 1000, .gid = 1000, .cpus = 4, .memory_bytes = 1ULL << 33};

    for (size_t i = 0; i < FEATURE_COUNT; i++)
        facts.features[i].available = true;
    facts.backends[BACKEND_NATIVE].available = true;
    facts.features[FEATURE_STEER].available = false;
    facts.features[FEATURE_ANYIP].available = has_routes;
    return facts;
}

struct trial {
    struct host_facts facts;
    struct bawn_policy *policy;
    struct plan plan;
};

static void begin(struct trial *trial, const char *network, bool has_routes)
{
    struct plan_input input = {.facts = &trial->facts, .looker = &nowhere};
    struct bawn_error err = {0};
    char text[4096];

    (void)snprintf(text, sizeof(text), "sandbox: {network: {%s}}\n", network);
    trial->facts = host_without(has_routes);
    trial->policy = load_text(text);
    input.policy = &trial->policy->policy;
    ck_assert_int_eq(plan_make(&input, &trial->plan, &err), 0);
}

static void end(struct trial *trial)
{
    plan_done(&trial->plan);
    bawn_policy_free(trial->policy);
}

static const struct enforcement *find(const struct trial *trial, const char *what)
{
    vec_each (&trial->plan.rules, line) {
        if (strcmp(line->what, what) == 0)
            return line;
    }
    ck_abort_msg("no line on %s", what);
}

static void assert_ports(const struct trial *trial, const char *wanted)
{
    autostrbuf struct strbuf text = {0};

    vec_each (&trial->plan.network.ports, port)
        strbuf_addf(&text, "%s%u", text.length ? " " : "", *port);
    ck_assert_str_eq(text.text ? text.text : "", wanted);
}

START_TEST(ports_are_those_of_the_rules_and_of_the_web)
{
    static const struct {
        const char *network, *ports;
    } table[] = {
        {"mode: proxy", "80 443"},
        {"allow: [a.example]", "80 443"},
        {"allow: ['a.example:80', 'b.example:8080']", "80 443 8080"},
        {"allow: ['b.example:9', 'a.example:8', 'c.example:9'], ask: ['d.example:7']",
         "80 443 9 8 7"},
        /* ssh and the like. */
        {"allow: [a.example opaque]", "80 443 22"},
        {"allow: ['a.example:5432 opaque']", "80 443 5432"},
        /* What is denied is refused by nobody being there. */
        {"allow: [a.example], deny: ['b.example:8080']", "80 443"},
        /* Our own two are listened at in any case. */
        {"allow: ['a.example:53', 'a.example:800']", "80 443"},
        /* A published port is the command's, if it can have it at all. */
        {"allow: ['a.example:8080', 'a.example:81'], publish: ['9000:8080', '9001:81']",
         "80 443 81"},
        {"allow: ['a.example:8080'], publish: ['8080:9000']", "80 443 8080"},
        {"allow: ['a.example:8080'], host_ports: [8080]", "80 443 8080"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct trial trial;

        begin(&trial, table[i].network, true);
        ck_assert_msg(trial.plan.network.steers && trial.plan.network.is_plain, "%s",
                      table[i].network);
        assert_ports(&trial, table[i].ports);
        end(&trial);
    }
}
END_TEST

START_TEST(rules_are_held_and_say_what_is_less)
{
    struct trial trial;
    const struct enforcement *line;

    begin(&trial,
          "allow: [a.example, 'b.example:8080', 'c.example:7000'], deny: [d.example], "
          "publish: [7000]",
          true);
    line = find(&trial, "allow a.example");
    ck_assert_uint_ne(line->by, 0);
    ck_assert_str_eq(line->note,
                     "no nf_tables here: at other ports than 80, 443 and 8080 by the proxy");
    line = find(&trial, "allow b.example:8080");
    ck_assert_uint_ne(line->by, 0);
    ck_assert_ptr_null(line->note);
    line = find(&trial, "allow c.example:7000");
    ck_assert_uint_ne(line->by, 0);
    ck_assert_ptr_nonnull(strstr(line->note, "published"));
    line = find(&trial, "deny d.example");
    ck_assert_uint_ne(line->by, 0);
    ck_assert_ptr_null(line->note);
    ck_assert_uint_ne(find(&trial, "network proxy")->by, 0);
    ck_assert_ptr_nonnull(strstr(find(&trial, "network proxy")->note, "80, 443 and 8080"));
    ck_assert_uint_ne(find(&trial, "sandbox.network.publish: 7000")->by, 0);
    end(&trial);
}
END_TEST

START_TEST(ports_are_so_many_and_no_more)
{
    char text[2048] = "allow: [";
    char last[64];
    struct trial trial;

    for (int i = 0; i <= LIMIT_STEERED_PORTS; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "'a.example:%d', ",
                       5000 + i);
    (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "b.example]");
    begin(&trial, text, true);
    ck_assert_uint_eq(trial.plan.network.ports.count, LIMIT_STEERED_PORTS);
    (void)snprintf(last, sizeof(last), "allow a.example:%d", 5000 + LIMIT_STEERED_PORTS);
    ck_assert_uint_ne(find(&trial, last)->by, 0);
    ck_assert_ptr_nonnull(strstr(find(&trial, last)->note, "more than 16 ports"));
    ck_assert_ptr_null(find(&trial, "allow a.example:5000")->note);
    end(&trial);
}
END_TEST

START_TEST(every_port_of_every_host_cannot_be_had)
{
    struct trial trial;

    begin(&trial, "mode: isolated, deny: [a.example]", true);
    ck_assert(!trial.plan.network.steers && !trial.plan.network.is_plain);
    ck_assert_uint_eq(find(&trial, "network isolated")->by, 0);
    ck_assert_ptr_nonnull(strstr(find(&trial, "network isolated")->note, "nf_tables"));
    ck_assert_uint_eq(find(&trial, "deny a.example")->by, 0);
    end(&trial);
}
END_TEST

START_TEST(without_routes_there_is_no_filtered_network)
{
    struct trial trial;

    begin(&trial, "allow: [a.example]", false);
    ck_assert(!trial.plan.network.steers && !trial.plan.network.is_plain);
    ck_assert_uint_eq(find(&trial, "allow a.example")->by, 0);
    assert_ports(&trial, "");
    end(&trial);
}
END_TEST

START_TEST(image_has_the_ports)
{
    autofree struct image *image = NULL;
    struct bawn_error err = {0};
    struct trial trial;
    uint32_t *ports;

    begin(&trial, "allow: ['a.example:8080']", true);
    struct compile_input input = {.plan = &trial.plan,
                                  .looker = &nowhere,
                                  .cwd = "/",
                                  .user = "user",
                                  .release = "0",
                                  .best_effort = true,
                                  .last_capability = 40};
    ck_assert_msg(compile_image(&input, &image, &err) == 0, "%s", err.message);
    ck_assert(image->flags & IMAGE_STEERS);
    ck_assert(image->flags & IMAGE_PLAIN);
    ck_assert_uint_eq(image_count(image, PART_PORTS), 3);
    ports = (uint32_t *)(uintptr_t)image_part(image, PART_PORTS);
    ck_assert_uint_eq(ports[2], 8080);
    ck_assert_int_eq(image_check(image, image->size, NULL), 0);
    ports[2] = 65536;
    ck_assert_int_eq(image_check(image, image->size, NULL), -EBADMSG);
    ports[2] = 0;
    ck_assert_int_eq(image_check(image, image->size, NULL), -EBADMSG);
    ports[2] = 8080;
    image->parts[PART_PORTS].count = LIMIT_STEERED_PORTS + 1;
    ck_assert_int_eq(image_check(image, image->size, NULL), -EBADMSG);
    end(&trial);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ports");
    TCase *all = tcase_create("ports");

    tcase_add_test(all, ports_are_those_of_the_rules_and_of_the_web);
    tcase_add_test(all, rules_are_held_and_say_what_is_less);
    tcase_add_test(all, ports_are_so_many_and_no_more);
    tcase_add_test(all, every_port_of_every_host_cannot_be_had);
    tcase_add_test(all, without_routes_there_is_no_filtered_network);
    tcase_add_test(all, image_has_the_ports);
    suite_add_tcase(suite, all);
    return test_run(suite, "ports");
}
