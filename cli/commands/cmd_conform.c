/* SPDX-License-Identifier: Apache-2.0 */
/* isophote conform: judges devices; isophote worker: runs one case for it. */
#include "bench.h"
#include "cli.h"
#include "conformance.h"
#include "mutants/mutants.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct conform_command {
    struct option_list devices, levels, scenes, mutants_of;
    const char *suite, *filter, *shard, *junit, *store, *journal, *waivers, *skips, *challenge;
    double budget_s, compile_budget_s, run_budget_s, inactive_s, canary_s;
    uint32_t jobs, worker_cases, memory_mib, programs, random_scenes, reruns, mutants, searches;
    uint64_t seed;
    bool list, resume, json, self_test, until_caught, quiet, seed_given, searches_given;
    struct case_settings cases;

    struct arena arena;
    struct conform_options o;
    struct json_writer w; /* the cases, as they finish */
    bool terminal;
    struct skipped *skipped, **last_skipped; /* in the order in which their reasons came */
    const char *last_why;                    /* why the last case was run again */
    struct budget *budget;                   /* NULL: none */
    const struct fault *faults;              /* self-test: */
    size_t fault_count;
    size_t *caught;  /* by fault, cases that fail */
    struct text *by; /* and their names */
};

/* ---- results as they come ------------------------------------------------------------------- */

static void print_case(const char *device, const struct conform_case *c,
                       const struct conform_result *r)
{
    printf("%-5s %-10s %s", r->outcome.word, device, c->name);
    /* an expected SKIP's reason stands at the end, once for all that have it */
    if ((r->verdict != VERDICT_PASS && strcmp(r->outcome.html, "skip") != 0) ||
        strstr(r->reason ? r->reason : "", "unexpected pass"))
        printf("\n      %s", r->reason ? r->reason : "");
    if (r->replay && r->verdict == VERDICT_FAIL)
        printf("\n      %s", r->replay);
    printf("\n");
    fflush(stdout);
}

static void json_case(struct json_writer *w, const char *device, const struct conform_case *c,
                      const struct conform_result *r)
{
    json_begin_object(w);
    json_key_string(w, "case", c->name);
    json_key_string(w, "device", device);
    json_key_string(w, "identity", r->identity->key);
    static const char *const counts[] = {"pass", "finding", "neutral"};
    json_key_string(w, "counts", counts[r->outcome.counts]);
    json_key_string(w, "annotation", r->outcome.annotation);
    conform_result_write(w, r, false);
    json_end_object(w);
}

static size_t device_index(const struct conform_command *cmd, const char *device)
{
    size_t i = 0;
    while (i + 1 < cmd->o.device_count && strcmp(cmd->o.devices[i], device) != 0)
        i++;
    return i;
}

static void note_fault(struct conform_command *cmd, const char *device,
                       const struct conform_case *c, const struct conform_result *r)
{
    size_t i = device_index(cmd, device);
    if (r->verdict != VERDICT_FAIL)
        return;
    cmd->caught[i]++;
    text_printf(&cmd->by[i], "%s%s", cmd->by[i].len ? " " : "", c->name);
}

static bool not_caught(void *ctx, const char *device, const struct conform_case *c)
{
    const struct conform_command *cmd = ctx;
    (void)c;
    return cmd->caught[device_index(cmd, device)] == 0;
}

/* A device's SKIPs of one reason. */
struct skipped {
    const char *device, *reason;
    size_t count;
    struct skipped *next;
};

static void note_skip(struct conform_command *cmd, const char *device, const char *reason)
{
    struct skipped *k = cmd->skipped;
    while (k && (strcmp(k->device, device) != 0 || strcmp(k->reason, reason) != 0))
        k = k->next;
    if (!k) {
        k = ARENA_NEW(&cmd->arena, struct skipped);
        if (!k || !(k->reason = arena_strdup(&cmd->arena, reason)))
            return; /* the case itself was told */
        k->device = device;
        *cmd->last_skipped = k;
        cmd->last_skipped = &k->next;
    }
    k->count++;
}

static bool in_budget(void *ctx, const char *device, const struct conform_case *c)
{
    const struct conform_command *cmd = ctx;
    (void)device;
    return budget_allows(cmd->budget, c);
}

static void on_case(void *ctx, size_t done, size_t total, const char *device,
                    const struct conform_case *c, const struct conform_result *r)
{
    struct conform_command *cmd = ctx;
    if (cmd->budget)
        budget_note(cmd->budget, device, c, r);
    if (cmd->self_test)
        note_fault(cmd, device, c, r);
    if (strcmp(r->outcome.html, "skip") == 0)
        note_skip(cmd, device, r->reason ? r->reason : "no reason was given");
    if (cmd->json) {
        json_case(&cmd->w, device, c, r);
    } else if (!cmd->self_test &&
               (!cmd->terminal || r->verdict == VERDICT_FAIL || r->verdict == VERDICT_ERROR ||
                r->outcome.counts == COUNTS_FINDING)) {
        progress_end();
        print_case(device, c, r);
    }
    char what[160];
    snprintf(what, sizeof what, "%zu of %zu cases, %s", done, total, c->name);
    progress_show(what, total ? (double)done / (double)total : 1, -1);
}

/* Lines of a terminal are few: a reason that many cases have is told once. */
static void on_again(void *ctx, const char *device, const struct conform_case *c, const char *why)
{
    struct conform_command *cmd = ctx;
    if (cmd->json || (cmd->terminal && cmd->last_why && strcmp(cmd->last_why, why) == 0))
        return;
    progress_end();
    printf("%s on %s: run again: %s\n", c->name, device, why);
    (void)fflush(stdout);
    cmd->last_why = arena_strdup(&cmd->arena, why);
}

/* ---- devices ------------------------------------------------------------------------- */

/* "faulty:asl-lost-else" */
static bool is_shader_fault(const char *id)
{
    return strncmp(id, "faulty:", 7) == 0 && asl_fault_find(id + 7);
}

/* The mistakes that the levels asked for look for: those of the kernel, or with --level shader
 * those of the translators of shaders. */
static enum status list_faults(struct conform_command *cmd, struct error *err)
{
    const struct asl_fault *f;
    size_t n = 0;
    cmd->faults = faults_list(&cmd->fault_count);
    if (cmd->levels.count != 1 || strcmp(cmd->levels.items[0], "shader") != 0)
        return STATUS_OK;
    while (asl_fault_at(n))
        n++;
    struct fault *own = ARENA_ARRAY(&cmd->arena, struct fault, n);
    if (!own)
        return error_msg(err, STATUS_MEMORY, "out of memory for the faults");
    for (size_t i = 0; (f = asl_fault_at(i)) != NULL; i++)
        own[i] = (struct fault){f->name, f->text};
    cmd->faults = own;
    cmd->fault_count = n;
    return STATUS_OK;
}

/* Of these the ones that --device names, in its order. */
static enum status choose_faults(struct conform_command *cmd, struct error *err)
{
    struct fault *own = ARENA_ARRAY(&cmd->arena, struct fault, cmd->devices.count);
    if (!own)
        return error_msg(err, STATUS_MEMORY, "out of memory for the faults");
    for (size_t i = 0; i < cmd->devices.count; i++) {
        const char *id = cmd->devices.items[i];
        size_t k = 0;
        while (k < cmd->fault_count &&
               (strncmp(id, "faulty:", 7) != 0 || strcmp(id + 7, cmd->faults[k].name) != 0))
            k++;
        if (k == cmd->fault_count)
            return error_msg(err, STATUS_ARG,
                             "--self-test --device %s: expected faulty:NAME, a fault that the "
                             "levels asked for look for",
                             id);
        own[i] = cmd->faults[k];
    }
    cmd->faults = own;
    cmd->fault_count = cmd->devices.count;
    return STATUS_OK;
}

/* Ids of the devices asked for, or of all; each is written to the store's run. */
static enum status choose_devices(struct conform_command *cmd, const char *const **ids,
                                  size_t *count, struct error *err)
{
    struct arena *a = &cmd->arena;
    enum status s = STATUS_OK;
    const char **list;
    if (cmd->self_test) {
        if ((s = list_faults(cmd, err)) != STATUS_OK ||
            (cmd->devices.count && (s = choose_faults(cmd, err)) != STATUS_OK))
            return s;
        *count = cmd->fault_count;
        list = ARENA_ARRAY(a, const char *, *count);
        for (size_t i = 0; list && i < *count; i++)
            list[i] = arena_printf(a, "faulty:%s", cmd->faults[i].name);
    } else if (cmd->devices.count) {
        *count = cmd->devices.count;
        list = ARENA_ARRAY(a, const char *, *count);
        for (size_t i = 0; list && i < *count; i++) {
            struct device_info d = {0};
            const char *id = cmd->devices.items[i];
            if (!is_shader_fault(id) && (s = device_find(id, &d, err)) != STATUS_OK)
                return s;
            list[i] = arena_strdup(a, is_shader_fault(id) ? id : d.id);
            for (size_t k = 0; k < i && list[i]; k++)
                if (list[k] && strcmp(list[k], list[i]) == 0)
                    return device_twice(cmd->devices.items[k], id, list[i], err);
        }
    } else {
        struct device_info *found;
        const char *const *problems;
        size_t problem_count;
        s = devices_list(a, false, &found, count, &problems, &problem_count, err);
        if (s != STATUS_OK)
            return s;
        list = ARENA_ARRAY(a, const char *, *count);
        for (size_t i = 0; list && i < *count; i++)
            list[i] = found[i].id;
        if (*count == 0)
            return error_msg(err, STATUS_MISSING,
                             "no device was found; `isophote doctor` says why");
    }
    for (size_t i = 0; list && i < *count; i++)
        if (!list[i])
            list = NULL;
    if (!list)
        return error_msg(err, STATUS_MEMORY, "out of memory for the devices");
    *ids = list;
    return STATUS_OK;
}

static enum status record_devices(struct conform_command *cmd, struct error *err)
{
    enum status s = STATUS_OK;
    for (size_t i = 0; i < cmd->o.device_count && s == STATUS_OK; i++) {
        struct arena a = {0};
        struct device_info d;
        struct device_record record;
        if (is_shader_fault(cmd->o.devices[i]))
            continue; /* no device: the native one runs a wrong program */
        const struct identity *id = NULL;
        s = device_find(cmd->o.devices[i], &d, err);
        if (s == STATUS_OK && !device_record_fill(&a, &d, &record))
            s = error_msg(err, STATUS_MEMORY, "out of memory for a device");
        if (s == STATUS_OK && !(id = identity_of_device(&a, cmd->o.devices[i], &d, err)))
            s = STATUS_MEMORY;
        if (s == STATUS_OK)
            s = store_add_identity(cmd->o.store, cmd->o.run, id, err);
        if (s == STATUS_OK) {
            record.identity = id->key;
            s = store_add_device(cmd->o.store, cmd->o.run, &record, err);
        }
        arena_free(&a);
    }
    return s;
}

/* A run that cannot begin leaves nothing in the store: no empty run hides the one before. */
static enum status begin_run(void *ctx, struct error *err)
{
    struct conform_command *cmd = ctx;
    const char *selection = NULL;
    char now[32];
    if (!cmd->o.store)
        return STATUS_OK;
    TRY(conform_selection(&cmd->arena, &cmd->o, &selection, err));
    clock_utc(now);
    struct run_record run = {.kind = "conform",
                             .started_utc = now,
                             .command = command_line_text(),
                             .environment = environment_json(&cmd->arena),
                             .selection = selection};
    TRY(store_add_run(cmd->o.store, &run, err));
    cmd->o.run = run.id;
    return record_devices(cmd, err);
}

/* ---- what the options say ------------------------------------------------------------ */

static enum status parse_shard(const char *text, uint32_t *shard, uint32_t *shards,
                               struct error *err)
{
    char *slash, *end;
    unsigned long i = strtoul(text, &slash, 10),
                  n = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (!isdigit((unsigned char)text[0]) || !n || !isdigit((unsigned char)slash[1]) || *end ||
        i < 1 || i > n || n > UINT32_MAX)
        return error_msg(err, STATUS_ARG, "--shard %s: expected I/N with 1 <= I <= N, as in 2/4",
                         text);
    *shard = (uint32_t)i;
    *shards = (uint32_t)n;
    return STATUS_OK;
}

/* Appends what one argument names: a scene, a shader, or a folder of shaders. */
static enum status resolve_argument(struct conform_command *cmd, const char *name,
                                    struct option_list *paths, struct error *err)
{
    const char *const *shaders = NULL;
    const char *path;
    size_t count = 0;
    enum status s = conform_shaders(&cmd->arena, name, &shaders, &count, err);
    if (s == STATUS_OK && !count &&
        (s = scene_resolve(&cmd->arena, name, &path, err)) == STATUS_OK) {
        shaders = &path;
        count = 1;
    }
    for (size_t i = 0; s == STATUS_OK && i < count; i++) {
        const char **more = ARENA_ARRAY(&cmd->arena, const char *, paths->count + 1);
        if (access(shaders[i], R_OK) != 0)
            return error_msg(err, STATUS_MISSING, "%s: no such file", shaders[i]);
        if (!more)
            return error_msg(err, STATUS_MEMORY, "out of memory for the scenes");
        if (paths->count)
            memcpy((void *)more, (void *)paths->items, paths->count * sizeof *more);
        more[paths->count++] = shaders[i];
        paths->items = more;
    }
    return s;
}

static enum status resolve_scenes(struct conform_command *cmd, const struct arguments *args,
                                  struct error *err)
{
    struct option_list paths = {0};
    for (size_t i = 0; i < cmd->scenes.count + args->count; i++) {
        enum status s = resolve_argument(
            cmd, i < cmd->scenes.count ? cmd->scenes.items[i] : args->words[i - cmd->scenes.count],
            &paths, err);
        if (s != STATUS_OK)
            return s;
    }
    cmd->o.scenes = paths.items;
    cmd->o.scene_count = paths.count;
    return STATUS_OK;
}

/* A worker that opens a device or compiles for it leaves processors idle; one that judges takes all
 * of them. */
static unsigned default_jobs(void)
{
    const unsigned quarter = parallel_threads() / 4;
    return quarter < 1 ? 1 : quarter > 8 ? 8 : quarter;
}

/* What has no meaning with --mutants is refused, not passed over. */
static enum status check_mutants(const struct conform_command *cmd, struct error *err)
{
    if (!cmd->self_test)
        return error_msg(err, STATUS_ARG, "--mutants belongs to --self-test");
    if (cmd->devices.count || cmd->store || cmd->junit || cmd->waivers || cmd->skips)
        return error_msg(err, STATUS_ARG,
                         "--mutants takes no --device, --store, --junit, --waivers or --skips");
    return STATUS_OK;
}

static enum status fill_options(struct conform_command *cmd, struct error *err)
{
    struct conform_options *o = &cmd->o;
    o->levels = cmd->levels.items;
    o->level_count = cmd->levels.count;
    o->list = cmd->suite ? cmd->suite : cmd->self_test && !cmd->mutants ? "faults" : NULL;
    o->filter = cmd->filter;
    o->programs = cmd->programs;
    o->cases = cmd->cases;
    o->random_scenes = cmd->random_scenes;
    o->random_seed = cmd->seed;
    if (cmd->searches_given && !cmd->mutants)
        o->searches = cmd->searches;
    if (o->searches && (cmd->store || cmd->journal))
        return error_msg(err, STATUS_ARG,
                         "--mutants-search judges no device: it takes no --store or --journal");
    if (cmd->seed_given && !cmd->random_scenes && !cmd->mutants && !o->searches)
        return error_msg(err, STATUS_ARG, "--seed belongs to --scenes N and to --mutants N");
    if (cmd->mutants)
        TRY(check_mutants(cmd, err));
    else if (cmd->mutants_of.count)
        return error_msg(err, STATUS_ARG, "--mutants-of belongs to --mutants N");
    o->compile_budget_s = cmd->compile_budget_s;
    o->run_budget_s = cmd->run_budget_s;
    o->memory_limit = (uint64_t)cmd->memory_mib << 20;
    o->inactive_s = cmd->inactive_s;
    if (!cmd->self_test) { /* there a FAIL is what is hoped for */
        o->reruns = cmd->reruns;
        o->canary_s = cmd->canary_s;
    }
    o->journal = cmd->journal;
    o->resume = cmd->resume;
    o->waivers = cmd->waivers;
    o->skips = cmd->skips;
    o->jobs = cmd->jobs ? cmd->jobs : default_jobs();
    o->worker_cases = cmd->worker_cases;
    o->worker = program_path();
    if (cmd->challenge) {
        TRY(conform_challenge(&cmd->arena, cmd->challenge, &o->challenge, err));
        if (cmd->seed_given)
            return error_msg(err, STATUS_ARG,
                             "--challenge decides the seed; --seed goes without it");
        o->random_seed = conform_challenge_seed(o->challenge);
    }
    o->each = on_case;
    o->again = on_again;
    o->begin = begin_run;
    o->program = identity_of_program(err);
    o->environment = identity_of_environment(err);
    if (!o->program || !o->environment)
        return STATUS_MEMORY;
    o->each_ctx = cmd;
    if (cmd->until_caught && !cmd->self_test)
        return error_msg(err, STATUS_ARG, "--until-caught belongs to --self-test");
    if (cmd->until_caught)
        o->wanted = not_caught;
    if (cmd->budget_s > 0 && cmd->self_test)
        return error_msg(err, STATUS_ARG, "--budget judges devices; --self-test goes without it");
    if (cmd->budget_s > 0)
        o->wanted = in_budget;
    if (!o->journal && cmd->store)
        o->journal = arena_printf(&cmd->arena, "%s.journal", cmd->store);
    if (o->resume && !o->journal)
        return error_msg(err, STATUS_ARG,
                         "--resume needs --journal FILE, or --store FILE beside which it lies");
    return cmd->shard ? parse_shard(cmd->shard, &o->shard, &o->shards, err) : STATUS_OK;
}

/* ---- the end ------------------------------------------------------------------------- */

static void list_json(struct json_writer *w, struct case_worth of)
{
    if (!of.known)
        return;
    json_key_number(w, "seconds", of.seconds);
    json_key_integer(w, "asked", of.asked);
    json_key_integer(w, "noticed", of.noticed);
    json_key_integer(w, "alone", of.alone);
    if (of.kept)
        json_key_string(w, "kept", of.kept);
}

static void list_text(struct case_worth of)
{
    if (of.asked)
        printf("; notices %u of %u mutants, %u alone", of.noticed, of.asked, of.alone);
    if (of.kept)
        printf("; kept for: %s", of.kept);
}

/* In the order of worth. */
static void print_list(struct conform_command *cmd, const struct worth *worth,
                       const struct conform_case *cases, size_t count)
{
    if (cmd->json) {
        json_begin_array(&cmd->w);
        for (size_t i = 0; i < count; i++) {
            json_begin_object(&cmd->w);
            json_key_string(&cmd->w, "case", cases[i].name);
            json_key_string(&cmd->w, "level", cases[i].level);
            json_key_string(&cmd->w, "text", cases[i].text);
            json_key_string(&cmd->w, "scene", cases[i].scene);
            list_json(&cmd->w, worth_of(worth, cases[i].name));
            json_end_object(&cmd->w);
        }
        json_end_array(&cmd->w);
        json_print(&cmd->w);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        printf("%-44s %s", cases[i].name, cases[i].text);
        list_text(worth_of(worth, cases[i].name));
        printf("\n");
    }
}

static void json_summary(struct conform_command *cmd, const struct conform_summary *sum)
{
    struct json_writer *w = &cmd->w;
    json_end_array(w);
    json_key(w, "summary");
    json_begin_object(w);
    for (int v = 0; v < VERDICT_COUNT; v++)
        json_key_integer(w, verdict_name((enum verdict)v), (int64_t)sum->count[v]);
    json_key_integer(w, "total", (int64_t)sum->total);
    json_key_integer(w, "waived", (int64_t)sum->waived);
    json_key_integer(w, "unexpected_pass", (int64_t)sum->unexpected_pass);
    json_key_integer(w, "unexpected_skip", (int64_t)sum->unexpected_skip);
    json_key_integer(w, "expired_waivers", (int64_t)sum->expired_waivers);
    json_key_integer(w, "flaky", (int64_t)sum->flaky);
    json_key_integer(w, "canaries", (int64_t)sum->canaries);
    json_key_integer(w, "wrong_canaries", (int64_t)sum->wrong_canaries);
    json_key_integer(w, "sick", (int64_t)sum->sick);
    json_key_integer(w, "resumed", (int64_t)sum->resumed);
    json_key_integer(w, "again", (int64_t)sum->again);
    json_key_integer(w, "findings", (int64_t)conform_findings(sum));
    json_end_object(w);
}

static void print_summary(const struct conform_command *cmd, const struct conform_summary *sum)
{
    for (const struct skipped *k = cmd->skipped; k; k = k->next)
        printf("%zu skipped on %s: %s\n", k->count, k->device, k->reason);
    printf("%zu cases: %zu pass, %zu fail, %zu skip, %zu error", sum->total,
           sum->count[VERDICT_PASS], sum->count[VERDICT_FAIL], sum->count[VERDICT_SKIP],
           sum->count[VERDICT_ERROR]);
    if (sum->waived)
        printf("; %zu waived", sum->waived);
    if (sum->unexpected_pass)
        printf("; %zu waived cases passed", sum->unexpected_pass);
    if (sum->unexpected_skip)
        printf("; %zu skips were not expected", sum->unexpected_skip);
    if (sum->expired_waivers)
        printf("; %zu waivers have expired", sum->expired_waivers);
    if (sum->flaky)
        printf("; %zu flaky", sum->flaky);
    if (sum->sick)
        printf("; %zu devices are sick", sum->sick);
    if (sum->wrong_canaries && !sum->count[VERDICT_FAIL] && !sum->count[VERDICT_ERROR])
        printf("; no case saw it, but %zu devices do not give the canary's known answer",
               sum->wrong_canaries);
    if (sum->resumed)
        printf("; %zu taken from the journal", sum->resumed);
    if (sum->again)
        printf("; %zu run again, for they are not what they were", sum->again);
    printf("\n");
}

static void json_budget(struct conform_command *cmd)
{
    json_key(&cmd->w, "budget");
    budget_json(cmd->budget, &cmd->w);
}

static void print_budget(const struct conform_command *cmd)
{
    struct text t = {0};
    if (cmd->budget)
        budget_text(cmd->budget, &t);
    printf("%s", t.data ? t.data : "");
    text_free(&t);
}

static void print_coverage(const struct conform_command *cmd)
{
    struct text t = {0};
    if (cmd->programs && conform_shader_coverage(cmd->programs, &t, NULL) == STATUS_OK)
        printf("%s", t.data ? t.data : "");
    text_free(&t);
}

/* The faults, the cases that catch each, the share. */
static bool print_faults(struct conform_command *cmd)
{
    size_t count = cmd->fault_count, caught = 0;
    const struct fault *faults = cmd->faults;
    struct json_writer *w = &cmd->w;
    if (cmd->json) {
        json_key(w, "faults");
        json_begin_array(w);
    }
    for (size_t i = 0; i < count; i++) {
        const char *by = cmd->by[i].data ? cmd->by[i].data : "";
        caught += cmd->caught[i] > 0;
        if (cmd->json) {
            json_begin_object(w);
            json_key_string(w, "fault", faults[i].name);
            json_key_string(w, "text", faults[i].text);
            json_key_integer(w, "caught_by", (int64_t)cmd->caught[i]);
            json_key_string(w, "cases", by);
            json_end_object(w);
        } else {
            printf("%-30s %3zu cases: %s\n", faults[i].name, cmd->caught[i],
                   cmd->caught[i] ? by : "NOT CAUGHT");
        }
    }
    if (cmd->json) {
        json_end_array(w);
        json_key_number(w, "caught_share", count ? (double)caught / (double)count : 0);
    } else {
        printf("%zu of %zu faults caught (%.0f%%)\n", caught, count,
               count ? 100.0 * (double)caught / (double)count : 0);
    }
    return count && caught == count;
}

static int finish(struct conform_command *cmd, const struct conform_summary *sum, enum status s,
                  const struct error *err)
{
    bool all_caught = false;
    progress_end();
    if (s != STATUS_OK && s != STATUS_CANCELLED) {
        if (sum->total && !cmd->json) /* what was done is kept, and said */
            print_summary(cmd, sum);
        return report_error(err, false);
    }
    if (cmd->json)
        json_summary(cmd, sum);
    if (cmd->json && cmd->budget)
        json_budget(cmd);
    if (cmd->self_test && s == STATUS_OK)
        all_caught = print_faults(cmd);
    if (cmd->json) {
        json_end_object(&cmd->w);
        if (!json_print(&cmd->w))
            return EXIT_BAD_INPUT;
    } else if (!cmd->self_test) {
        print_coverage(cmd);
        print_summary(cmd, sum);
        print_budget(cmd);
    }
    if (s != STATUS_OK)
        return report_error(err, false);
    if (cmd->self_test)
        return all_caught ? EXIT_PASS : EXIT_FINDING;
    static const int statuses[] = {
        [RUN_FINDING] = EXIT_FINDING, [RUN_GREEN] = EXIT_PASS, [RUN_NOTHING] = EXIT_NOTHING_RAN};
    return statuses[outcome_end(&sum->outcomes)];
}

static int judge(struct conform_command *cmd, struct error *err)
{
    struct conform_summary sum = {0};
    const char *const *ids = NULL;
    char scratch[3072] = "", temporary[3200] = "";
    enum status s = choose_devices(cmd, &ids, &cmd->o.device_count, err);
    if (s != STATUS_OK)
        return report_error(err, true);
    if (cmd->junit && (s = output_check(cmd->junit, err)) != STATUS_OK)
        return report_error(err, false);
    cmd->o.devices = ids;
    cmd->caught = ARENA_ARRAY(&cmd->arena, size_t, cmd->o.device_count);
    cmd->by = ARENA_ARRAY(&cmd->arena, struct text, cmd->o.device_count);
    if (!cmd->caught || !cmd->by)
        return report_error(err, false);
    if (cmd->junit && !cmd->store) { /* JUnit is made of a store */
        s = scratch_make(scratch, sizeof scratch, err);
        snprintf(temporary, sizeof temporary, "%s/run.sqlite", scratch);
    }
    if (s == STATUS_OK && (cmd->store || cmd->junit))
        s = store_open(cmd->store ? cmd->store : temporary, false, &cmd->o.store, err);
    if (s != STATUS_OK) {
        scratch_remove(scratch);
        return report_error(err, false);
    }
    if (cmd->json) {
        json_begin_object(&cmd->w);
        json_key(&cmd->w, "cases");
        json_begin_array(&cmd->w);
    }
    if (cmd->budget_s > 0)
        s = budget_open(&cmd->arena, cmd->budget_s, &cmd->o, &cmd->budget, err);
    if (s == STATUS_OK)
        s = conform_run(&cmd->o, &sum, err);
    if (cmd->junit && (s == STATUS_OK || s == STATUS_CANCELLED)) {
        struct error junit_err = {0};
        enum status j = store_junit(cmd->o.store, cmd->o.run, cmd->junit, &junit_err);
        if (j != STATUS_OK && s == STATUS_OK) {
            s = j;
            *err = junit_err;
        }
    }
    store_close(cmd->o.store);
    cmd->o.store = NULL;
    scratch_remove(scratch);
    int status = finish(cmd, &sum, s, err);
    for (size_t i = 0; i < cmd->o.device_count; i++)
        text_free(&cmd->by[i]);
    return status;
}

static int run(void *settings, const struct arguments *args)
{
    struct conform_command *cmd = settings;
    int status = EXIT_PASS;
    cmd->terminal = isatty(STDOUT_FILENO) != 0;
    cmd->last_skipped = &cmd->skipped;
    struct error err = {0};
    enum status s = resolve_scenes(cmd, args, &err);
    if (s == STATUS_OK)
        s = fill_options(cmd, &err);
    if (s != STATUS_OK) {
        status = report_error(&err, false);
    } else {
        const struct conform_case *cases;
        size_t count;
        /* a bad filter or list is said before anything is opened */
        s = conform_select(&cmd->arena, &cmd->o, &cases, &count, &err);
        if (s != STATUS_OK) {
            status = report_error(&err, false);
        } else if (cmd->list) {
            const struct worth *worth;
            s = worth_read(&cmd->arena, &worth, &err);
            if (s == STATUS_OK)
                print_list(cmd, worth, cases, count);
            else
                status = report_error(&err, false);
        } else if (count == 0 && !cmd->shard) {
            error_msg(&err, STATUS_ARG, "no case matches; `isophote conform --list` prints all");
            status = report_error(&err, false);
        } else if (cmd->mutants) {
            status =
                mutants_judge(&cmd->o, &(struct mutants_options){.count = cmd->mutants,
                                                                 .seed = cmd->seed,
                                                                 .files = &cmd->mutants_of,
                                                                 .searches = cmd->searches,
                                                                 .until_caught = cmd->until_caught,
                                                                 .json = cmd->json,
                                                                 .journal = cmd->journal,
                                                                 .resume = cmd->resume});
        } else {
            status = judge(cmd, &err);
        }
    }
    text_free(&cmd->w.out);
    arena_free(&cmd->arena);
    return status;
}

#define AT(member) offsetof(struct conform_command, member)
static const struct option options[] = {
    {"--device", OPTION_LIST, AT(devices), "ID", .help = "a device to judge; may be repeated",
     .otherwise = "all found"},
    {"--level", OPTION_LIST, AT(levels), "L",
     .help = "kernel, image, invariance or shader; may be repeated", .otherwise = "all",
     .words = "kernel image invariance shader"},
    {"--filter", OPTION_STRING, AT(filter), "REGEX",
     .help = "only cases whose name matches this POSIX extended regular expression"},
    {"--scene", OPTION_LIST, AT(scenes), "SCENE",
     .help = "one more scene, shader or folder of shaders; may be repeated, as SCENE alone",
     .reads = true},
    {"--suite", OPTION_STRING, AT(suite), "NAME",
     .help = "list of cases: core, faults, all, or a file",
     .otherwise = "core; of --self-test: faults", .words = "core faults all", .reads = true},
    {"--programs", OPTION_UINT, AT(programs), "N",
     .help = "level shader: the first N generated programs, and a table of what they cover"},
    {"--scenes", OPTION_COUNT, AT(random_scenes), "N",
     .help = "N scenes made at random, in place of the list unless --suite is given "
             "(docs/howto/random_scenes.md)"},
    {"--seed", OPTION_UINT64, AT(seed), "S", .help = "of --scenes and --mutants: which ones",
     .otherwise = "0", .given = AT(seed_given)},
    {"--model", OPTION_MODEL, AT(cases.model), "M",
     .help = "how a path's stages are run (docs/reference/models.md)", .preset = "auto"},
    {"--from-scratch", OPTION_FLAG, AT(cases.from_scratch),
     .help = "believe no known answer: judge the full way, and hold it against "
             "the answer"},
    {"--challenge", OPTION_STRING, AT(challenge), "HEX",
     .help = "32 to 64 hexadecimal digits from whoever will audit the run: adds cases of scenes "
             "that they decide, and is the seed of --scenes (docs/howto/hand_over_a_verdict.md)"},
    {"--list", OPTION_FLAG, AT(list), .help = "print the cases that would run, and end"},
    {"--shard", OPTION_STRING, AT(shard), "I/N",
     .help = "the I-th of N parts; together they are the whole, on any machines"},
    {"--jobs", OPTION_UINT, AT(jobs), "N", .help = "worker processes at once",
     .otherwise = "a quarter of the processors, 1 to 8"},
    {"--worker-cases", OPTION_UINT, AT(worker_cases), "N",
     .help = "cases of a driver's device that a worker runs one after another, while none fails; "
             "1: each in a process of its own",
     .preset = "16"},
    {"--store", OPTION_STRING, AT(store), "FILE", .help = "result store to add this run to",
     .writes = FILE_STORE},
    {"--junit", OPTION_STRING, AT(junit), "FILE", .help = "also write JUnit XML",
     .writes = FILE_JUNIT},
    {"--journal", OPTION_STRING, AT(journal), "FILE", .help = "where finished cases are noted",
     .otherwise = "the store's name with .journal", .writes = FILE_JOURNAL, .beside = "--store",
     .ending = ".journal"},
    {"--resume", OPTION_FLAG, AT(resume),
     .help = "take what the journal holds and nothing has changed of, run the rest"},
    {"--waivers", OPTION_STRING, AT(waivers), "FILE",
     .help = "known failures with reason and expiry (docs/reference/conformance.md)",
     .reads = true},
    {"--skips", OPTION_STRING, AT(skips), "FILE",
     .help = "expected SKIPs with their reasons: any other is a finding "
             "(docs/reference/conformance.md)",
     .reads = true},
    {"--budget", OPTION_ABOVE_ZERO, AT(budget_s), "S",
     .help =
         "the best S seconds of the list, and what share of mutants they notice; it is never the "
         "whole list (docs/explanation/detection_power.md)"},
    {"--compile-budget", OPTION_FROM_ZERO, AT(compile_budget_s), "S",
     .help = "seconds a case may compile", .otherwise = "300"},
    {"--run-budget", OPTION_FROM_ZERO, AT(run_budget_s), "S", .help = "seconds a case may run",
     .otherwise = "120"},
    {"--inactivity", OPTION_FROM_ZERO, AT(inactive_s), "S",
     .help = "a worker that says nothing and uses no processor time for so many seconds is ended; "
             "0: never",
     .preset = "60"},
    {"--reruns", OPTION_UINT, AT(reruns), "N",
     .help = "a FAIL or ERROR without a waiver is run N times more, in new workers; verdicts that "
             "differ are flaky, a finding",
     .preset = "3"},
    {"--canary", OPTION_FROM_ZERO, AT(canary_s), "S",
     .help = "a picture with known bits is asked of a device before and after its cases, every S "
             "seconds and after each ERROR; what ends is told once the next one is right; 0: never",
     .preset = "10"},
    {"--memory-limit", OPTION_UINT, AT(memory_mib), "MIB",
     .help = "resident memory a worker may take", .otherwise = "3/4 of the machine"},
    {"--self-test", OPTION_FLAG, AT(self_test),
     .help = "judge the suite: every fault that the kernel (--level shader: the translators of "
             "shaders) can be built with must be caught; with --device faulty:NAME that fault"},
    {"--until-caught", OPTION_FLAG, AT(until_caught),
     .help = "of --self-test: once a case has caught a fault no other is run on it"},
    {"--mutants", OPTION_COUNT, AT(mutants), "N",
     .help = "of --self-test: N mutants of the devices' text in place of the faults, and the share "
             "that the core list notices (docs/explanation/detection_power.md)"},
    {"--mutants-search", OPTION_UINT, AT(searches), "N",
     .help = "of --mutants: N random scenes and N grids of shaders, by which a living one is held "
             "against the text without an edit; 0: none. With --device mutant:K these alone",
     .preset = "40", .given = AT(searches_given)},
    {"--mutants-of", OPTION_LIST, AT(mutants_of), "FILE",
     .help = "of --mutants: only those of this file of the text, as asl/noise.h; may be repeated",
     .otherwise = "all files"},
    JSON_OPTION(AT(json)),
};
#undef AT
const struct command command_conform = {
    .name = "conform",
    .group = "pictures and verdicts",
    .line = "judge devices: is the picture right?",
    .usage = "isophote conform [SCENE]... [options]",
    .summary = "Judges devices: each case gives PASS, FAIL, SKIP (with the reason) or ERROR (could "
               "not be judged). A FAIL names the first divergent sample, vertex and field, and the "
               "replay command that shows it.\n"
               "Cases run in worker processes, so that a crash or a hang costs one case.",
    .examples = "isophote conform --device native --level kernel\n"
                "isophote conform my/shaders --level shader --device opencl:0\n"
                "isophote conform my/scene.json --device opencl:0 --filter '^image' --junit "
                "out.xml\n"
                "isophote conform --store run.sqlite --shard 1/2 --jobs 2",
    .argument = "SCENE",
    .reads = true,
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct conform_command),
    .max_args = SIZE_MAX,
    .run = run,
};

struct worker_command {
    uint32_t fd;
    const char *scene;
    bool stays;
    struct case_settings settings;
};

static int work(void *settings, const struct arguments *args)
{
    const struct worker_command *c = settings;
    struct error err = {0};
    enum status s = conform_worker(args->words[0], c->scene, args->words[1], &c->settings,
                                   c->fd > INT_MAX ? -1 : (int)c->fd, c->stays, &err);
    return s == STATUS_OK ? EXIT_PASS : report_error(&err, false);
}

static const struct option worker_options[] = {
    {"--fd", OPTION_UINT, offsetof(struct worker_command, fd), "N",
     .help = "pipe that takes the report", .preset = "1"},
    {"--scene", OPTION_STRING, offsetof(struct worker_command, scene), "PATH",
     .help = "the scene of a scene case"},
    {"--stay", OPTION_FLAG, offsetof(struct worker_command, stays),
     .help = "then run the cases that standard input names"},
    {"--from-scratch", OPTION_FLAG, offsetof(struct worker_command, settings.from_scratch),
     .help = "believe no known answer"},
    {"--model", OPTION_MODEL, offsetof(struct worker_command, settings.model), "M",
     .help = "how a path's stages are run", .preset = "auto"},
};
const struct command command_worker = {
    .name = "worker",
    .usage = "isophote worker CASE DEVICE [options]",
    .summary = "Runs one case in this process, as `isophote conform` has its workers do.",
    COMMAND_OPTIONS(worker_options),
    .settings_size = sizeof(struct worker_command),
    .min_args = 2,
    .max_args = 2,
    .unlimited = true,
    .run = work,
};
