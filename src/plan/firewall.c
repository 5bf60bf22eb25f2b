/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of a host's firewall that leave one user a proxy on loopback, as text.
 *
 * How it works: what a socket of the user sends goes to a chain of the user's
 * own, which lets the listed ports of loopback through and refuses the rest.
 * TCP to loopback that opens no connection passes as well, or the user's
 * servers could not answer there. A connection that the user opens starts with
 * a packet that has SYN and no ACK, and that one is held. So no rule of the
 * filter needs the state of connections.
 *
 * A redirection happens before the filter, which then sees loopback and the
 * port of the proxy.
 */
#include "plan/firewall.h"

#include "base/strbuf.h"

enum { PORT_DNS = 53 };

/* One of the two programs of iptables. */
struct family {
    const char *program;
    const char *host; /* where the proxy is */
    const char *loopback;
    const char *refusal;
};
static const struct family families[] = {
    {"iptables", "127.0.0.1", "127.0.0.0/8", "icmp-admin-prohibited"},
    {"ip6tables", "::1", "::1", "icmp6-adm-prohibited"},
};

/* The listed ports by index, each once: 0 for one that is not there or was there before. */
static uint16_t listed_port(const struct bawn_firewall *reach, size_t index)
{
    const uint16_t named[] = {reach->proxy_port, reach->transparent_port, reach->dns_port};
    const size_t count = sizeof(named) / sizeof(named[0]);
    uint16_t port = index < count ? named[index] : reach->ports[index - count];

    for (size_t i = 0; i < index; i++) {
        if (port == (i < count ? named[i] : reach->ports[i - count]))
            return 0;
    }
    return port;
}

static size_t listed_count(const struct bawn_firewall *reach)
{
    return 3 + reach->port_count;
}

/* "{ 3128, 8080 }": nft and pf write sets alike. */
static void add_ports(struct strbuf *out, const struct bawn_firewall *reach)
{
    const char *before = "{ ";

    for (size_t i = 0; i < listed_count(reach); i++) {
        if (listed_port(reach, i)) {
            strbuf_addf(out, "%s%u", before, listed_port(reach, i));
            before = ", ";
        }
    }
    strbuf_add(out, " }");
}

static bool has_redirection(const struct bawn_firewall *reach)
{
    return reach->transparent_port || reach->dns_port;
}

/* "user 1000 (ada)" */
static void add_user(struct strbuf *out, const struct firewall *firewall)
{
    strbuf_addf(out, "user %u", firewall->uid);
    if (firewall->name) {
        strbuf_add(out, " (");
        strbuf_add_escaped(out, firewall->name);
        strbuf_add(out, ")");
    }
}

static void add_title(struct strbuf *out, const struct firewall *firewall, const char *verb)
{
    strbuf_add(out, "# What ");
    add_user(out, firewall);
    strbuf_addf(out, " may reach. Made by 'bawn gen %s'.\n", verb);
}

static const char other_user[] =
    "# The proxy must run as another user: as this one it could reach nothing itself.\n";

/* ---- nft ---- */

/* A rule for each range: a set may not have ranges that overlap. */
static void nft_users(struct strbuf *out, const struct firewall *firewall, const char *chain)
{
    strbuf_addf(out, "\t\tmeta skuid %u goto %s\n", firewall->uid, chain);
    for (size_t i = 0; i < firewall->further_count; i++)
        strbuf_addf(out, "\t\tmeta skuid %u-%u goto %s\n", firewall->further[i].first,
                    firewall->further[i].last, chain);
}

static void nft_redirection(struct strbuf *out, const struct firewall *firewall)
{
    const struct bawn_firewall *reach = firewall->reach;

    strbuf_add(out, "\n\tchain nat_output {\n"
                    "\t\ttype nat hook output priority -100; policy accept;\n");
    nft_users(out, firewall, "nat_user");
    strbuf_add(out, "\t}\n\n\tchain nat_user {\n");
    if (reach->dns_port)
        strbuf_addf(out, "\t\tmeta l4proto { tcp, udp } th dport %d redirect to :%u\n", PORT_DNS,
                    reach->dns_port);
    if (reach->transparent_port)
        strbuf_addf(out,
                    "\t\tip daddr != 127.0.0.0/8 meta l4proto tcp redirect to :%u\n"
                    "\t\tip6 daddr != ::1 meta l4proto tcp redirect to :%u\n",
                    reach->transparent_port, reach->transparent_port);
    strbuf_add(out, "\t}\n");
}

static void nft_user(struct strbuf *out, const struct bawn_firewall *reach)
{
    static const char *const hosts[] = {"ip daddr 127.0.0.1", "ip6 daddr ::1"};
    static const char *const networks[] = {"ip daddr 127.0.0.0/8", "ip6 daddr ::1"};

    strbuf_add(out, "\tchain user {\n"
                    "\t\toifname \"lo\" tcp flags & (syn | ack) != syn accept\n");
    for (size_t i = 0; i < 2; i++) {
        strbuf_addf(out, "\t\t%s tcp dport ", hosts[i]);
        add_ports(out, reach);
        strbuf_add(out, " accept\n");
        if (reach->dns_port)
            strbuf_addf(out, "\t\t%s udp dport %u accept\n", hosts[i], reach->dns_port);
        if (reach->loopback)
            strbuf_addf(out,
                        "\t\toifname \"lo\" %s meta l4proto { tcp, udp } th dport != %d accept\n",
                        networks[i], PORT_DNS);
    }
    strbuf_add(out, "\t\tmeta l4proto tcp reject with tcp reset\n"
                    "\t\treject with icmpx type admin-prohibited\n"
                    "\t}\n");
}

static void add_nft(struct strbuf *out, const struct firewall *firewall)
{
    unsigned uid = firewall->uid;

    add_title(out, firewall, "nft");
    strbuf_addf(out,
                "# Load it:   bawn gen nft ... | nft -f -   (loading it again replaces it)\n"
                "# Remove it: nft delete table inet bawn_%u\n",
                uid);
    strbuf_add(out, other_user);
    strbuf_addf(out,
                "table inet bawn_%u\n"
                "delete table inet bawn_%u\n"
                "table inet bawn_%u {\n"
                "\tchain output {\n"
                "\t\ttype filter hook output priority 0; policy accept;\n",
                uid, uid, uid);
    nft_users(out, firewall, "user");
    strbuf_add(out, "\t}\n\n");
    nft_user(out, firewall->reach);
    if (has_redirection(firewall->reach))
        nft_redirection(out, firewall);
    strbuf_add(out, "}\n");
}

/* ---- iptables ---- */

/* Chains and what leads to them, in the text of iptables-restore. */
static void restore_chains(struct strbuf *out, const struct firewall *firewall, const char *table)
{
    unsigned uid = firewall->uid;

    strbuf_addf(out, "*%s\n:bawn-%u - [0:0]\n:bawn-%u-user - [0:0]\n", table, uid, uid);
    strbuf_addf(out, "-A bawn-%u -m owner --uid-owner %u -j bawn-%u-user\n", uid, uid, uid);
    for (size_t i = 0; i < firewall->further_count; i++)
        strbuf_addf(out, "-A bawn-%u -m owner --uid-owner %u-%u -j bawn-%u-user\n", uid,
                    firewall->further[i].first, firewall->further[i].last, uid);
}

static void restore_user(struct strbuf *out, const struct firewall *firewall,
                         const struct family *family)
{
    const struct bawn_firewall *reach = firewall->reach;
    unsigned uid = firewall->uid;

    strbuf_addf(out, "-A bawn-%u-user -o lo -p tcp -m tcp ! --tcp-flags SYN,ACK SYN -j ACCEPT\n",
                uid);
    for (size_t i = 0; i < listed_count(reach); i++) {
        if (listed_port(reach, i))
            strbuf_addf(out, "-A bawn-%u-user -d %s -p tcp -m tcp --dport %u -j ACCEPT\n", uid,
                        family->host, listed_port(reach, i));
    }
    if (reach->dns_port)
        strbuf_addf(out, "-A bawn-%u-user -d %s -p udp -m udp --dport %u -j ACCEPT\n", uid,
                    family->host, reach->dns_port);
    if (reach->loopback)
        strbuf_addf(out,
                    "-A bawn-%u-user -o lo -d %s -p tcp -m tcp ! --dport %d -j ACCEPT\n"
                    "-A bawn-%u-user -o lo -d %s -p udp -m udp ! --dport %d -j ACCEPT\n",
                    uid, family->loopback, PORT_DNS, uid, family->loopback, PORT_DNS);
    strbuf_addf(out,
                "-A bawn-%u-user -p tcp -j REJECT --reject-with tcp-reset\n"
                "-A bawn-%u-user -j REJECT --reject-with %s\n",
                uid, uid, family->refusal);
}

static void restore_redirection(struct strbuf *out, const struct firewall *firewall,
                                const struct family *family)
{
    const struct bawn_firewall *reach = firewall->reach;
    unsigned uid = firewall->uid;

    if (reach->dns_port)
        strbuf_addf(out,
                    "-A bawn-%u-user -p tcp -m tcp --dport %d -j REDIRECT --to-ports %u\n"
                    "-A bawn-%u-user -p udp -m udp --dport %d -j REDIRECT --to-ports %u\n",
                    uid, PORT_DNS, reach->dns_port, uid, PORT_DNS, reach->dns_port);
    if (reach->transparent_port)
        strbuf_addf(out, "-A bawn-%u-user ! -d %s -p tcp -j REDIRECT --to-ports %u\n", uid,
                    family->loopback, reach->transparent_port);
}

/* SECURITY: at the head of OUTPUT, or what another rule accepts would never come here. */
static void shell_jump(struct strbuf *out, const struct firewall *firewall,
                       const struct family *family, const char *table)
{
    unsigned uid = firewall->uid;

    strbuf_addf(out,
                "%s -w -t %s -C OUTPUT -j bawn-%u 2>/dev/null ||\n"
                "    %s -w -t %s -I OUTPUT -j bawn-%u\n",
                family->program, table, uid, family->program, table, uid);
}

/* What is not there is no failure. */
static void shell_removal(struct strbuf *out, const struct firewall *firewall,
                          const struct family *family, const char *table)
{
    static const char *const ends[] = {"", "-user"};
    unsigned uid = firewall->uid;

    strbuf_addf(out, "%s -w -t %s -D OUTPUT -j bawn-%u 2>/dev/null || :\n", family->program, table,
                uid);
    for (size_t i = 0; i < 2; i++)
        strbuf_addf(out,
                    "%s -w -t %s -F bawn-%u%s 2>/dev/null || :\n"
                    "%s -w -t %s -X bawn-%u%s 2>/dev/null || :\n",
                    family->program, table, uid, ends[i], family->program, table, uid, ends[i]);
}

static void shell_family(struct strbuf *out, const struct firewall *firewall,
                         const struct family *family)
{
    bool redirects = has_redirection(firewall->reach);

    strbuf_addf(out, "\n%s-restore -w --noflush <<'EOF'\n", family->program);
    restore_chains(out, firewall, "filter");
    restore_user(out, firewall, family);
    strbuf_add(out, "COMMIT\n");
    if (redirects) {
        restore_chains(out, firewall, "nat");
        restore_redirection(out, firewall, family);
        strbuf_add(out, "COMMIT\n");
    }
    strbuf_add(out, "EOF\n");
    shell_jump(out, firewall, family, "filter");
    if (redirects)
        shell_jump(out, firewall, family, "nat");
    else
        shell_removal(out, firewall, family, "nat");
}

static void add_iptables(struct strbuf *out, const struct firewall *firewall)
{
    strbuf_add(out, "#!/bin/sh\n");
    add_title(out, firewall, "iptables");
    strbuf_addf(out,
                "# Load it:   bawn gen iptables ... | sh   (loading it again replaces it)\n"
                "# Remove it: bawn gen iptables-cleanup --uid %u | sh\n",
                firewall->uid);
    strbuf_add(out, other_user);
    strbuf_add(out, "set -e\n");
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        shell_family(out, firewall, &families[i]);
}

static void add_iptables_cleanup(struct strbuf *out, const struct firewall *firewall)
{
    strbuf_add(out, "#!/bin/sh\n");
    strbuf_add(out, "# Removes what 'bawn gen iptables' made for ");
    add_user(out, firewall);
    strbuf_add(out, ".\n");
    strbuf_addf(out, "# Run it: bawn gen iptables-cleanup --uid %u | sh\nset -e\n", firewall->uid);
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        /* Who may not look may not remove either: that is a failure. */
        strbuf_addf(out, "\n%s -w -S OUTPUT >/dev/null\n", families[i].program);
        shell_removal(out, firewall, &families[i], "filter");
        shell_removal(out, firewall, &families[i], "nat");
    }
}

/* ---- pf ---- */

/* KERNEL: a redirection of pf knows no users, and happens where packets come in. So packets of the
 * user are sent to lo0, where those that are for no address of this host are redirected. */
static void pf_redirections(struct strbuf *out, const struct bawn_firewall *reach)
{
    if (reach->dns_port)
        strbuf_addf(out,
                    "rdr pass on lo0 inet proto { tcp, udp } from any to ! (self) port %d -> "
                    "127.0.0.1 port %u\n"
                    "rdr pass on lo0 inet6 proto { tcp, udp } from any to ! (self) port %d -> "
                    "::1 port %u\n",
                    PORT_DNS, reach->dns_port, PORT_DNS, reach->dns_port);
    if (reach->transparent_port)
        strbuf_addf(out,
                    "rdr pass on lo0 inet proto tcp from any to ! (self) -> 127.0.0.1 port %u\n"
                    "rdr pass on lo0 inet6 proto tcp from any to ! (self) -> ::1 port %u\n",
                    reach->transparent_port, reach->transparent_port);
}

static void pf_routes(struct strbuf *out, const struct firewall *firewall)
{
    const struct bawn_firewall *reach = firewall->reach;
    unsigned uid = firewall->uid;

    if (reach->dns_port)
        strbuf_addf(out,
                    "pass out quick route-to (lo0 127.0.0.1) inet proto { tcp, udp } from any to "
                    "! (self) port %d user %u\n"
                    "pass out quick route-to (lo0 ::1) inet6 proto { tcp, udp } from any to "
                    "! (self) port %d user %u\n",
                    PORT_DNS, uid, PORT_DNS, uid);
    if (reach->transparent_port)
        strbuf_addf(out,
                    "pass out quick route-to (lo0 127.0.0.1) inet proto tcp from any to "
                    "! (self) user %u\n"
                    "pass out quick route-to (lo0 ::1) inet6 proto tcp from any to "
                    "! (self) user %u\n",
                    uid, uid);
}

static void pf_passes(struct strbuf *out, const struct firewall *firewall)
{
    const struct bawn_firewall *reach = firewall->reach;
    unsigned uid = firewall->uid;

    strbuf_addf(out, "pass out quick on lo0 proto tcp all user %u flags A/A no state\n", uid);
    for (size_t i = 0; i < 2; i++) {
        const char *family = i == 0 ? "inet" : "inet6";
        const char *host = i == 0 ? "127.0.0.1" : "::1";

        strbuf_addf(out, "pass out quick on lo0 %s proto tcp from any to %s port ", family, host);
        add_ports(out, reach);
        strbuf_addf(out, " user %u\n", uid);
        if (reach->dns_port)
            strbuf_addf(out, "pass out quick on lo0 %s proto udp from any to %s port %u user %u\n",
                        family, host, reach->dns_port, uid);
        if (reach->loopback)
            strbuf_addf(out,
                        "pass out quick on lo0 %s proto { tcp, udp } from any to %s port != %d "
                        "user %u\n",
                        family, i == 0 ? "127.0.0.0/8" : host, PORT_DNS, uid);
    }
}

static void add_pf(struct strbuf *out, const struct firewall *firewall)
{
    unsigned uid = firewall->uid;

    add_title(out, firewall, "pf");
    strbuf_addf(out,
                "# pf.conf must have:  %sanchor \"bawn/*\"\n"
                "# Load it:   bawn gen pf ... | pfctl -a bawn/%u -f -   (loading it again "
                "replaces it)\n"
                "# Remove it: pfctl -a bawn/%u -F all\n",
                has_redirection(firewall->reach) ? "rdr-anchor \"bawn/*\" and " : "", uid, uid);
    strbuf_add(out, other_user);
    strbuf_add(out, "# pf knows the users of TCP and UDP only: other protocols are not held.\n");
    pf_redirections(out, firewall->reach);
    pf_passes(out, firewall);
    pf_routes(out, firewall);
    strbuf_addf(out, "block return out quick proto { tcp, udp } all user %u\n", uid);
}

int firewall_print(const struct firewall *firewall, enum bawn_firewall_format format,
                   char **ret_text, struct bawn_error *err)
{
    static void (*const printers[])(struct strbuf * out, const struct firewall *firewall) = {
        [BAWN_FIREWALL_NFT] = add_nft,
        [BAWN_FIREWALL_IPTABLES] = add_iptables,
        [BAWN_FIREWALL_IPTABLES_CLEANUP] = add_iptables_cleanup,
        [BAWN_FIREWALL_PF] = add_pf,
    };
    autostrbuf struct strbuf out = {0};

    printers[format](&out, firewall);
    return strbuf_give(&out, ret_text, err);
}
