/* SPDX-License-Identifier: Apache-2.0 */
/* bawn gen: prints what other programs load. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "program_policy/own.h"
#include "program_policy/verb.h"

#include <errno.h>
#include <string.h>

/* What the options say, and the ports that it points to. */
struct request {
    struct bawn_firewall firewall;
    VEC(uint16_t) ports;
};

static void request_done(struct request *request)
{
    vec_done(&request->ports);
}

static int read_port(const struct option_given *given, uint16_t *ret_port, struct bawn_error *err)
{
    char shown[64];
    uint64_t port = 0;

    if (text_parse_count(given->value, UINT16_MAX, &port) && port > 0) {
        *ret_port = (uint16_t)port;
        return 0;
    }
    text_escape(shown, sizeof(shown), given->value, strlen(given->value), TEXT_ONE_LINE);
    (void)error_set(err, EINVAL, "usage.bad_value", "--%s: '%s' is no port", given->option->name,
                    shown);
    error_hint(err, "give a number from 1 to %d", UINT16_MAX);
    return -EINVAL;
}

static int read_option(struct request *request, const struct option_given *given,
                       struct bawn_error *err)
{
    struct bawn_firewall *firewall = &request->firewall;
    uint16_t port;
    int result;

    switch ((int)given->option->id) {
    case OPTION_UID:
        firewall->user = given->value;
        return 0;
    case OPTION_LOOPBACK:
        firewall->loopback = true;
        return 0;
    case OPTION_PROXY_PORT:
        return read_port(given, &firewall->proxy_port, err);
    case OPTION_TRANSPARENT:
        return read_port(given, &firewall->transparent_port, err);
    case OPTION_DNS_PORT:
        return read_port(given, &firewall->dns_port, err);
    case OPTION_PORT:
        result = read_port(given, &port, err);
        return result < 0 || vec_push(&request->ports, port) ? result : error_memory(err);
    default:
        return 0;
    }
}

static int read_request(struct request *request, const struct options *options, bool needs_proxy,
                        struct bawn_error *err)
{
    struct bawn_firewall *firewall = &request->firewall;
    int result = 0;

    vec_each (&options->given, given) {
        result = read_option(request, given, err);
        if (result < 0)
            return result;
    }
    firewall->ports = request->ports.items;
    firewall->port_count = request->ports.count;
    if (!firewall->user) {
        result = error_set(err, EINVAL, "usage.missing_option", "--uid is missing");
        error_hint(err, "say whose processes are to be held: --uid NAME, or --uid NUMBER");
    } else if (needs_proxy && !firewall->proxy_port && !firewall->transparent_port) {
        result = error_set(err, EINVAL, "usage.missing_option", "--proxy-port is missing");
        error_hint(err, "say where on loopback the proxy is: --proxy-port 3128 for one that "
                        "programs are told of, --transparent 3129 for one that gets all TCP");
    }
    return result;
}

static int gen_print(const struct options *options, enum bawn_firewall_format format,
                     const char *name, struct output *output, struct bawn_error *err)
{
    __attribute__((cleanup(request_done))) struct request request = {0};
    autofree char *text = NULL;
    int result = read_request(&request, options, format != BAWN_FIREWALL_IPTABLES_CLEANUP, err);

    if (result == 0)
        result = bawn_firewall_print(&request.firewall, format, &text, err);
    if (result < 0)
        return result;
    if (!output->json) {
        strbuf_add(&output->text, text);
        return STATUS_OK;
    }
    json_open(&output->text, NULL, '{');
    json_put_string(&output->text, "format", name);
    json_put_string(&output->text, "text", text);
    json_close(&output->text, '}');
    return STATUS_OK;
}

static int run_nft(const struct options *options, struct output *output, struct bawn_error *err)
{
    return gen_print(options, BAWN_FIREWALL_NFT, "nft", output, err);
}

static int run_iptables(const struct options *options, struct output *output,
                        struct bawn_error *err)
{
    return gen_print(options, BAWN_FIREWALL_IPTABLES, "iptables", output, err);
}

static int run_cleanup(const struct options *options, struct output *output, struct bawn_error *err)
{
    return gen_print(options, BAWN_FIREWALL_IPTABLES_CLEANUP, "iptables-cleanup", output, err);
}

static int run_pf(const struct options *options, struct output *output, struct bawn_error *err)
{
    return gen_print(options, BAWN_FIREWALL_PF, "pf", output, err);
}

static const struct option rows[] = {
    {.id = OPTION_UID,
     .name = "uid",
     .value = "USER",
     .help = "Whose processes are held: a name or a number, not root. Must be given."},
    {.id = OPTION_PROXY_PORT,
     .name = "proxy-port",
     .value = "PORT",
     .help = "The port of the proxy at 127.0.0.1 and ::1. This or --transparent must be given."},
    {.id = OPTION_TRANSPARENT,
     .name = "transparent",
     .value = "PORT",
     .help = "All TCP that is not for loopback goes to this port of loopback instead: to a proxy "
             "that asks the kernel where it was meant to go."},
    {.id = OPTION_DNS_PORT,
     .name = "dns-port",
     .value = "PORT",
     .help = "All that is for port 53, over UDP and TCP, goes to this port of loopback instead: to "
             "a resolver. Default: names cannot be looked up."},
    {.id = OPTION_PORT,
     .name = "port",
     .value = "PORT",
     .repeats = true,
     .help = "Another TCP port at 127.0.0.1 and ::1 that may be reached."},
    {.id = OPTION_LOOPBACK,
     .name = "loopback",
     .help = "Every port of loopback but 53 may be reached, over TCP and UDP."},
};
static const struct option_group group = {"What may be reached", rows,
                                          sizeof(rows) / sizeof(rows[0])};
static const struct option_group *const groups[] = {&group, &verb_options, NULL};

static const struct verb verb_gen_nft = {
    .name = "gen nft",
    .arguments = "",
    .summary = "print rules for nft that leave a user nothing but a proxy",
    .details =
        "Prints a table for nft(8), and loads nothing. With it the processes of one user reach a "
        "proxy on loopback, and nothing else, over IPv4 and IPv6. Whatever else they send is "
        "refused at once: TCP with a reset, the rest as prohibited. They may still answer who "
        "connects to them over loopback. Connections over loopback that are open already stay "
        "open. The first lines of the text say how to load and remove it; loading it again "
        "replaces it.\n"
        "The proxy must run as another user. The ids that /etc/subuid gives the user are held as "
        "well.\n"
        "Such rules hold sockets by who opened them. What others do for the user they do not hold: "
        "programs with the set-user-ID bit, daemons that look up names or start containers on "
        "request.",
    .groups = groups,
    .run = run_nft,
};

static const struct verb verb_gen_iptables = {
    .name = "gen iptables",
    .arguments = "",
    .summary = "print the same for iptables and ip6tables",
    .details = "Prints a shell script with the rules of 'bawn gen nft' for iptables(8) and "
               "ip6tables(8), and loads nothing. They are in chains of their own, and one rule at "
               "the head of OUTPUT leads there. Run again, the script replaces what it made. "
               "'bawn gen iptables-cleanup' prints what removes it.",
    .groups = groups,
    .run = run_iptables,
};

static const struct verb verb_gen_cleanup = {
    .name = "gen iptables-cleanup",
    .arguments = "",
    .summary = "print what removes the rules of 'gen iptables', and nothing else",
    .details = "Prints a shell script that removes the chains that the script of 'bawn gen "
               "iptables' made for the user, and what leads to them. What is not there is no "
               "failure. The options are the same, so that one word of the command changes; only "
               "--uid counts.",
    .groups = groups,
    .run = run_cleanup,
};

static const struct verb verb_gen_pf = {
    .name = "gen pf",
    .arguments = "",
    .summary = "print the same for pf of macOS and FreeBSD",
    .details = "Prints an anchor for pfctl(8) with the rules of 'bawn gen nft', and loads nothing. "
               "pf knows the users of TCP and UDP only: other protocols are not held. Give the "
               "number that the user has on that machine.",
    .groups = groups,
    .run = run_pf,
};

const struct verb verb_gen = {
    .name = "gen",
    .arguments = "VERB [OPTION]... [ARGUMENT]...",
    .summary = "print firewall rules that leave a user nothing but a proxy",
    .details = "Prints what other programs load: rules of a firewall, for those who force a proxy "
               "by uid. It changes nothing itself.",
    .groups = (const struct option_group *const[]){&verb_options, NULL},
    .verbs = (const struct verb *const[]){&verb_gen_nft, &verb_gen_iptables, &verb_gen_cleanup,
                                          &verb_gen_pf, NULL},
};
