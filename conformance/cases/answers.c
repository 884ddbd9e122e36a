/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#include <string.h>

static const struct {
    const char *name, *inputs, *film;
} answers[] = {
#define ANSWER(name, inputs, film) {name, inputs, film},
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
            return answers[i].film;
    return NULL;
}
