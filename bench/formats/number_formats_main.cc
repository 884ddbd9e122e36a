/* SPDX-License-Identifier: Apache-2.0 */
/* number_formats SCENE [options]: one scene by one small tracer in several kinds of numbers, and
 * how far each picture is from that in double. Same paths, same random numbers: the formats alone
 * differ. */
#include "base.h"
#include "hardware.h"
#include "posit.h"
#include "tracer.h"

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <string>

namespace
{

const char usage[] =
    "usage: number_formats SCENE [--formats LIST] [--apply all|geometry|light|film]\n"
    "           [--width N] [--height N] [--spp N] [--max-depth N] [--seed N] [--offset X] "
    "[--json]\n"
    "       number_formats --list [--formats LIST]\n"
    "LIST: names of --list, separated by commas. fixedM.N has M bits before the point, with the\n"
    "      sign, and N after it; 1 <= M, 2 <= M + N <= 64\n";

const char usual[] = "float32,float16,bfloat16,fixed16.16";
enum { NOTHING_RAN = 77 }; /* exit status: no mistake of the caller's */

/* Of the processor, so that others' work does not count. */
double seconds_used()
{
    struct timespec t = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

template <typename G, typename L, typename F>
double timed(const struct scene *s, const tracing &with, double *rgb)
{
    tracer<G, L, F> t(s, with);
    double start = seconds_used();
    t.render(rgb);
    return seconds_used() - start;
}

/* Seconds; only the quantity `apply` has the format, the others are double. */
typedef double renderer(const std::string &apply, const struct scene *s, const tracing &with,
                        double *rgb);
template <typename N>
double render(const std::string &apply, const struct scene *s, const tracing &with, double *rgb)
{
    return apply == "geometry" ? timed<N, double, double>(s, with, rgb)
           : apply == "light"  ? timed<double, N, double>(s, with, rgb)
           : apply == "film"   ? timed<double, double, N>(s, with, rgb)
                               : timed<N, N, N>(s, with, rgb);
}

enum way { NATIVE, CONVERTED, EMULATED, LIBRARY };
const char *const ways[] = {"the processor's own arithmetic",
                            "arithmetic of float, rounded by an instruction", "emulated",
                            "emulated by SoftPosit"};

/* bits: 0: M + N. render: NULL where the processor that the tool was built for has none. */
const struct kind {
    const char *name;
    int bits;
    way how;
    renderer *render;
} kinds[] = {
    {"double", 64, NATIVE, render<double>}, /* the reference, which stands first */
    {"float32", 32, NATIVE, render<float>},
    {"float16", 16, EMULATED, render<float16>},
    {"bfloat16", 16, EMULATED, render<bfloat16>},
    {"fixedM.N", 0, EMULATED, render<fixed>},
#ifdef __AVX512FP16__
    {"float16-avx512fp16", 16, NATIVE, render<float16_avx512fp16>},
#else
    {"float16-avx512fp16", 16, NATIVE, nullptr},
#endif
#ifdef __F16C__
    {"float16-f16c", 16, CONVERTED, render<float16_f16c>},
#else
    {"float16-f16c", 16, CONVERTED, nullptr},
#endif
#if defined(__AVX512BF16__) && defined(__AVX512VL__)
    {"bfloat16-avx512bf16", 16, CONVERTED, render<bfloat16_avx512bf16>},
#else
    {"bfloat16-avx512bf16", 16, CONVERTED, nullptr},
#endif
    {"posit8", 8, LIBRARY, render<posit8>},
    {"posit16", 16, LIBRARY, render<posit16>},
    {"posit32", 32, LIBRARY, render<posit32>},
};

/* Empty: the format may be used. */
std::string lacks(const kind &k)
{
    return k.how == LIBRARY ? posit_load()
           : k.render       ? std::string()
                            : "built for a processor without it";
}

struct format {
    std::string name;
    const kind *of;
    int m, n; /* of fixed; 0 0: none */

    int bits() const { return of->bits ? of->bits : m + n; }
};

struct request {
    const char *scene = nullptr, *formats = nullptr, *apply = "all";
    tracing with = {64, 64, 16, 0, 0, 1e-3};
    bool json = false, list = false, seeded = false;
};

/* "float32, ... or fixedM.N" */
std::string names()
{
    std::string all;
    for (const kind &k : kinds)
        if (k.bits)
            all += k.name + std::string(", ");
    return all.replace(all.size() - 2, 2, " or fixedM.N");
}

/* Why it is no fixed point; empty: it is. */
std::string fixed_read(const std::string &name, format *out)
{
    int used = 0;
    if (sscanf(name.c_str(), "fixed%2d.%2d%n", &out->m, &out->n, &used) != 2 ||
        (size_t)used != name.size())
        return "expected " + names() + " with widths of 1 <= M, 0 <= N and 2 <= M + N <= 64";
    if (out->m < 1 || out->n < 0 || out->m + out->n < 2 || out->m + out->n > 64)
        return "widths out of range: expected 1 <= M, 0 <= N and 2 <= M + N <= 64";
    return std::string();
}

/* One name, which stands in column `column` of the option's value. One that is lacking here may be
 * listed, but not used. */
bool format_read(const std::string &name, size_t column, bool list, format *out)
{
    *out = format{name, nullptr, 0, 0};
    const kind *points = nullptr;
    for (const kind &k : kinds) {
        if (k.render == render<fixed>)
            points = &k;
        else if (name == k.name)
            out->of = &k;
    }
    std::string why = !out->of ? fixed_read(name, out) : list ? std::string() : lacks(*out->of);
    if (!out->of)
        out->of = points;
    if (why.empty())
        return true;
    fprintf(stderr, "number_formats: --formats, column %zu: '%s': %s\n", column, name.c_str(),
            why.c_str());
    return false;
}

/* A line each: its name, its bits, how it runs, and what is lacking, parted by tabs. */
void list_print(const std::vector<format> &formats)
{
    for (const format &f : formats)
        printf("%s\t%d\t%s\t%s\n", f.name.c_str(), f.bits(), ways[f.of->how], lacks(*f.of).c_str());
}

bool formats_read(const std::string &names, bool list, std::vector<format> *out)
{
    for (size_t at = 0; at <= names.size();) {
        size_t end = std::min(names.find(',', at), names.size());
        format f;
        if (!format_read(names.substr(at, end - at), at + 1, list, &f))
            return false;
        out->push_back(f);
        at = end + 1;
    }
    return true;
}

/* What the processor lacks of what the tool was built for; NULL: nothing. */
const char *processor_lacks()
{
#ifdef __AVX512BF16__
    if (!__builtin_cpu_supports("avx512bf16"))
        return "AVX512_BF16";
#endif
#ifdef __AVX512F__
    if (!__builtin_cpu_supports("avx512f"))
        return "AVX-512";
#endif
#ifdef __AVX2__
    if (!__builtin_cpu_supports("avx2"))
        return "AVX2";
#endif
    return nullptr;
}

/* What this tracer cannot do, by name; NULL: nothing. */
const char *beyond(const struct scene *s)
{
    if (s->disk_count || s->instance_count)
        return "disks and instances";
    if (s->light_count)
        return "lights without a surface";
    if (s->environment.type == ENVIRONMENT_MAP)
        return "environment maps";
    if (s->camera.type != CAMERA_PERSPECTIVE || s->camera.lens_radius > 0)
        return "cameras other than a pinhole";
    if (!scene_default_filter(s) || s->clamp > 0)
        return "filters and clamps";
    for (size_t i = 0; i < s->material_count; i++) {
        const struct material *m = &s->materials[i];
        const struct medium *f = &m->medium;
        if (m->shading || m->base.texture >= 0 || m->emission_texture || m->normal_map.present)
            return "shaders and textures";
        if (m->type != MATERIAL_DIFFUSE && m->type != MATERIAL_MIRROR &&
            m->type != MATERIAL_DIELECTRIC)
            return material_type_name(m->type);
        if (material_is_list(m) || m->alpha_mode == ALPHA_MASK || m->single_sided)
            return "layers, opacity and single sides";
        if (f->present && (!m->interface || f->g != 0 || f->absorption[0] > 0 ||
                           f->absorption[1] > 0 || f->absorption[2] > 0))
            return "media with g, absorption or a surface";
    }
    return nullptr;
}

struct row {
    std::string name;
    const char *how;
    int bits;
    double mean[3], rmse, relmse, seconds;
};

/* relMSE as conformance's: (x - r)^2 / (r^2 + 0.01). */
row row_of(const format &f, double seconds, const std::vector<double> &x,
           const std::vector<double> &truth)
{
    row r = {f.name, ways[f.of->how], f.bits(), {0, 0, 0}, 0, 0, seconds};
    for (size_t i = 0; i < x.size(); i++) {
        double e = x[i] - truth[i];
        r.mean[i % 3] += 3 * x[i] / (double)x.size();
        r.rmse += e * e / (double)x.size();
        r.relmse += e * e / (truth[i] * truth[i] + 0.01) / (double)x.size();
    }
    r.rmse = std::sqrt(r.rmse);
    return r;
}

/* null: sums have grown beyond the format's largest number. */
std::string json(double v)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", v);
    return std::isfinite(v) ? text : "null";
}

void print(const std::vector<row> &rows, const request &q, double samples)
{
    if (!q.json)
        printf("%-14s %-28s %9s %9s %10s %8s\n", "format", "mean R G B", "RMSE", "relMSE",
               "us/sample", "x double");
    for (const row &r : rows) {
        const double us = 1e6 * r.seconds / samples, times = r.seconds / rows[0].seconds;
        if (q.json)
            printf("%s{\"format\": \"%s\", \"bits\": %d, \"how\": \"%s\", \"mean\": [%s, %s, %s], "
                   "\"rmse\": %s, \"relmse\": %s, \"us_per_sample\": %s, \"times_double\": %s}",
                   &r != &rows[0] ? ", " : "{\"rows\": [", r.name.c_str(), r.bits, r.how,
                   json(r.mean[0]).c_str(), json(r.mean[1]).c_str(), json(r.mean[2]).c_str(),
                   json(r.rmse).c_str(), json(r.relmse).c_str(), json(us).c_str(),
                   json(times).c_str());
        else
            printf("%-14s %8.5f %8.5f %8.5f   %9.2e %9.2e %10.3g %8.2f\n", r.name.c_str(),
                   r.mean[0], r.mean[1], r.mean[2], r.rmse, r.relmse, us, times);
    }
    if (q.json)
        printf("], \"max_depth\": %u}\n", q.with.max_depth);
}

bool number(const char *text, double least, double most, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && *out >= least && *out <= most;
}

bool digits(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && errno == 0;
}

bool options_read(int argc, char **argv, request *q)
{
    for (int i = 1; i < argc; i++) {
        std::string name = argv[i];
        double v;
        if (name == "--json")
            q->json = true;
        else if (name == "--list")
            q->list = true;
        else if (name.compare(0, 2, "--") && !q->scene)
            q->scene = argv[i];
        else if (i + 1 == argc)
            return false;
        else if (name == "--formats")
            q->formats = argv[++i];
        else if (name == "--apply")
            q->apply = argv[++i];
        else if (name == "--offset" && number(argv[++i], 0, 1e6, &v))
            q->with.offset = v;
        else if (name == "--max-depth" && number(argv[++i], 1, 65535, &v))
            q->with.max_depth = (uint32_t)v;
        else if (name == "--seed" && digits(argv[++i], &q->with.seed))
            q->seeded = true;
        else if (name == "--width" && number(argv[++i], 1, 4096, &v))
            q->with.width = (uint32_t)v;
        else if (name == "--height" && number(argv[++i], 1, 4096, &v))
            q->with.height = (uint32_t)v;
        else if (name == "--spp" && number(argv[++i], 1, 1 << 20, &v))
            q->with.spp = (uint32_t)v;
        else
            return false;
    }
    std::string apply = q->apply;
    return (q->scene || q->list) &&
           (apply == "all" || apply == "geometry" || apply == "light" || apply == "film");
}

} // namespace

int main(int argc, char **argv)
{
    request q;
    std::vector<format> formats;
    if (!options_read(argc, argv, &q)) {
        fputs(usage, stderr);
        return 2;
    }
    if (const char *what = processor_lacks()) {
        fprintf(stderr, "number_formats: built for a processor with %s, which this one lacks\n",
                what);
        return NOTHING_RAN;
    }
    for (const kind &k : kinds)
        if (q.list && !q.formats)
            formats.push_back(format{k.name, &k, 0, 0});
    if (formats.empty() && !formats_read(q.formats ? q.formats : usual, q.list, &formats))
        return 2;
    if (q.list) {
        list_print(formats);
        return 0;
    }
    struct error err = {};
    struct scene *s = nullptr;
    if (scene_load(q.scene, &s, &err) != STATUS_OK) {
        if (err.line)
            fprintf(stderr, "number_formats: %s:%u:%u: %s\n", err.file, err.line, err.col, err.msg);
        else
            fprintf(stderr, "number_formats: %s\n", err.msg);
        return 2;
    }
    if (const char *what = beyond(s)) {
        fprintf(stderr, "number_formats: %s: this tracer has no %s\n", q.scene, what);
        scene_free(s);
        return NOTHING_RAN;
    }
    if (!q.with.max_depth)
        q.with.max_depth = s->max_depth;
    if (!q.seeded)
        q.with.seed = s->seed;
    std::vector<double> truth((size_t)q.with.width * q.with.height * 3), x(truth.size());
    double seconds = timed<double, double, double>(s, q.with, truth.data());
    std::vector<row> rows = {row_of(format{"double", &kinds[0], 0, 0}, seconds, truth, truth)};
    for (const format &f : formats) {
        if (f.m) {
            fixed::m = f.m;
            fixed::n = f.n;
        }
        seconds = f.of->render(q.apply, s, q.with, x.data());
        rows.push_back(row_of(f, seconds, x, truth));
    }
    print(rows, q, (double)q.with.width * q.with.height * q.with.spp);
    scene_free(s);
    return 0;
}
