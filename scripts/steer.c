/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes kernel/steer_rules.h at build time: the netlink messages that steer all that a sandbox
 * sends to our listeners. They are the same every time, so nobody who starts a sandbox needs a
 * library for them.
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
 */
#include "wire/net.h"

#include <arpa/inet.h>
#include <libmnl/libmnl.h>
#include <libnftnl/chain.h>
#include <libnftnl/common.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <libnftnl/table.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter_ipv4.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH_BYTES = 4096 };

static const char table_name[] = "bawn", chain_name[] = "in";

struct making {
    struct mnl_nlmsg_batch *batch;
    uint32_t sequence;
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

static void put_table(struct making *making)
{
    struct nftnl_table *table = nftnl_table_alloc();
    struct nlmsghdr *head = begin(making, NFT_MSG_NEWTABLE, NLM_F_CREATE);

    nftnl_table_set_str(table, NFTNL_TABLE_NAME, table_name);
    nftnl_table_nlmsg_build_payload(head, table);
    nftnl_table_free(table);
    end(making);
}

static void put_chain(struct making *making)
{
    struct nftnl_chain *chain = nftnl_chain_alloc();
    struct nlmsghdr *head = begin(making, NFT_MSG_NEWCHAIN, NLM_F_CREATE);

    nftnl_chain_set_str(chain, NFTNL_CHAIN_TABLE, table_name);
    nftnl_chain_set_str(chain, NFTNL_CHAIN_NAME, chain_name);
    nftnl_chain_set_str(chain, NFTNL_CHAIN_TYPE, "filter");
    nftnl_chain_set_u32(chain, NFTNL_CHAIN_HOOKNUM, NF_INET_PRE_ROUTING);
    nftnl_chain_set_s32(chain, NFTNL_CHAIN_PRIO, NF_IP_PRI_MANGLE);
    nftnl_chain_nlmsg_build_payload(head, chain);
    nftnl_chain_free(chain);
    end(making);
}

static void put_rule(struct making *making, void (*fill)(struct nftnl_rule *rule))
{
    struct nftnl_rule *rule = nftnl_rule_alloc();
    struct nlmsghdr *head = begin(making, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);

    nftnl_rule_set_str(rule, NFTNL_RULE_TABLE, table_name);
    nftnl_rule_set_str(rule, NFTNL_RULE_CHAIN, chain_name);
    fill(rule);
    nftnl_rule_nlmsg_build_payload(head, rule);
    nftnl_rule_free(rule);
    end(making);
}

static void print_bytes(const char *name, const unsigned char *bytes, size_t size)
{
    printf("static const _Alignas(8) unsigned char %s[%zu] = {", name, size);
    for (size_t i = 0; i < size; i++)
        printf("%s%u,", i % 20 ? " " : "\n    ", bytes[i]);
    printf("\n};\n");
}

static void print_rules(const char *name, bool with_udp)
{
    static _Alignas(8) char room[2 * BATCH_BYTES];
    struct making making = {.batch = mnl_nlmsg_batch_start(room, BATCH_BYTES), .sequence = 1};

    if (!making.batch)
        abort();
    nftnl_batch_begin(mnl_nlmsg_batch_current(making.batch), making.sequence++);
    end(&making);
    put_table(&making);
    put_chain(&making);
    put_rule(&making, loopback_v4);
    put_rule(&making, loopback_v6);
    put_rule(&making, steer_tcp);
    if (with_udp)
        put_rule(&making, steer_udp);
    nftnl_batch_end(mnl_nlmsg_batch_current(making.batch), making.sequence++);
    end(&making);
    print_bytes(name, mnl_nlmsg_batch_head(making.batch), mnl_nlmsg_batch_size(making.batch));
    mnl_nlmsg_batch_stop(making.batch);
}

int main(void)
{
    printf("/* Made by scripts/steer.c. */\n");
    print_rules("steer_streams", false);
    print_rules("steer_all", true);
    return fflush(stdout) == 0 ? 0 : 1;
}
