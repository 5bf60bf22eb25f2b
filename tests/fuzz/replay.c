/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the files of directories: the corpora are ordinary tests. */
#include "base/cleanup.h"
#include "base/file.h"
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

bool fuzz_is_replay = true;

enum { REPLAY_BYTES = 16 * 1024 * 1024 };

/* One input in memory of exactly its size, so that a sanitizer sees a read behind it. */
static int replay_file(int dir_fd, const char *name)
{
    autofree char *text = NULL;
    autofree uint8_t *exact = NULL;
    struct bawn_error err;
    size_t length;

    if (file_read(dir_fd, name, REPLAY_BYTES, &text, &length, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    exact = malloc(length ? length : 1);
    if (!exact)
        return -1;
    memcpy(exact, text, length);
    return LLVMFuzzerTestOneInput(exact, length);
}

/* How many files there were, or -1. */
static int replay_dir(const char *path)
{
    struct dirent **entries = NULL;
    autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int found = fd < 0 ? -1 : scandir(path, &entries, NULL, alphasort);
    int count = 0;

    if (found < 0) {
        (void)fprintf(stderr, "%s: cannot be read\n", path);
        return -1;
    }
    for (int i = 0; i < found; i++) {
        struct stat st;

        /* A crash names the input by the last line that was printed. */
        if (count >= 0 && fstatat(fd, entries[i]->d_name, &st, 0) == 0 && S_ISREG(st.st_mode)) {
            (void)printf("# %s/%s\n", path, entries[i]->d_name);
            (void)fflush(stdout);
            count = replay_file(fd, entries[i]->d_name) == 0 ? count + 1 : -1;
        }
        free(entries[i]);
    }
    free((void *)entries);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;

    if (argc < 2) {
        (void)fprintf(stderr, "usage: %s DIRECTORY...\n", argv[0]);
        return EXIT_FAILURE;
    }
    for (int i = 1; i < argc; i++) {
        int count = replay_dir(argv[i]);

        if (count <= 0) {
            (void)fprintf(stderr, "%s: no input\n", argv[i]);
            return EXIT_FAILURE;
        }
        total += count;
    }
    (void)printf("%d inputs\n", total);
    return EXIT_SUCCESS;
}
