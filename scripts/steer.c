/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes steer_rules.h at build time: the netlink messages that steer all that a sandbox sends to
 * our listeners; and with the argument veth veth_rules.h, for the host's end of a veth pair. They
 * are the same every time, so nobody who starts a sandbox needs a library for them.
 *
 *   table inet bawn {
 *       chain in {
 *           type filter hook prerouting priority mangle
 *           ip daddr 127.0.0.0/8 accept
 *           ip6 daddr ::1 accept
 *           meta l4proto tcp tproxy to :PORT accept
 *           udp dport != 53 tproxy to :PORT accept      (in the second set alone)
 *       }
 *   }
 *
 * For a network that a program outside leads out of, in the sandbox's own:
 *
 *   table inet bawn {
 *       chain refuse { as below }
 *       chain out {
 *           type filter hook output priority filter
 *           oifname lo accept
 *           ip daddr RANGE goto refuse                  (for each of base/special.h)
 *           meta nfproto ipv6 goto refuse               (in the set without IPv6 alone)
 *           icmpv6 type nd-neighbor-solicit, nd-neighbor-advert accept    (in that with it; they
 *                                                       find the way out, and none but the kernel
 *                                                       sends them)
 *           ip6 daddr RANGE goto refuse                 (the same)
 *           ip daddr ADDRESS goto refuse                (a set of its own, for one more of them)
 *           ip6 daddr ADDRESS & MASK goto refuse        (another)
 *       }
 *   }
 *
 * In the host's network, for a pair whose end is called NAME, as the table is; kernel/veth.c puts
 * another name of the same length there:
 *
 *   table inet NAME {
 *       flags owner                                     (gone with the socket that made it)
 *       chain refuse {
 *           meta l4proto tcp reject with tcp reset
 *           reject with icmpx admin-prohibited
 *       }
 *       chain in {                                      (no address of the host's own)
 *           type filter hook input priority filter
 *           iifname NAME icmpv6 type nd-neighbor-solicit, nd-neighbor-advert accept    (with IPv6)
 *           iifname NAME goto refuse
 *       }
 *       chain through {                                 (none that is not public)
 *           type filter hook forward priority filter
 *           iifname NAME ip daddr RANGE goto refuse     (for each of base/special.h)
 *           iifname NAME meta nfproto ipv6 goto refuse  (without IPv6)
 *           iifname NAME ip6 daddr RANGE goto refuse    (with IPv6)
 *           oifname NAME ct state established,related accept
 *           oifname NAME drop
 *           iifname NAME ip6 daddr ADDRESS & MASK goto refuse    (a set of its own)
 *       }
 *       chain own {                                     (nobody of the host's comes in)
 *           type filter hook output priority filter
 *           oifname NAME ct state established,related accept
 *           oifname NAME meta l4proto icmp accept
 *           oifname NAME meta l4proto icmpv6 accept     (with IPv6)
 *           oifname NAME drop
 *       }
 *       chain out {
 *           type nat hook postrouting priority srcnat
 *           iifname NAME masquerade
 *       }
 *   }
 */
#include "base/special.h"
#include "wire/net.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <libnftnl/chain.h>
#include <libnftnl/common.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <libnftnl/table.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter_ipv4.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 16384 };

struct making {
    struct mnl_nlmsg_batch *batch;
    uint32_t sequence;
    const char *table, *chain; /* of what is put next */
};

static struct nlmsghdr *begin(struct making *making, uint16_t type, uint16_t flags)
{
    return nftnl_nlmsg_build_hdr(mnl_nlmsg_batch_current(making->batch), type, NFPROTO_INET, flags,
                                 making->sequence++);
}

static void end(struct making *making)
{
    if (!mnl_nlmsg_batch_next(making->batch))
        abort();
}

static struct nftnl_expr *add(struct nftnl_rule *rule, const char *kind)
{
    struct nftnl_expr *expr = nftnl_expr_alloc(kind);

    if (!expr)
        abort();
    nftnl_rule_add_expr(rule, expr);
    return expr;
}

static void add_meta(struct nftnl_rule *rule, uint32_t key)
{
    struct nftnl_expr *meta = add(rule, "meta");

    nftnl_expr_set_u32(meta, NFTNL_EXPR_META_KEY, key);
    nftnl_expr_set_u32(meta, NFTNL_EXPR_META_DREG, NFT_REG_1);
}

static void add_payload(struct nftnl_rule *rule, uint32_t base, uint32_t offset, uint32_t size)
{
    struct nftnl_expr *payload = add(rule, "payload");

    nftnl_expr_set_u32(payload, NFTNL_EXPR_PAYLOAD_BASE, base);
    nftnl_expr_set_u32(payload, NFTNL_EXPR_PAYLOAD_DREG, NFT_REG_1);
    nftnl_expr_set_u32(payload, NFTNL_EXPR_PAYLOAD_OFFSET, offset);
    nftnl_expr_set_u32(payload, NFTNL_EXPR_PAYLOAD_LEN, size);
}

static void add_compare(struct nftnl_rule *rule, uint32_t how, const void *value, uint32_t size)
{
    struct nftnl_expr *compare = add(rule, "cmp");

    nftnl_expr_set_u32(compare, NFTNL_EXPR_CMP_SREG, NFT_REG_1);
    nftnl_expr_set_u32(compare, NFTNL_EXPR_CMP_OP, how);
    nftnl_expr_set(compare, NFTNL_EXPR_CMP_DATA, value, size);
}

static void add_byte_is(struct nftnl_rule *rule, uint32_t meta_key, uint8_t value)
{
    add_meta(rule, meta_key);
    add_compare(rule, NFT_CMP_EQ, &value, sizeof(value));
}

static void add_accept(struct nftnl_rule *rule)
{
    struct nftnl_expr *verdict = add(rule, "immediate");

    nftnl_expr_set_u32(verdict, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
    nftnl_expr_set_u32(verdict, NFTNL_EXPR_IMM_VERDICT, NF_ACCEPT);
}

/* The first byte of the address is enough. */
static void loopback_v4(struct nftnl_rule *rule)
{
    static const uint8_t first = 127;

    add_byte_is(rule, NFT_META_NFPROTO, NFPROTO_IPV4);
    add_payload(rule, NFT_PAYLOAD_NETWORK_HEADER, 16, 1);
    add_compare(rule, NFT_CMP_EQ, &first, sizeof(first));
    add_accept(rule);
}

static void loopback_v6(struct nftnl_rule *rule)
{
    add_byte_is(rule, NFT_META_NFPROTO, NFPROTO_IPV6);
    add_payload(rule, NFT_PAYLOAD_NETWORK_HEADER, 24, sizeof(in6addr_loopback));
    add_compare(rule, NFT_CMP_EQ, &in6addr_loopback, sizeof(in6addr_loopback));
    add_accept(rule);
}

static void add_steering(struct nftnl_rule *rule)
{
    const uint16_t port = htons(NET_PORT);
    struct nftnl_expr *expr = add(rule, "immediate");

    nftnl_expr_set_u32(expr, NFTNL_EXPR_IMM_DREG, NFT_REG_1);
    nftnl_expr_set(expr, NFTNL_EXPR_IMM_DATA, &port, sizeof(port));
    expr = add(rule, "tproxy");
    nftnl_expr_set_u32(expr, NFTNL_EXPR_TPROXY_FAMILY, NFPROTO_UNSPEC);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_TPROXY_REG_PORT, NFT_REG_1);
    add_accept(rule);
}

static void steer_tcp(struct nftnl_rule *rule)
{
    add_byte_is(rule, NFT_META_L4PROTO, IPPROTO_TCP);
    add_steering(rule);
}

/* Questions for names have a socket of their own. */
static void steer_udp(struct nftnl_rule *rule)
{
    const uint16_t port = htons(NET_DNS_PORT);

    add_byte_is(rule, NFT_META_L4PROTO, IPPROTO_UDP);
    add_payload(rule, NFT_PAYLOAD_TRANSPORT_HEADER, 2, sizeof(port));
    add_compare(rule, NFT_CMP_NEQ, &port, sizeof(port));
    add_steering(rule);
}

static void add_way(struct nftnl_rule *rule, uint32_t meta_key)
{
    static const char name[IFNAMSIZ] = NET_VETH_NAME;

    add_meta(rule, meta_key);
    add_compare(rule, NFT_CMP_EQ, name, sizeof(name));
}

static void add_verdict(struct nftnl_rule *rule, uint32_t verdict, const char *chain)
{
    struct nftnl_expr *expr = add(rule, "immediate");

    nftnl_expr_set_u32(expr, NFTNL_EXPR_IMM_DREG, NFT_REG_VERDICT);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_IMM_VERDICT, verdict);
    if (chain)
        nftnl_expr_set_str(expr, NFTNL_EXPR_IMM_CHAIN, chain);
}

static void add_mask(struct nftnl_rule *rule, const void *mask, uint32_t size)
{
    static const unsigned char zero[sizeof(struct in6_addr)];
    struct nftnl_expr *expr = add(rule, "bitwise");

    nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_SREG, NFT_REG_1);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_DREG, NFT_REG_1);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_BITWISE_LEN, size);
    nftnl_expr_set(expr, NFTNL_EXPR_BITWISE_MASK, mask, size);
    nftnl_expr_set(expr, NFTNL_EXPR_BITWISE_XOR, zero, size);
}

static void add_reject(struct nftnl_rule *rule, uint32_t type, uint8_t code)
{
    struct nftnl_expr *expr = add(rule, "reject");

    nftnl_expr_set_u32(expr, NFTNL_EXPR_REJECT_TYPE, type);
    nftnl_expr_set_u8(expr, NFTNL_EXPR_REJECT_CODE, code);
}

static void reset_tcp(struct nftnl_rule *rule)
{
    add_byte_is(rule, NFT_META_L4PROTO, IPPROTO_TCP);
    add_reject(rule, NFT_REJECT_TCP_RST, 0);
}

static void reject_rest(struct nftnl_rule *rule)
{
    add_reject(rule, NFT_REJECT_ICMPX_UNREACH, NFT_REJECT_ICMPX_ADMIN_PROHIBITED);
}

static void refuse_all(struct nftnl_rule *rule)
{
    add_way(rule, NFT_META_IIFNAME);
    add_verdict(rule, (uint32_t)NFT_GOTO, "refuse");
}

static void refuse_v6(struct nftnl_rule *rule)
{
    add_way(rule, NFT_META_IIFNAME);
    add_byte_is(rule, NFT_META_NFPROTO, NFPROTO_IPV6);
    add_verdict(rule, (uint32_t)NFT_GOTO, "refuse");
}

static void accept_answers(struct nftnl_rule *rule)
{
    static const uint32_t none;
    static const uint32_t answers =
        NF_CT_STATE_BIT(IP_CT_ESTABLISHED) | NF_CT_STATE_BIT(IP_CT_RELATED);
    struct nftnl_expr *expr;

    add_way(rule, NFT_META_OIFNAME);
    expr = add(rule, "ct");
    nftnl_expr_set_u32(expr, NFTNL_EXPR_CT_KEY, NFT_CT_STATE);
    nftnl_expr_set_u32(expr, NFTNL_EXPR_CT_DREG, NFT_REG_1);
    add_mask(rule, &answers, sizeof(answers));
    add_compare(rule, NFT_CMP_NEQ, &none, sizeof(none));
    add_verdict(rule, NF_ACCEPT, NULL);
}

static void accept_icmp6(struct nftnl_rule *rule)
{
    add_way(rule, NFT_META_OIFNAME);
    add_byte_is(rule, NFT_META_L4PROTO, IPPROTO_ICMPV6);
    add_verdict(rule, NF_ACCEPT, NULL);
}

static void accept_icmp(struct nftnl_rule *rule)
{
    add_way(rule, NFT_META_OIFNAME);
    add_byte_is(rule, NFT_META_L4PROTO, IPPROTO_ICMP);
    add_verdict(rule, NF_ACCEPT, NULL);
}

static void drop_rest(struct nftnl_rule *rule)
{
    add_way(rule, NFT_META_OIFNAME);
    add_verdict(rule, NF_DROP, NULL);
}

static void masquerade(struct nftnl_rule *rule)
{
    add_way(rule, NFT_META_IIFNAME);
    (void)add(rule, "masq");
}

static void put_table(struct making *making, uint32_t flags)
{
    struct nftnl_table *table = nftnl_table_alloc();
    struct nlmsghdr *head =
        begin(making, NFT_MSG_NEWTABLE, flags ? NLM_F_CREATE | NLM_F_EXCL : NLM_F_CREATE);

    nftnl_table_set_str(table, NFTNL_TABLE_NAME, making->table);
    if (flags)
        nftnl_table_set_u32(table, NFTNL_TABLE_FLAGS, flags);
    nftnl_table_nlmsg_build_payload(head, table);
    nftnl_table_free(table);
    end(making);
}

/* type NULL: one that others go to. */
static void put_chain(struct making *making, const char *name, const char *type, uint32_t hook,
                      int32_t priority)
{
    struct nftnl_chain *chain = nftnl_chain_alloc();
    struct nlmsghdr *head = begin(making, NFT_MSG_NEWCHAIN, NLM_F_CREATE);

    making->chain = name;
    nftnl_chain_set_str(chain, NFTNL_CHAIN_TABLE, making->table);
    nftnl_chain_set_str(chain, NFTNL_CHAIN_NAME, name);
    if (type) {
        nftnl_chain_set_str(chain, NFTNL_CHAIN_TYPE, type);
        nftnl_chain_set_u32(chain, NFTNL_CHAIN_HOOKNUM, hook);
        nftnl_chain_set_s32(chain, NFTNL_CHAIN_PRIO, priority);
    }
    nftnl_chain_nlmsg_build_payload(head, chain);
    nftnl_chain_free(chain);
    end(making);
}

static struct nftnl_rule *new_rule(const struct making *making)
{
    struct nftnl_rule *rule = nftnl_rule_alloc();

    nftnl_rule_set_str(rule, NFTNL_RULE_TABLE, making->table);
    nftnl_rule_set_str(rule, NFTNL_RULE_CHAIN, making->chain);
    return rule;
}

static void put_made(struct making *making, struct nftnl_rule *rule)
{
    struct nlmsghdr *head = begin(making, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);

    nftnl_rule_nlmsg_build_payload(head, rule);
    nftnl_rule_free(rule);
    end(making);
}

static void put_rule(struct making *making, void (*fill)(struct nftnl_rule *rule))
{
    struct nftnl_rule *rule = new_rule(making);

    fill(rule);
    put_made(making, rule);
}

/* is_ours: of whatever comes from the pair; else of all. */
static void put_range(struct making *making, const uint8_t address[4], unsigned bits, bool is_ours)
{
    struct nftnl_rule *rule = new_rule(making);
    const uint32_t mask = htonl(~0U << (32 - bits));

    if (is_ours)
        add_way(rule, NFT_META_IIFNAME);
    add_byte_is(rule, NFT_META_NFPROTO, NFPROTO_IPV4);
    add_payload(rule, NFT_PAYLOAD_NETWORK_HEADER, 16, 4);
    add_mask(rule, &mask, sizeof(mask));
    add_compare(rule, NFT_CMP_EQ, address, 4);
    add_verdict(rule, (uint32_t)NFT_GOTO, "refuse");
    put_made(making, rule);
}

static void put_masked_v6(struct making *making, const uint8_t address[16], const uint8_t mask[16],
                          bool is_ours)
{
    struct nftnl_rule *rule = new_rule(making);

    if (is_ours)
        add_way(rule, NFT_META_IIFNAME);
    add_byte_is(rule, NFT_META_NFPROTO, NFPROTO_IPV6);
    add_payload(rule, NFT_PAYLOAD_NETWORK_HEADER, 24, 16);
    add_mask(rule, mask, 16);
    add_compare(rule, NFT_CMP_EQ, address, 16);
    add_verdict(rule, (uint32_t)NFT_GOTO, "refuse");
    put_made(making, rule);
}

static void put_range_v6(struct making *making, const uint8_t address[16], unsigned bits,
                         bool is_ours)
{
    uint8_t mask[16] = {0};

    for (unsigned bit = 0; bit < bits; bit++)
        mask[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    put_masked_v6(making, address, mask, is_ours);
}

static void print_bytes(const char *name, const unsigned char *bytes, size_t size)
{
    printf("static const _Alignas(8) unsigned char %s[%zu] = {", name, size);
    for (size_t i = 0; i < size; i++)
        printf("%s%u,", i % 20 ? " " : "\n    ", bytes[i]);
    printf("\n};\n");
}

static void print_rules(const char *name, const char *table, void (*fill)(struct making *making))
{
    static _Alignas(8) char room[2 * BATCH_BYTES];
    struct making making = {
        .batch = mnl_nlmsg_batch_start(room, BATCH_BYTES), .sequence = 1, .table = table};

    if (!making.batch)
        abort();
    nftnl_batch_begin(mnl_nlmsg_batch_current(making.batch), making.sequence++);
    end(&making);
    fill(&making);
    nftnl_batch_end(mnl_nlmsg_batch_current(making.batch), making.sequence++);
    end(&making);
    print_bytes(name, mnl_nlmsg_batch_head(making.batch), mnl_nlmsg_batch_size(making.batch));
    mnl_nlmsg_batch_stop(making.batch);
}

static void steer_streams(struct making *making)
{
    put_table(making, 0);
    put_chain(making, "in", "filter", NF_INET_PRE_ROUTING, NF_IP_PRI_MANGLE);
    put_rule(making, loopback_v4);
    put_rule(making, loopback_v6);
    put_rule(making, steer_tcp);
}

static void steer_all(struct making *making)
{
    steer_streams(making);
    put_rule(making, steer_udp);
}

/* Neighbour solicitations, or advertisements. */
static void accept_neighbours(struct nftnl_rule *rule)
{
    static const uint8_t first = ND_NEIGHBOR_SOLICIT, last = ND_NEIGHBOR_ADVERT;

    add_byte_is(rule, NFT_META_NFPROTO, NFPROTO_IPV6);
    add_byte_is(rule, NFT_META_L4PROTO, IPPROTO_ICMPV6);
    add_payload(rule, NFT_PAYLOAD_TRANSPORT_HEADER, 0, sizeof(first));
    add_compare(rule, NFT_CMP_GTE, &first, sizeof(first));
    add_compare(rule, NFT_CMP_LTE, &last, sizeof(last));
    add_verdict(rule, NF_ACCEPT, NULL);
}

static void accept_our_neighbours(struct nftnl_rule *rule)
{
    add_way(rule, NFT_META_IIFNAME);
    accept_neighbours(rule);
}

static void guard_pair(struct making *making, bool has_v6)
{
    put_table(making, NFT_TABLE_F_OWNER);
    put_chain(making, "refuse", NULL, 0, 0);
    put_rule(making, reset_tcp);
    put_rule(making, reject_rest);
    put_chain(making, "in", "filter", NF_INET_LOCAL_IN, NF_IP_PRI_FILTER);
    if (has_v6)
        put_rule(making, accept_our_neighbours);
    put_rule(making, refuse_all);
    put_chain(making, "through", "filter", NF_INET_FORWARD, NF_IP_PRI_FILTER);
#define RANGE(a, b, c, d, bits, what) put_range(making, (const uint8_t[]){a, b, c, d}, bits, true);
    SPECIAL_V4(RANGE)
#undef RANGE
    if (!has_v6)
        put_rule(making, refuse_v6);
#define RANGE(a, b, c, d, e, f, g, h, bits, what)                                                  \
    if (has_v6)                                                                                    \
        put_range_v6(making, (const uint8_t[])SPECIAL_V6_BYTES(a, b, c, d, e, f, g, h), bits, true);
    SPECIAL_V6(RANGE)
#undef RANGE
    put_rule(making, accept_answers);
    put_rule(making, drop_rest);
    put_chain(making, "own", "filter", NF_INET_LOCAL_OUT, NF_IP_PRI_FILTER);
    put_rule(making, accept_answers);
    put_rule(making, accept_icmp);
    if (has_v6)
        put_rule(making, accept_icmp6);
    put_rule(making, drop_rest);
    put_chain(making, "out", "nat", NF_INET_POST_ROUTING, NF_IP_PRI_NAT_SRC);
    put_rule(making, masquerade);
}

static void veth_v4(struct making *making)
{
    guard_pair(making, false);
}

static void veth_both(struct making *making)
{
    guard_pair(making, true);
}

static void veth_one_v6(struct making *making)
{
    making->chain = "through";
    put_masked_v6(making, (const uint8_t[]){NET_ANY_V6_BYTES}, (const uint8_t[]){NET_MASK_V6_BYTES},
                  true);
}

static void accept_loopback(struct nftnl_rule *rule)
{
    static const char name[IFNAMSIZ] = "lo";

    add_meta(rule, NFT_META_OIFNAME);
    add_compare(rule, NFT_CMP_EQ, name, sizeof(name));
    add_verdict(rule, NF_ACCEPT, NULL);
}

static void refuse_any_v6(struct nftnl_rule *rule)
{
    add_byte_is(rule, NFT_META_NFPROTO, NFPROTO_IPV6);
    add_verdict(rule, (uint32_t)NFT_GOTO, "refuse");
}

static void guard_inside(struct making *making)
{
    put_table(making, 0);
    put_chain(making, "refuse", NULL, 0, 0);
    put_rule(making, reset_tcp);
    put_rule(making, reject_rest);
    put_chain(making, "out", "filter", NF_INET_LOCAL_OUT, NF_IP_PRI_FILTER);
    put_rule(making, accept_loopback);
#define RANGE(a, b, c, d, bits, what) put_range(making, (const uint8_t[]){a, b, c, d}, bits, false);
    SPECIAL_V4(RANGE)
#undef RANGE
}

static void guard_v4(struct making *making)
{
    guard_inside(making);
    put_rule(making, refuse_any_v6);
}

static void guard_both(struct making *making)
{
    guard_inside(making);
    put_rule(making, accept_neighbours);
#define RANGE(a, b, c, d, e, f, g, h, bits, what)                                                  \
    put_range_v6(making, (const uint8_t[])SPECIAL_V6_BYTES(a, b, c, d, e, f, g, h), bits, false);
    SPECIAL_V6(RANGE)
#undef RANGE
}

static void guard_one(struct making *making)
{
    making->chain = "out";
    put_range(making, (const uint8_t[]){NET_ANY_BYTES}, 32, false);
}

static void guard_one_v6(struct making *making)
{
    making->chain = "out";
    put_masked_v6(making, (const uint8_t[]){NET_ANY_V6_BYTES}, (const uint8_t[]){NET_MASK_V6_BYTES},
                  false);
}

int main(int argc, char **argv)
{
    printf("/* Made by scripts/steer.c. */\n");
    if (argc > 1 && strcmp(argv[1], "veth") == 0) {
        print_rules("veth_v4", NET_VETH_NAME, veth_v4);
        print_rules("veth_both", NET_VETH_NAME, veth_both);
        print_rules("veth_one_v6", NET_VETH_NAME, veth_one_v6);
    } else {
        print_rules("steer_streams", "bawn", steer_streams);
        print_rules("steer_all", "bawn", steer_all);
        print_rules("guard_v4", "bawn", guard_v4);
        print_rules("guard_both", "bawn", guard_both);
        print_rules("guard_one", "bawn", guard_one);
        print_rules("guard_one_v6", "bawn", guard_one_v6);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
