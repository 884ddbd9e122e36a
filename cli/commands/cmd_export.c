/* SPDX-License-Identifier: Apache-2.0 */
/* isophote export: a result store as JSON Lines, or a scene for Mitsuba 3. */
#include "cli.h"

#include <string.h>
#include <unistd.h>

#include "reports.h"
#include "scenes.h"

static enum status export_file(struct store *store, const char *path, struct error *err)
{
    char tmp[4096];
    int fd;
    enum status st = file_temp_open(path, tmp, sizeof tmp, &fd, err);
    if (st)
        return st;
    FILE *out = fdopen(fd, "wb");
    if (!out) {
        close(fd);
        file_discard(tmp);
        return error_msg(err, STATUS_IO, "%s: cannot be written", path);
    }
    struct error e = {0};
    st = store_export(store, out, &e);
    if (st)
        error_msg(err, st, "%s: %s", path, e.msg);
    if (fclose(out) != 0 && !st)
        st = error_msg(err, STATUS_IO, "%s: cannot be written", path);
    if (!st)
        return file_commit(tmp, path, err);
    file_discard(tmp);
    return st;
}

static int export_store(const char *store_name, const char *out)
{
    struct error err = {0};
    struct store *store;
    if (store_open(store_name, true, &store, &err))
        return report_error(&err, false);
    enum status st = !out || strcmp(out, "-") == 0 ? store_export(store, stdout, &err)
                                                   : export_file(store, out, &err);
    store_close(store);
    return st ? report_error(&err, false) : EXIT_PASS;
}

static int export_scene(const char *name, const char *out, struct mitsuba_export *options)
{
    struct error err = {0};
    struct arena a = {0};
    struct scene *scene = NULL;
    const char *path = NULL;
    enum status st = scene_resolve(&a, name, &path, &err);
    if (!st)
        st = scene_load(path, &scene, &err);
    if (!st)
        st = scene_export_mitsuba(&a, scene, out, options, &err);
    for (const struct mitsuba_note *n = options->notes; n; n = n->next)
        fprintf(stderr, "isophote: %s: %s\n", n->what, n->why);
    int status = EXIT_PASS;
    if (st == STATUS_UNSUPPORTED) {
        report_error(&err, false);
        status = EXIT_BAD_INPUT;
    } else if (st) {
        status = report_error(&err, false);
    } else {
        printf("%s\n", options->xml);
    }
    scene_free(scene);
    arena_free(&a);
    return status;
}

struct export_command {
    const char *store, *out, *scene;
    struct mitsuba_export mitsuba;
};

static int run(void *settings, const struct arguments *args)
{
    struct export_command *c = settings;
    (void)args;
    struct error err = {0};
    if (!c->store == !c->scene)
        error_msg(&err, STATUS_ARG, "export needs --store FILE or --mitsuba SCENE, one of them");
    else if (c->scene && !c->out)
        error_msg(&err, STATUS_ARG, "export --mitsuba needs -o DIR or -o FILE.xml");
    else if (c->store && (c->mitsuba.lossy || c->mitsuba.plugins))
        error_msg(&err, STATUS_ARG, "--lossy and --plugins go with --mitsuba SCENE");
    if (err.code)
        return report_error(&err, false);
    return c->scene ? export_scene(c->scene, c->out, &c->mitsuba) : export_store(c->store, c->out);
}

#define AT(member) offsetof(struct export_command, member)
static const struct option options[] = {
    {"--store", OPTION_STRING, AT(store), "FILE", .help = "the result store to read",
     .reads = true},
    {"--mitsuba", OPTION_STRING, AT(scene), "SCENE", .help = "the scene to write for Mitsuba 3",
     .reads = true},
    {"-o", OPTION_STRING, AT(out), "FILE",
     .help = "the file to write; for a scene NAME.xml, or a folder for scene.xml and what it needs",
     .otherwise = "of a store: standard output", .writes = FILE_RESULTS | FILE_MITSUBA},
    {"--plugins", OPTION_FLAG, AT(mitsuba.plugins),
     .help = "with --mitsuba: BSDFs that Mitsuba lacks as Python plugins, put beside the scene as "
             "isophote_bsdfs.py"},
    {"--lossy", OPTION_FLAG, AT(mitsuba.lossy),
     .help = "with --mitsuba: write the nearest to what has no counterpart, and list the "
             "differences"},
};
const struct command command_export = {
    .name = "export",
    .group = "results",
    .line = "write a result store as JSON Lines, or a scene for Mitsuba 3",
    .usage = "isophote export --store FILE [-o results.jsonl]\n"
             "isophote export --mitsuba SCENE -o DIR|FILE.xml [--plugins] [--lossy]",
    .summary = "Writes a result store as JSON Lines, one record a line (docs/reference/store.md); "
               "or a scene as XML for Mitsuba 3, with its meshes and textures beside it "
               "(docs/reference/scenes.md, Mitsuba).\n"
               "A scene that would not mean the same there is refused: each difference is named, "
               "nothing is written, exit status 2.",
    .examples = "isophote export --store out/mine.db -o out/mine.jsonl\n"
                "isophote export --mitsuba cornell -o out/cornell.xml\n"
                "isophote export --mitsuba blobgloss --plugins -o out/blobgloss\n"
                "isophote export --mitsuba my-scene.json --lossy -o out/my-scene",
    COMMAND_OPTIONS(options),
    .settings_size = sizeof(struct export_command),
    .run = run,
};
