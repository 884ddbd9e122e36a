/* SPDX-License-Identifier: Apache-2.0 */
/* shade_questions.c: what a scene's shaders ask of the host. A hit that asks what has no reply yet
 * leaves its question in a table behind the film (device/surface/shade.h, k_reply); the replies
 * stand behind the scene's words, and the picture is made again. */
#include "shade_scene.h"

#include <stdlib.h>
#include <string.h>

enum { REPLIES_MAX = 1 << 16, WORDS_MAX = 1 << 24, SLOTS = 1, FIRST = 2 };

static enum status no_memory(struct error *err)
{
    return error_msg(err, STATUS_MEMORY, "out of memory for what a scene's shaders ask");
}

static uint32_t mark(const uint32_t *said, uint32_t words) /* k_mark of device/surface/shade.h */
{
    uint32_t m = 0x811C9DC5u;
    for (uint32_t i = 0; i < words; i++) {
        m = (m ^ said[i]) * 0x01000193u;
        m ^= m >> 15;
    }
    return m == 0 || m == UINT32_MAX ? 1 : m;
}

/* k_reply. */
static bool is_answered(const struct shade_scene *x, uint32_t table, const uint32_t *said,
                        uint32_t words)
{
    const uint32_t slots = x->words[SLOTS], first = x->words[FIRST];
    for (uint32_t i = 0, m = mark(said, words); i < slots; i++) {
        const uint32_t at = x->words[first + ((m + i) & (slots - 1))];
        if (at == 0)
            return false;
        if (x->words[at] == table && memcmp(&x->words[at + 1], said, 4u * words) == 0)
            return true;
    }
    return false;
}

/* Puts an entry, which lies at that word, into its slot. */
static void slot_put(struct shade_scene *x, uint32_t at, uint32_t words)
{
    const uint32_t slots = x->words[SLOTS], first = x->words[FIRST];
    uint32_t m = mark(&x->words[at + 1], words);
    while (x->words[first + (m & (slots - 1))])
        m++;
    x->words[first + (m & (slots - 1))] = at;
}

/* The slots and the replies behind the scene's own words. */
static enum status words_make(struct shade_scene *x, struct error *err)
{
    struct shade_scene_replies *r = &x->replies;
    uint32_t slots = 64;
    while (slots < 2 * r->count)
        slots *= 2;
    const size_t n = x->own_words + slots + r->word_count;
    uint32_t *words = realloc(x->words, n * sizeof *words);
    if (!words)
        return no_memory(err);
    memset(words + x->own_words, 0, slots * sizeof *words);
    memcpy(words + x->own_words + slots, r->words, r->word_count * sizeof *words);
    x->words = words;
    x->word_count = n;
    words[SLOTS] = slots;
    words[FIRST] = (uint32_t)x->own_words;
    for (size_t i = 0; i < r->count; i++)
        slot_put(x, (uint32_t)(x->own_words + slots + r->entries[i].at), r->entries[i].words);
    return STATUS_OK;
}

/* Room for one more entry of so many words; where it begins. */
static enum status entry_take(struct shade_scene_replies *r, size_t words, size_t *at,
                              struct error *err)
{
    if (r->word_count + words > r->word_cap) {
        const size_t cap = 2 * (r->word_count + words);
        uint32_t *more = realloc(r->words, cap * sizeof *more);
        if (!more)
            return no_memory(err);
        r->words = more;
        r->word_cap = cap;
    }
    if (r->count == r->cap) {
        const size_t cap = r->cap ? 2 * r->cap : 64;
        void *more = realloc(r->entries, cap * sizeof *r->entries);
        if (!more)
            return no_memory(err);
        r->entries = more;
        r->cap = cap;
    }
    *at = r->word_count;
    r->word_count += words;
    return STATUS_OK;
}

static enum status answer(struct shade_scene *x, struct shade_scene_voice *v, uint32_t number,
                          const uint32_t *said, struct error *err)
{
    static const struct asl_globals none;
    const struct asl_emitted_host *q = &v->emitted.hosts[number];
    const size_t words = 2 + (size_t)q->words + q->reply;
    struct error why;
    size_t at = 0, point;
    if (x->replies.count == REPLIES_MAX || x->replies.word_count + words > WORDS_MAX)
        return error_set(err, STATUS_LIMIT, q->at,
                         "the scene's shaders ask more than %d different questions of the host, as "
                         "%s() does here: its arguments may not differ from hit to hit",
                         REPLIES_MAX, q->callee);
    enum status st = shade_scene_host(x, v, err);
    if (st == STATUS_OK)
        st = entry_take(&x->replies, words, &at, err);
    if (st)
        return st;
    uint32_t *entry = x->replies.words + at;
    entry[0] = (uint32_t)q->table;
    memcpy(entry + 1, said, q->words * sizeof *said);
    asl_host_ask(v->host, &none, number, said + 1, q->words - 1, entry + 2 + q->words);
    entry[1 + q->words] = asl_host_spoke(v->host);
    if (asl_host_failed(v->host, &point, &why)) {
        if (err)
            *err = why;
        return why.code;
    }
    x->replies.entries[x->replies.count++] =
        (struct shade_scene_entry){.at = at, .words = q->words};
    return STATUS_OK;
}

static enum status table_answer(struct shade_scene *x, struct shade_scene_voice *v, uint32_t number,
                                const uint32_t *table, bool *asked, struct error *err)
{
    const struct asl_emitted_host *q = &v->emitted.hosts[number];
    enum status st = STATUS_OK;
    for (uint32_t k = 0; k < q->copies && st == STATUS_OK; k++) {
        const uint32_t *entry = table + 1 + k * (1 + (size_t)q->words);
        if (entry[0] == 0 || entry[0] == UINT32_MAX || entry[1] != v->args ||
            is_answered(x, (uint32_t)q->table, entry + 1, q->words))
            continue;
        *asked = true;
        st = answer(x, v, number, entry + 1, err);
    }
    return st;
}

enum status shade_scene_answer(struct shade_scene *x, const uint32_t *tables, bool *asked,
                               struct error *err)
{
    enum status st = STATUS_OK;
    *asked = false;
    for (size_t i = 0; i < x->voice_count; i++) {
        struct shade_scene_voice *v = &x->voices[i];
        for (uint32_t k = 0; k < v->emitted.host_count && st == STATUS_OK; k++)
            if (v->emitted.hosts[k].reply)
                st = table_answer(x, v, k, tables + v->table + v->emitted.hosts[k].table, asked,
                                  err);
    }
    return st == STATUS_OK && *asked ? words_make(x, err) : st;
}

void shade_scene_replies_free(struct shade_scene_replies *r)
{
    free(r->words);
    free(r->entries);
    *r = (struct shade_scene_replies){0};
}
