/* SPDX-License-Identifier: Apache-2.0 */
#include "overlay/merge.h"

#include "base/cleanup.h"

#include <errno.h>
/* Its header of indexes has a field with a banned name, and nothing of it is needed. */
#define INCLUDE_git_index_h__
typedef struct git_index_entry git_index_entry;
#include <git2/global.h>
#include <git2/merge.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int merge_read(int fd, size_t limit, struct merge_text *ret_text)
{
    autofree char *bytes = NULL;
    size_t used = 0;
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    if ((uint64_t)st.st_size > limit)
        return -EFBIG;
    bytes = malloc((size_t)st.st_size + 1);
    if (!bytes)
        return -ENOMEM;
    while (used < (size_t)st.st_size) {
        ssize_t got = pread(fd, bytes + used, (size_t)st.st_size - used, (off_t)used);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            return -EAGAIN; /* it shrank while it was read */
        used += (size_t)got;
    }
    bytes[used] = '\0';
    *ret_text = (struct merge_text){take_ptr(&bytes), used};
    return 0;
}

static bool is_text(const struct merge_text *text)
{
    return !memchr(text->bytes, '\0', text->length);
}

static git_merge_file_input input_of(const struct merge_text *text)
{
    return (git_merge_file_input){
        .version = GIT_MERGE_FILE_INPUT_VERSION, .ptr = text->bytes, .size = text->length};
}

int merge_texts(const struct merge_text *base, const struct merge_text *host,
                const struct merge_text *session, struct merge_text *ret_merged)
{
    git_merge_file_input inputs[] = {input_of(base), input_of(host), input_of(session)};
    git_merge_file_result result = {0};
    int r = 0;

    if (!is_text(base) || !is_text(host) || !is_text(session))
        return 0;
    if (git_libgit2_init() < 0)
        return -ENOMEM;
    if (git_merge_file(&result, &inputs[0], &inputs[1], &inputs[2], NULL) < 0)
        r = -ENOMEM;
    if (r == 0 && result.automergeable) {
        *ret_merged = (struct merge_text){malloc(result.len + 1), result.len};
        r = ret_merged->bytes ? 1 : -ENOMEM;
        if (r == 1 && result.len)
            memcpy(ret_merged->bytes, result.ptr, result.len);
    }
    git_merge_file_result_free(&result);
    (void)git_libgit2_shutdown();
    return r;
}
