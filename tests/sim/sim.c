/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim.h"

#include <stdio.h>
#include <string.h>

static bool is_known(const struct sock_filter *at)
{
    switch (at->code) {
    case BPF_LD | BPF_W | BPF_ABS:
        return at->k % 4 == 0 && at->k + 4 <= sizeof(struct seccomp_data);
    case BPF_ALU | BPF_AND | BPF_K:
    case BPF_JMP | BPF_JA:
    case BPF_JMP | BPF_JEQ | BPF_K:
    case BPF_JMP | BPF_JGE | BPF_K:
    case BPF_JMP | BPF_JGT | BPF_K:
    case BPF_JMP | BPF_JSET | BPF_K:
    case BPF_RET | BPF_K:
        return true;
    default:
        return false;
    }
}

bool sim_check(const struct sock_filter *program, size_t count)
{
    if (count == 0 || count > BPF_MAXINSNS || program[count - 1].code != (BPF_RET | BPF_K))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct sock_filter *at = &program[i];
        size_t left = count - i - 1;

        if (!is_known(at))
            return false;
        if (BPF_CLASS(at->code) != BPF_JMP)
            continue;
        if (BPF_OP(at->code) == BPF_JA ? at->k >= left : at->jt >= left || at->jf >= left)
            return false;
    }
    return true;
}

static bool does_jump(const struct sock_filter *at, uint32_t a)
{
    switch (BPF_OP(at->code)) {
    case BPF_JEQ:
        return a == at->k;
    case BPF_JGE:
        return a >= at->k;
    case BPF_JGT:
        return a > at->k;
    default:
        return (a & at->k) != 0;
    }
}

struct sim_result sim_run(const struct sock_filter *program, const struct seccomp_data *data)
{
    struct sim_result result = {0};
    uint32_t a = 0;

    for (const struct sock_filter *at = program;; at++) {
        result.steps++;
        switch (BPF_CLASS(at->code)) {
        case BPF_LD:
            memcpy(&a, (const char *)data + at->k, sizeof(a));
            if (at->k >= offsetof(struct seccomp_data, instruction_pointer))
                result.read_args = true;
            break;
        case BPF_ALU:
            a &= at->k;
            break;
        case BPF_JMP:
            if (BPF_OP(at->code) == BPF_JA)
                at += at->k;
            else
                at += does_jump(at, a) ? at->jt : at->jf;
            break;
        default:
            result.verdict = at->k;
            return result;
        }
    }
}

const char *sim_word(uint32_t verdict)
{
    static char words[4][32];
    static unsigned turn;
    char *word = words[turn++ % 4];
    uint32_t action = verdict & SECCOMP_RET_ACTION_FULL;

    if (action == SECCOMP_RET_ERRNO)
        (void)snprintf(word, sizeof(words[0]), "errno %u", verdict & SECCOMP_RET_DATA);
    else if (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_USER_NOTIF ||
             action == SECCOMP_RET_KILL_PROCESS)
        (void)snprintf(word, sizeof(words[0]), "%s",
                       action == SECCOMP_RET_ALLOW        ? "allow"
                       : action == SECCOMP_RET_USER_NOTIF ? "notify"
                                                          : "kill");
    else
        (void)snprintf(word, sizeof(words[0]), "%#x", verdict);
    return word;
}
