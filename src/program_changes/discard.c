/* SPDX-License-Identifier: Apache-2.0 */
/* bawn discard: removes layers. */
#include "base/error.h"
#include "base/json.h"
#include "program_changes/own.h"

#include <errno.h>
#include <string.h>

/* SECURITY: with a lock, or a session that runs would lose its layers. */
static int discard(struct request *request, const char *name, struct bawn_error *err)
{
    struct store *store = &request->store;
    int result;

    store_close(store);
    result = store_open_bare(&request->place, name, store, err);
    /* An apply that was broken off has things in the tree that only this knows of. */
    if (result == 0)
        result = recover(request, err);
    return result < 0 ? result : store_remove(&request->place, store, err);
}

int discard_run(struct request *request, struct bawn_error *err)
{
    struct strbuf out = {0};
    int result = choose_session(request, err);
    size_t count = request->word_count;
    char first[LAYERS_NAME_BYTES];

    if (result < 0)
        return result;
    memcpy(first, request->store.name, sizeof(first));
    for (size_t i = 0; i < count; i++) {
        if (!store_has(&request->place, request->words[i]))
            return refuse_unknown(request->words[i], err);
    }
    result = discard(request, first, err);
    for (size_t i = 0; result == 0 && i < count; i++) {
        /* It may have been named twice. */
        if (store_has(&request->place, request->words[i]))
            result = discard(request, request->words[i], err);
    }
    if (result < 0)
        return result;
    if (request->json) {
        json_open(&out, NULL, '{');
        json_open(&out, "discarded", '[');
        json_put_string(&out, NULL, first);
        for (size_t i = 0; i < count; i++)
            json_put_string(&out, NULL, request->words[i]);
        json_close(&out, ']');
        json_close(&out, '}');
        strbuf_add(&out, "\n");
    } else if (!request->quiet) {
        strbuf_addf(&out, "discarded %s", first);
        for (size_t i = 0; i < count; i++)
            strbuf_addf(&out, ", %s", request->words[i]);
        strbuf_add(&out, "\n");
    }
    return print(&out);
}

int remove_run(struct request *request, struct bawn_error *err)
{
    int result = store_place_open(&request->place, err);

    for (size_t i = 0; result == 0 && i < request->word_count; i++) {
        if (store_has(&request->place, request->words[i]))
            result = discard(request, request->words[i], err);
    }
    return result < 0 ? result : STATUS_OK;
}
