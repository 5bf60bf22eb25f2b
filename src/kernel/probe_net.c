/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts: a network namespace, and nf_tables in it. No packet leaves the namespace. */
#include "kernel/probe_try.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

PROBE_WORK(try_net_ns)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd;

    if (!try_enter(result, env, CLONE_NEWNET))
        return false;
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return probe_fail(result, "socket");
    if (ioctl(fd, SIOCGIFFLAGS, &request) < 0)
        return probe_fail(result, "SIOCGIFFLAGS");
    request.ifr_flags |= IFF_UP;
    return ioctl(fd, SIOCSIFFLAGS, &request) == 0 || probe_fail(result, "SIOCSIFFLAGS");
}

enum {
    SEQ_TABLE = 1, /* the messages that must be acknowledged */
    SEQ_CHAIN = 2,
    SEQ_LAST = SEQ_CHAIN,
};

#define ATTR_HEADER ((size_t)NLMSG_ALIGN(sizeof(struct nlattr)))

struct batch {
    _Alignas(struct nlmsghdr) unsigned char bytes[512];
    size_t length;
    size_t message; /* where the message being built starts */
};

static void *batch_room(struct batch *batch, size_t size)
{
    void *room = batch->bytes + batch->length;

    batch->length += NLMSG_ALIGN(size);
    ((struct nlmsghdr *)(void *)(batch->bytes + batch->message))->nlmsg_len =
        (unsigned)(batch->length - batch->message);
    return room;
}

static void batch_begin(struct batch *batch, int type, int family, unsigned seq)
{
    struct nlmsghdr *header;
    struct nfgenmsg *body;

    batch->message = batch->length;
    header = batch_room(batch, sizeof(*header));
    header->nlmsg_type = (uint16_t)type;
    header->nlmsg_flags = NLM_F_REQUEST;
    if (seq)
        header->nlmsg_flags |= NLM_F_CREATE | NLM_F_ACK;
    header->nlmsg_seq = seq;
    body = batch_room(batch, sizeof(*body));
    body->nfgen_family = (uint8_t)family;
    body->version = NFNETLINK_V0;
    body->res_id = seq ? 0 : htons(NFNL_SUBSYS_NFTABLES);
}

static struct nlattr *batch_attr(struct batch *batch, int type, const void *data, size_t size)
{
    struct nlattr *attr = batch_room(batch, ATTR_HEADER + size);

    attr->nla_type = (uint16_t)type;
    attr->nla_len = (uint16_t)(ATTR_HEADER + size);
    if (size)
        memcpy((unsigned char *)attr + ATTR_HEADER, data, size);
    return attr;
}

/* table inet bawn { chain out { type nat hook output priority -100; } } */
static void batch_fill(struct batch *batch)
{
    static const char table[] = "bawn", chain[] = "out", type[] = "nat";
    const uint32_t hook = htonl(NF_INET_LOCAL_OUT), priority = htonl((uint32_t)-100);
    struct nlattr *nest;

    batch_begin(batch, NFNL_MSG_BATCH_BEGIN, AF_UNSPEC, 0);
    batch_begin(batch, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWTABLE, NFPROTO_INET, SEQ_TABLE);
    batch_attr(batch, NFTA_TABLE_NAME, table, sizeof(table));
    batch_begin(batch, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWCHAIN, NFPROTO_INET, SEQ_CHAIN);
    batch_attr(batch, NFTA_CHAIN_TABLE, table, sizeof(table));
    batch_attr(batch, NFTA_CHAIN_NAME, chain, sizeof(chain));
    nest = batch_attr(batch, NFTA_CHAIN_HOOK | NLA_F_NESTED, NULL, 0);
    batch_attr(batch, NFTA_HOOK_HOOKNUM, &hook, sizeof(hook));
    batch_attr(batch, NFTA_HOOK_PRIORITY, &priority, sizeof(priority));
    nest->nla_len = (uint16_t)(batch->bytes + batch->length - (unsigned char *)nest);
    batch_attr(batch, NFTA_CHAIN_TYPE, type, sizeof(type));
    batch_begin(batch, NFNL_MSG_BATCH_END, AF_UNSPEC, 0);
}

/* Every message of ours is acknowledged, or one is refused. */
static bool await_acks(struct probe_result *result, int fd)
{
    _Alignas(struct nlmsghdr) unsigned char bytes[4096];
    unsigned seen = 0;

    while (seen < SEQ_LAST) {
        ssize_t got = recv(fd, bytes, sizeof(bytes), 0);
        const struct nlmsghdr *header = (const void *)bytes;
        size_t left = got > 0 ? (size_t)got : 0;

        if (got <= 0)
            return probe_fail(result, "recv from nf_tables");
        while (left >= sizeof(*header) && header->nlmsg_len >= sizeof(*header) &&
               header->nlmsg_len <= left) {
            const struct nlmsgerr *error = (const void *)(header + 1);
            size_t step = NLMSG_ALIGN(header->nlmsg_len);

            if (header->nlmsg_type == NLMSG_ERROR && error->error)
                return probe_fail_with(result, -error->error,
                                       header->nlmsg_seq == SEQ_CHAIN ? "nf_tables nat chain"
                                                                      : "nf_tables table");
            seen += header->nlmsg_type == NLMSG_ERROR;
            left -= step < left ? step : left;
            header = (const void *)((const unsigned char *)header + step);
        }
    }
    return true;
}

PROBE_WORK(try_nftables)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    struct batch batch = {0};
    int fd;

    if (!try_enter(result, env, CLONE_NEWNET))
        return false;
    fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
    if (fd < 0)
        return probe_fail(result, "socket(NETLINK_NETFILTER)");
    batch_fill(&batch);
    if (sendto(fd, batch.bytes, batch.length, 0, (struct sockaddr *)&kernel, sizeof(kernel)) < 0)
        return probe_fail(result, "send to nf_tables");
    return await_acks(result, fd);
}
