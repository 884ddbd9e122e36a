/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"
#include "steps/offers.h"

#include <string.h>

static const struct {
    const char *name, *inputs, *given;
} answers[] = {
#define ANSWER(name, inputs, given) {name, inputs, given},
#include "answers.def"
#undef ANSWER
    {NULL, NULL, NULL}};

void answer_inputs(const struct scene *s, const struct render_job *job, char hex[33])
{
    char text[256];
    int n = snprintf(text, sizeof text, "%s %ux%u crop %u %u %u %u samples %u+%u depth %u %u %llu",
                     s->hash, job->width, job->height, job->crop[0], job->crop[1], job->crop[2],
                     job->crop[3], job->sample_begin, job->sample_count, job->max_depth,
                     job->rr_depth, (unsigned long long)job->seed);
    hash_bytes(text, (size_t)n, hex);
}

const char *answer_known(const char *name, const char *inputs)
{
    for (size_t i = 0; answers[i].name; i++)
        if (strcmp(answers[i].name, name) == 0 && strcmp(answers[i].inputs, inputs) == 0)
            return answers[i].given;
    return NULL;
}

/* ---- what is asked and given --------------------------------------------------------------- */

void answer_note(struct run_context *c, const void *asked, size_t asked_size, const void *given,
                 size_t given_size)
{
    if (!c->asked) {
        c->asked = hash_open();
        c->given_so_far = hash_open();
    }
    char text[128];
    int n = snprintf(text, sizeof text, "%s %s: %zu", c->scene ? c->scene->hash : "",
                     math_mode_name(c->mode), asked_size);
    hash_add(c->asked, text, (size_t)n + 1);
    hash_add(c->asked, asked, asked_size);
    hash_add(c->given_so_far, &(uint64_t){given_size}, sizeof(uint64_t));
    hash_add(c->given_so_far, given, given_size);
}

enum status answer_note_records(struct run_context *c, const struct render_job *job,
                                struct error *err)
{
    char inputs[33], records[33];
    TRY(judge_records(c->device, c->scene, job, records, err));
    answer_inputs(c->scene, job, inputs);
    answer_note(c, inputs, sizeof inputs, records, sizeof records);
    return STATUS_OK;
}

bool answer_given(struct run_context *c, uint64_t values)
{
    const bool whole = c->asked && c->given_so_far;
    hash_close(c->asked, c->inputs);
    hash_close(c->given_so_far, c->given);
    c->asked = c->given_so_far = NULL;
    if (!whole)
        return false;
    const char *known = answer_known(c->name, c->inputs);
    const bool right = known && strcmp(c->given, known) == 0;
    c->answer = c->from_scratch ? "ignored"
                : right         ? "known"
                : known         ? "another than known"
                                : "none for these inputs";
    if (!right || c->from_scratch)
        return false;
    c->compared += values;
    (void)case_pass(c, "the known answer's bits in %llu values: one bit off would be noticed",
                    (unsigned long long)values);
    return true;
}

/* ---- the verdict --------------------------------------------------------------------------- */

static void tell(struct run_context *c)
{
    const char *more = c->result->detail;
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_string(&w, "answer", c->answer);
    json_key_string(&w, "inputs", c->inputs);
    json_key_string(&w, "given", c->given);
    json_end_object(&w);
    if (more && more[0] == '{' && more[1] != '}' && w.out.len) {
        w.out.len--; /* the last brace: the other members follow */
        text_printf(&w.out, ",%s", more + 1);
    }
    case_detail(c, &w);
}

void case_answer_close(struct run_context *c)
{
    char unused[33];
    hash_close(c->asked, unused); /* the case ended before all was asked */
    hash_close(c->given_so_far, unused);
    c->asked = c->given_so_far = NULL;
    if (!c->answer)
        return;
    const char *known = answer_known(c->name, c->inputs);
    if (known && c->mode == MODE_STRICT && c->result->verdict == VERDICT_PASS &&
        strcmp(c->given, known) != 0)
        (void)case_fail(c, "%s; but what it gave has the hash %s, its known answer %s",
                        c->result->reason, c->given, known);
    tell(c);
}
