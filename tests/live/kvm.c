/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual machine of sixteen bytes: kvm [DEVICE]. In real mode it adds two
 * numbers, writes the sum to a port and halts. Says "guest says 7" when that came
 * out; else what failed, and status 1, or 2 when the device cannot be opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum { GUEST_AT = 0x1000, PORT = 0x3f8, EXITS_MAX = 16 };

static const uint8_t guest[] = {
    0xba, 0xf8, 0x03, /* mov $0x3f8, %dx */
    0x00, 0xd8,       /* add %bl, %al */
    0x04, '0',        /* add $'0', %al */
    0xee,             /* out %al, (%dx) */
    0xf4,             /* hlt */
};

static int check(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "kvm: %s: %s\n", what, strerror(errno));
        exit(strcmp(what, "open") == 0 ? 2 : 1);
    }
    return result;
}

static void *map(int fd, size_t size, int flags)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

    check(memory == MAP_FAILED ? -1 : 0, "mmap");
    return memory;
}

static void set_registers(int cpu)
{
    struct kvm_sregs sregs;
    struct kvm_regs regs = {.rip = GUEST_AT, .rax = 3, .rbx = 4, .rflags = 2};

    check(ioctl(cpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
    sregs.cs.base = 0;
    sregs.cs.selector = 0;
    check(ioctl(cpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
    check(ioctl(cpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}

int main(int argc, char **argv)
{
    int kvm = check(open(argc > 1 ? argv[1] : "/dev/kvm", O_RDWR | O_CLOEXEC), "open");
    int vm = check(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
    int cpu = check(ioctl(vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
    int size = check(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL), "KVM_GET_VCPU_MMAP_SIZE");
    void *memory = map(-1, 0x1000, MAP_SHARED | MAP_ANONYMOUS);
    struct kvm_run *run = map(cpu, (size_t)size, MAP_SHARED);
    struct kvm_userspace_memory_region region = {
        .guest_phys_addr = GUEST_AT, .memory_size = 0x1000, .userspace_addr = (uintptr_t)memory};

    memcpy(memory, guest, sizeof(guest));
    check(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
    set_registers(cpu);
    for (int i = 0; i < EXITS_MAX; i++) {
        check(ioctl(cpu, KVM_RUN, NULL), "KVM_RUN");
        if (run->exit_reason == KVM_EXIT_HLT)
            return 0;
        if (run->exit_reason != KVM_EXIT_IO || run->io.port != PORT) {
            fprintf(stderr, "kvm: exit reason %u\n", run->exit_reason);
            return 1;
        }
        printf("guest says %c\n", *((const char *)run + run->io.data_offset));
    }
    return 1;
}
