/* SPDX-License-Identifier: Apache-2.0 */
/* isophote audit: an archive of submit, checked by somebody who does not trust its maker. */
#include "cli.h"
#include "conformance.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct audit_command {
    const char *device, *challenge, *seed, *waivers, *skips, *signers, *signature_file;
    uint32_t tiles, cases;
    bool all, json;

    struct arena arena;
    struct audit_options o;
    struct archive archive;
    struct sum drawn_by, file;   /* the auditor's seed; the archive's sum */
    struct audit_line signature; /* what is said of it; text NULL: nothing */
    bool signed_well;
};

/* 0: a single tile */
static const double shares[] = {0, 0.001, 0.01, 0.05, 0.1, 0.5};
enum { SHARES = sizeof shares / sizeof *shares };
static const double missed_level = 0.05;

/* Tiles that a share of all is, one at least. */
static uint64_t forged_of(const struct audit *r, double share)
{
    const uint64_t n = (uint64_t)(share * (double)r->tiles + 0.999999);
    return n ? n : 1;
}

static uint64_t asked(const struct audit_command *c, const struct audit *r)
{
    return c->o.tiles < r->tiles ? c->o.tiles : r->tiles;
}

/* ---- the seed of the draw ------------------------------------------------------------------- */

static enum status seed_set(struct audit_command *c, struct error *err)
{
    struct sum both[2];
    if (c->seed) {
        for (size_t i = 0; i < 64; i++) {
            const int digit = strlen(c->seed) == 64 ? hex_digit(c->seed[i]) : -1;
            if (digit < 0)
                return error_msg(err, STATUS_ARG,
                                 "--seed %.70s: expected the 64 digits that an audit printed",
                                 c->seed);
            c->drawn_by.bytes[i / 2] =
                (uint8_t)(i % 2 ? c->drawn_by.bytes[i / 2] | digit : digit << 4);
        }
    } else if (getrandom(&c->drawn_by, sizeof c->drawn_by, 0) != sizeof c->drawn_by) {
        return error_msg(err, STATUS_IO, "no random numbers: %s", strerror(errno));
    }
    /* of the archive's bytes too: another archive has another draw */
    both[0] = c->drawn_by;
    both[1] = c->file;
    sum_of(both, sizeof both, &c->o.seed);
    return STATUS_OK;
}

/* ---- what is said --------------------------------------------------------------------------- */

static void lines_json(struct json_writer *w, const char *key, const struct audit_line *l)
{
    json_key(w, key);
    json_begin_array(w);
    for (; l; l = l->next) {
        json_begin_object(w);
        json_key_string(w, "check", l->check);
        json_key_string(w, "text", l->text);
        json_end_object(w);
    }
    json_end_array(w);
}

static bool print_json(const struct audit_command *c, const struct audit *r, const char *seed,
                       const char *file)
{
    struct json_writer w = {0};
    json_begin_object(&w);
    json_key_string(&w, "sha256", file);
    json_key_string(&w, "seed", seed);
    json_key_string(&w, "device", c->o.device);
    json_key_string(&w, "challenge", c->o.challenge);
    lines_json(&w, "findings", r->findings);
    json_key_integer(&w, "finding_count", (int64_t)r->finding_count);
    lines_json(&w, "notes", r->notes);
    json_key_integer(&w, r->unit, (int64_t)r->cases);
    json_key_integer(&w, "passed", (int64_t)r->passed);
    json_key_integer(&w, "failed", (int64_t)r->failed);
    json_key_integer(&w, "skipped", (int64_t)r->skipped);
    json_key_integer(&w, "waived", (int64_t)r->waived);
    json_key_integer(&w, "pictures", (int64_t)r->pictures);
    json_key_integer(&w, "passed_without_tiles", (int64_t)r->unpictured);
    json_key_integer(&w, "tiles", (int64_t)r->tiles);
    json_key_integer(&w, "tiles_again", (int64_t)r->drawn);
    json_key_integer(&w, "tiles_wrong", (int64_t)r->wrong);
    json_key_integer(&w, "cases_again", (int64_t)r->rerun);
    json_key_integer(&w, "cases_again_elsewhere", (int64_t)r->rerun_elsewhere);
    json_key_integer(&w, "missed_most",
                     (int64_t)audit_forged_most(r->tiles, asked(c, r), missed_level));
    json_key_number(&w, "missed_level", missed_level);
    json_key(&w, "unseen");
    json_begin_array(&w);
    for (int i = 0; i < SHARES && r->tiles; i++) {
        json_begin_object(&w);
        json_key_number(&w, "share", shares[i]);
        json_key_integer(&w, "forged", (int64_t)forged_of(r, shares[i]));
        json_key_number(&w, "probability",
                        audit_unseen(r->tiles, forged_of(r, shares[i]), asked(c, r)));
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    return json_print(&w);
}

/* What the draw can have missed. */
static void print_unseen(const struct audit_command *c, const struct audit *r)
{
    const uint64_t most = audit_forged_most(r->tiles, asked(c, r), missed_level);
    printf("forged tiles of %llu  chance that none of them was among the %llu drawn\n",
           (unsigned long long)r->tiles, (unsigned long long)asked(c, r));
    for (int i = 0; i < SHARES; i++) {
        const uint64_t forged = forged_of(r, shares[i]);
        if (i == 0 || forged > forged_of(r, shares[i - 1]))
            printf("%10llu (%5.1f %%)  %.2g\n", (unsigned long long)forged,
                   100 * (double)forged / (double)r->tiles,
                   audit_unseen(r->tiles, forged, asked(c, r)));
    }
    printf("%llu forged tiles (%.1f %%) at most have a chance of %.0f %% to go unseen\n",
           (unsigned long long)most, 100 * (double)most / (double)r->tiles, 100 * missed_level);
}

static void print_text(const struct audit_command *c, const struct audit *r, const char *seed,
                       const char *file)
{
    for (const struct audit_line *l = r->findings; l; l = l->next)
        printf("FINDING %-10s %s\n", l->check, l->text);
    for (const struct audit_line *l = r->notes; l; l = l->next)
        printf("note    %-10s %s\n", l->check, l->text);
    printf("archive SHA-256 %s\n", file);
    printf("draw: --seed %s\n", seed);
    printf("%zu %s: %zu pass, %zu fail or error, %zu skip; %zu waived\n", r->cases, r->unit,
           r->passed, r->failed, r->skipped, r->waived);
    printf("%llu of %llu tiles of %zu strict pictures rendered again on %s: %llu have other bits\n",
           (unsigned long long)r->drawn, (unsigned long long)r->tiles, r->pictures, c->o.device,
           (unsigned long long)r->wrong);
    if (asked(c, r))
        print_unseen(c, r);
    printf("%zu passes have no tiles to render again", r->unpictured);
    if (r->rerun)
        printf("; %zu cases run again, %zu of them on another device than they passed on", r->rerun,
               r->rerun_elsewhere);
    printf("\n%zu findings\n", r->finding_count);
}

/* ---- the signature -------------------------------------------------------------------------- */

static enum status signature_check(struct audit_command *c, const char *archive, const char *data,
                                   size_t size, struct error *err)
{
    enum signing_scheme scheme;
    char scratch[3072] = "";
    c->signature.check = "signature";
    if (!c->signers) {
        if (c->signature_file)
            return error_msg(err, STATUS_ARG, "--signature needs --signers FILE");
        return STATUS_OK;
    }
    const char *file = c->signature_file;
    TRY(signing_expected(&c->arena, c->signers, archive, &file, &scheme, err));
    if (access(file, F_OK) != 0) {
        c->signature.text = arena_printf(&c->arena, "there is no signature %s", file);
        return STATUS_OK;
    }
    TRY(scratch_make(scratch, sizeof scratch, err));
    enum status st = signing_check(&c->arena, c->signers, file, data, size, scratch, scheme,
                                   &c->signed_well, &c->signature.text, err);
    scratch_remove(scratch);
    return st == STATUS_OK && !c->signature.text
               ? error_msg(err, STATUS_MEMORY, "out of memory for a signature")
               : st;
}

static void signature_tell(struct audit_command *c, struct audit *r)
{
    struct audit_line **list = c->signed_well ? &r->notes : &r->findings;
    if (!c->signature.text)
        return;
    c->signature.next = *list;
    *list = &c->signature;
    r->finding_count += !c->signed_well;
}

/* ---- the work ------------------------------------------------------------------------------- */

static enum status options_fill(struct audit_command *c, struct error *err)
{
    struct device_info d;
    TRY(device_find(c->device, &d, err));
    c->o.device = arena_strdup(&c->arena, d.id);
    c->o.tiles = c->all ? UINT64_MAX : c->tiles;
    c->o.cases = c->cases;
    c->o.waivers = c->waivers;
    c->o.skips = c->skips;
    c->o.seed_was_given = c->seed != NULL;
    c->o.worker = program_path();
    c->o.program = identity_of_program(err);
    c->o.environment = identity_of_environment(err);
    if (!c->o.program || !c->o.environment || !c->o.device)
        return STATUS_MEMORY;
    if (c->challenge)
        TRY(conform_challenge(&c->arena, c->challenge, &c->o.challenge, err));
    return seed_set(c, err);
}

static enum status check(struct audit_command *c, struct audit *r, struct error *err)
{
    char scratch[3072] = "", path[3200];
    struct store *s = NULL;
    enum status st = scratch_make(scratch, sizeof scratch, err);
    snprintf(path, sizeof path, "%s/run.sqlite", scratch);
    c->o.scratch = scratch;
    if (st == STATUS_OK)
        st = store_open(path, false, &s, err);
    if (st == STATUS_OK) {
        st = store_import(s, "results.jsonl", c->archive.members[ARCHIVE_RESULTS].data,
                          c->archive.members[ARCHIVE_RESULTS].size, err);
        if (st == STATUS_TYPE || st == STATUS_PARSE)
            st = STATUS_MISMATCH; /* a record that cannot be: keys, sums, counts */
    }
    if (st == STATUS_OK)
        st = conform_audit(&c->arena, &c->o, &c->archive, s, r, err);
    store_close(s);
    scratch_remove(scratch);
    if (st != STATUS_OK && err)
        err->code = st;
    return st;
}

static int run(void *settings, const struct arguments *args)
{
    struct audit_command *c = settings;
    struct audit r = {0};
    struct error err = {0};
    char *data, seed[65], file[65];
    size_t size;
    int status = EXIT_PASS;
    bool device_step = false;
    enum status st = file_read(&c->arena, args->words[0], ARCHIVE_MOST, &data, &size, &err);
    if (st == STATUS_OK) {
        sum_of(data, size, &c->file);
        st = archive_read(&c->arena, args->words[0], data, size, &c->archive, &err);
    }
    if (st == STATUS_OK)
        st = signature_check(c, args->words[0], data, size, &err);
    if (st == STATUS_OK) {
        st = options_fill(c, &err);
        device_step = true;
    }
    if (st == STATUS_OK)
        st = check(c, &r, &err);
    if (st == STATUS_OK)
        signature_tell(c, &r);
    if (st != STATUS_OK) {
        status = report_error(&err, device_step);
    } else {
        sum_hex(&c->drawn_by, seed);
        sum_hex(&c->file, file);
        if (!c->json)
            print_text(c, &r, seed, file);
        else if (!print_json(c, &r, seed, file))
            status = EXIT_BAD_INPUT;
        if (status == EXIT_PASS && r.finding_count)
            status = EXIT_FINDING;
    }
    arena_free(&c->arena);
    return status;
}

#define AT(member) offsetof(struct audit_command, member)
static const struct option options[] = {
    {"--device", OPTION_STRING, AT(device), "ID", .help = "what renders and runs again",
     .preset = "native"},
    {"--tiles", OPTION_UINT, AT(tiles), "K", .help = "how many tiles are drawn and rendered again",
     .preset = "64"},
    {"--all-tiles", OPTION_FLAG, AT(all), .help = "render every tile again"},
    {"--cases", OPTION_UINT, AT(cases), "N", .help = "how many passed cases are run again",
     .preset = "3"},
    {"--challenge", OPTION_STRING, AT(challenge), "HEX",
     .help = "the challenge that was given before the run: another one, or none, is a finding"},
    {"--waivers", OPTION_STRING, AT(waivers), "FILE",
     .help = "the waivers that you accept: any other is a finding", .reads = true},
    {"--skips", OPTION_STRING, AT(skips), "FILE",
     .help = "the SKIPs that you expect: any other is a finding", .reads = true},
    {"--signers", OPTION_STRING, AT(signers), "FILE",
     .help = "who may have signed it: OpenSSH's allowed signers, or a public key of minisign; "
             "another signature, or none, is a finding",
     .reads = true},
    {"--signature", OPTION_STRING, AT(signature_file), "FILE", .help = "its signature",
     .otherwise = "the archive's name with .sig or .minisig", .reads = true},
    {"--seed", OPTION_STRING, AT(seed), "HEX", .help = "repeat the draw of an earlier audit",
     .otherwise = "the system's random numbers"},
    JSON_OPTION(AT(json)),
};
const struct command command_audit = {
    .name = "audit",
    .group = "results",
    .line = "check a run that somebody else hands you",
    .usage = "isophote audit FILE [options]",
    .summary =
        "Checks an archive of `isophote submit`: sums and keys, the list, each verdict "
        "against waivers, skips and journal, the program against this one. Then it renders "
        "tiles that nobody could foresee, runs cases drawn the same way, and says how likely "
        "forged tiles are to have been missed. It cannot tell which device made a right "
        "picture, nor when, and a PASS without a picture is its maker's word until it is run "
        "again (docs/howto/hand_over_a_verdict.md).",
    .examples = "isophote audit theirs.tar\n"
                "isophote audit theirs.tar --all-tiles --cases 20\n"
                "isophote audit theirs.tar --challenge 9f86d081884c7d659a2feaa0c55ad015 --json",
    .argument = "FILE",
    .reads = true,
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct audit_command),
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
