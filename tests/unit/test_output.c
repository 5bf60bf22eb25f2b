/* SPDX-License-Identifier: Apache-2.0 */
/* What a detached command says, and those who watch it late or slowly. */
#include "lib/test.h"
#include "session/output.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BLOCK = 256, ALL = 1 << 30 };

/* A command with a terminal, played by the other end of a socket. */
struct scene {
    struct loop loop;
    struct output *output;
    struct viewer *viewer;
    int command, master, screen;
    uint32_t said; /* numbers, each one more than the last */
};

static void scene_begin(struct scene *scene)
{
    struct bawn_error err = {0};
    int ends[2];

    *scene = (struct scene){.screen = -EBADF};
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    scene->command = ends[0];
    scene->master = ends[1];
    ck_assert_int_eq(loop_init(&scene->loop, &err), 0);
    ck_assert_int_eq(output_new(&scene->loop, scene->master, true, &scene->output, &err), 0);
}

static void scene_run(struct scene *scene)
{
    ck_assert_int_eq(loop_run(&scene->loop, 20, NULL), 0);
}

static void scene_attach(struct scene *scene)
{
    struct bawn_error err = {0};
    struct winsize size = {0};

    scene->screen = output_attach(scene->output, &size, &scene->viewer, &err);
    ck_assert_int_ge(scene->screen, 0);
}

static void scene_end(struct scene *scene)
{
    output_free(scene->output);
    loop_done(&scene->loop);
    close(scene->command);
    close(scene->master);
    close(scene->screen);
}

/* As many as can be said before the command has to wait; limit is a multiple of BLOCK. */
static void say_numbers(struct scene *scene, uint32_t limit)
{
    uint32_t block[BLOCK];
    uint32_t before;

    do {
        before = scene->said;
        while (scene->said < limit) {
            for (uint32_t i = 0; i < BLOCK; i++)
                block[i] = scene->said + i;
            if (send(scene->command, block, sizeof(block), MSG_DONTWAIT) < 0)
                break;
            scene->said += BLOCK;
        }
        scene_run(scene);
    } while (scene->said > before);
}

/* How many numbers come, each one more than the last. */
static uint32_t count_numbers(struct scene *scene, uint32_t *ret_first)
{
    uint32_t count = 0;
    uint32_t number;
    int idle = 0;

    while (idle < 3) {
        ssize_t size = recv(scene->screen, &number, sizeof(number), MSG_DONTWAIT);

        if (size < 0) {
            ck_assert_int_eq(errno, EAGAIN);
            scene_run(scene);
            idle++;
            continue;
        }
        idle = 0;
        ck_assert_int_eq(size, sizeof(number));
        if (count == 0)
            *ret_first = number;
        ck_assert_uint_eq(number, *ret_first + count);
        count++;
    }
    return count;
}

START_TEST(who_looks_away_misses_nothing_of_the_end)
{
    uint32_t first = 1;
    struct scene scene;

    ck_assert_ptr_ne(signal(SIGPIPE, SIG_IGN), SIG_ERR);
    scene_begin(&scene);
    scene_attach(&scene);
    say_numbers(&scene, ALL);
    ck_assert_uint_gt(scene.said, OUTPUT_RING_BYTES / sizeof(scene.said));
    /* Keys that nobody takes: the command's end is watched for them alone. */
    while (send(scene.master, "", 1, MSG_DONTWAIT) > 0)
        continue;
    ck_assert_int_eq(send(scene.screen, "key", 3, 0), 3);
    scene_run(&scene);
    ck_assert_int_eq(shutdown(scene.command, SHUT_RDWR), 0);
    scene_run(&scene);
    ck_assert_uint_eq(count_numbers(&scene, &first), scene.said);
    ck_assert_uint_eq(first, 0);
    scene_end(&scene);
}
END_TEST

START_TEST(who_comes_late_sees_the_last_of_it)
{
    uint32_t last = 2 * OUTPUT_RING_BYTES / sizeof(uint32_t);
    uint32_t first = 0;
    struct scene scene;

    scene_begin(&scene);
    say_numbers(&scene, last);
    scene_attach(&scene);
    ck_assert_uint_eq(count_numbers(&scene, &first), last / 2);
    ck_assert_uint_eq(first, last / 2);
    scene_end(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("output");
    TCase *cases = tcase_create("output");

    tcase_add_test(cases, who_looks_away_misses_nothing_of_the_end);
    tcase_add_test(cases, who_comes_late_sees_the_last_of_it);
    suite_add_tcase(suite, cases);
    return test_run(suite, "output");
}
