/* SPDX-License-Identifier: Apache-2.0 */
#include "code_object.h"

#include <elf.h>
#include <string.h>

/* ---- MessagePack (its specification, msgpack.org) ------------------------------------------- */

/* A reader stops for good at the first byte it cannot take. */
struct pack {
    const unsigned char *at, *end;
    bool broken;
};

enum kind { PACK_OTHER, PACK_INTEGER, PACK_TEXT, PACK_ARRAY, PACK_MAP };
struct item {
    enum kind kind;
    uint64_t value; /* the integer, or how many elements or pairs follow */
    const char *text;
    size_t length;
};

static uint64_t pack_number(struct pack *p, unsigned bytes)
{
    uint64_t v = 0;
    if ((size_t)(p->end - p->at) < bytes) {
        p->broken = true;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        v = v << 8 | *p->at++;
    return v;
}

static void pack_bytes(struct pack *p, uint64_t length, struct item *out)
{
    if ((uint64_t)(p->end - p->at) < length) {
        p->broken = true;
        return;
    }
    out->text = (const char *)p->at;
    out->length = (size_t)length;
    p->at += length;
}

/* The head of the next object; texts whole. */
static struct item pack_next(struct pack *p)
{
    struct item out = {PACK_OTHER, 0, "", 0};
    unsigned c = (unsigned)pack_number(p, 1);
    if (p->broken)
        return out;
    if (c < 0x80) {
        out = (struct item){PACK_INTEGER, c, "", 0};
    } else if (c < 0x90) {
        out = (struct item){PACK_MAP, c & 15, "", 0};
    } else if (c < 0xA0) {
        out = (struct item){PACK_ARRAY, c & 15, "", 0};
    } else if (c < 0xC0) {
        out.kind = PACK_TEXT;
        pack_bytes(p, c & 31, &out);
    } else if (c >= 0xC4 && c <= 0xC6) { /* binary */
        pack_bytes(p, pack_number(p, 1u << (c - 0xC4)), &out);
    } else if (c >= 0xC7 && c <= 0xC9) { /* extension: a type behind the length */
        pack_bytes(p, pack_number(p, 1u << (c - 0xC7)) + 1, &out);
    } else if (c == 0xCA || c == 0xCB) { /* float */
        pack_number(p, c == 0xCA ? 4 : 8);
    } else if (c >= 0xCC && c <= 0xCF) {
        out.kind = PACK_INTEGER;
        out.value = pack_number(p, 1u << (c - 0xCC));
    } else if (c >= 0xD0 && c <= 0xD3) { /* signed: nothing of ours is negative */
        pack_number(p, 1u << (c - 0xD0));
    } else if (c >= 0xD4 && c <= 0xD8) {
        pack_bytes(p, (1u << (c - 0xD4)) + 1, &out);
    } else if (c >= 0xD9 && c <= 0xDB) {
        out.kind = PACK_TEXT;
        pack_bytes(p, pack_number(p, 1u << (c - 0xD9)), &out);
    } else if (c == 0xDC || c == 0xDD) {
        out.kind = PACK_ARRAY;
        out.value = pack_number(p, c == 0xDC ? 2 : 4);
    } else if (c == 0xDE || c == 0xDF) {
        out.kind = PACK_MAP;
        out.value = pack_number(p, c == 0xDE ? 2 : 4);
    } else if (c == 0xC1) {
        p->broken = true;
    } /* nil, false, true */
    return out;
}

/* Passes over what follows `head`. Objects that are open are counted, not nested: any depth. */
static void pack_skip(struct pack *p, const struct item *head)
{
    uint64_t open = head->kind == PACK_ARRAY ? head->value
                    : head->kind == PACK_MAP ? 2 * head->value
                                             : 0;
    while (open > 0 && !p->broken) {
        struct item i = pack_next(p);
        open--;
        open += i.kind == PACK_ARRAY ? i.value : i.kind == PACK_MAP ? 2 * i.value : 0;
    }
}

static bool item_is(const struct item *i, const char *text)
{
    return i->kind == PACK_TEXT && i->length == strlen(text) &&
           memcmp(i->text, text, i->length) == 0;
}

static void item_copy(const struct item *i, char *to, size_t size)
{
    snprintf(to, size, "%.*s", (int)(i->length < size ? i->length : size - 1), i->text);
}

/* ---- the metadata --------------------------------------------------------------------------- */

static void kernel_read(struct pack *p, uint64_t pairs, struct code_object_kernel *k)
{
    const struct {
        const char *key;
        uint32_t *to;
    } numbers[] = {
        {".vgpr_count", &k->vgprs},
        {".agpr_count", &k->agprs},
        {".sgpr_count", &k->sgprs},
        {".private_segment_fixed_size", &k->scratch_bytes},
        {".group_segment_fixed_size", &k->lds_bytes},
        {".vgpr_spill_count", &k->vgpr_spills},
        {".sgpr_spill_count", &k->sgpr_spills},
        {".wavefront_size", &k->wavefront},
        {".max_flat_workgroup_size", &k->max_work_group},
    };
    for (; pairs > 0 && !p->broken; pairs--) {
        struct item key = pack_next(p), value = pack_next(p);
        if (item_is(&key, ".name") && value.kind == PACK_TEXT)
            item_copy(&value, k->name, sizeof k->name);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (item_is(&key, numbers[i].key) && value.kind == PACK_INTEGER)
                *numbers[i].to = (uint32_t)value.value;
        pack_skip(p, &key);
        pack_skip(p, &value);
    }
}

static enum status metadata_read(const void *data, size_t size, struct code_object *out,
                                 struct error *err)
{
    struct pack p = {data, (const unsigned char *)data + size, false};
    struct item root = pack_next(&p);
    for (uint64_t i = 0; root.kind == PACK_MAP && i < root.value && !p.broken; i++) {
        struct item key = pack_next(&p), value = pack_next(&p);
        if (item_is(&key, "amdhsa.target") && value.kind == PACK_TEXT)
            item_copy(&value, out->target, sizeof out->target);
        if (!item_is(&key, "amdhsa.kernels") || value.kind != PACK_ARRAY) {
            pack_skip(&p, &key);
            pack_skip(&p, &value);
            continue;
        }
        for (uint64_t k = 0; k < value.value && !p.broken; k++) {
            struct item kernel = pack_next(&p);
            if (out->kernel_count == sizeof out->kernels / sizeof *out->kernels)
                return error_msg(err, STATUS_LIMIT, "a code object of %llu kernels",
                                 (unsigned long long)value.value);
            if (kernel.kind == PACK_MAP)
                kernel_read(&p, kernel.value, &out->kernels[out->kernel_count++]);
            else
                pack_skip(&p, &kernel);
        }
    }
    if (root.kind != PACK_MAP || p.broken)
        return error_msg(err, STATUS_PARSE, "the code object's metadata is no MessagePack map");
    return STATUS_OK;
}

/* ---- the file ------------------------------------------------------------------------------- */

enum { NOTE_AMDGPU_METADATA = 32, MACHINE_AMDGPU = 224 };

static bool inside(uint64_t offset, uint64_t length, size_t size)
{
    return offset <= size && length <= size - offset;
}

/* Notes in [data, data + size), until one is the metadata. */
static enum status notes_read(const unsigned char *data, size_t size, struct code_object *out,
                              bool *found, struct error *err)
{
    size_t at = 0;
    while (size - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr h;
        memcpy(&h, data + at, sizeof h);
        at += sizeof h;
        uint64_t name = ((uint64_t)h.n_namesz + 3) & ~3ull,
                 desc = ((uint64_t)h.n_descsz + 3) & ~3ull;
        if (!inside(at, name, size) || !inside(at + name, h.n_descsz, size))
            return error_msg(err, STATUS_PARSE,
                             "a note of the code object ends behind its section");
        if (h.n_type == NOTE_AMDGPU_METADATA && h.n_namesz == 7 &&
            memcmp(data + at, "AMDGPU", 7) == 0) {
            *found = true;
            return metadata_read(data + at + name, h.n_descsz, out, err);
        }
        at += (size_t)name;
        at = desc < size - at ? at + (size_t)desc : size;
    }
    return STATUS_OK;
}

static enum status elf_read(const unsigned char *data, size_t size, struct code_object *out,
                            struct error *err)
{
    Elf64_Ehdr h;
    if (size < sizeof h || memcmp(data, ELFMAG, SELFMAG) != 0 || data[EI_CLASS] != ELFCLASS64 ||
        data[EI_DATA] != ELFDATA2LSB)
        return error_msg(err, STATUS_PARSE, "not a code object: no 64-bit ELF file");
    memcpy(&h, data, sizeof h);
    if (h.e_machine != MACHINE_AMDGPU)
        return error_msg(err, STATUS_UNSUPPORTED, "an ELF file for machine %u, not AMD's (%d)",
                         h.e_machine, MACHINE_AMDGPU);
    bool found = false;
    enum status s = STATUS_OK;
    for (unsigned i = 0; i < h.e_phnum && !found && s == STATUS_OK; i++) {
        Elf64_Phdr p;
        uint64_t at = h.e_phoff + (uint64_t)i * h.e_phentsize;
        if (h.e_phentsize < sizeof p || at < h.e_phoff || !inside(at, sizeof p, size))
            return error_msg(err, STATUS_PARSE, "the code object's program headers are cut");
        memcpy(&p, data + at, sizeof p);
        if (p.p_type != PT_NOTE)
            continue;
        if (!inside(p.p_offset, p.p_filesz, size))
            return error_msg(err, STATUS_PARSE, "the code object's notes are cut");
        s = notes_read(data + p.p_offset, (size_t)p.p_filesz, out, &found, err);
    }
    if (s == STATUS_OK && !found)
        s = error_msg(err, STATUS_PARSE, "the code object has no metadata note");
    return s;
}

/* clang's "Offload Bundler" documentation: magic, count, then offset, size and name of each. */
static enum status bundle_read(const unsigned char *data, size_t size, struct code_object *out,
                               struct error *err)
{
    uint64_t count = 0;
    size_t at = 24;
    if (inside(at, 8, size))
        memcpy(&count, data + at, 8);
    at += 8;
    for (; count > 0 && inside(at, 24, size); count--) {
        uint64_t e[3];
        memcpy(e, data + at, sizeof e);
        at += sizeof e;
        if (!inside(at, e[2], size) || !inside(e[0], e[1], size))
            break;
        if (e[1] > sizeof(Elf64_Ehdr) && memcmp(data + e[0], ELFMAG, SELFMAG) == 0)
            return elf_read(data + e[0], (size_t)e[1], out, err);
        at += (size_t)e[2];
    }
    return error_msg(err, STATUS_PARSE, "the offload bundle holds no code object");
}

enum status code_object_read(const void *data, size_t size, struct code_object *out,
                             struct error *err)
{
    static const char magic[24] = {'_', '_', 'C', 'L', 'A', 'N', 'G', '_', 'O', 'F', 'F', 'L',
                                   'O', 'A', 'D', '_', 'B', 'U', 'N', 'D', 'L', 'E', '_', '_'};
    struct code_object made = {.target = ""};
    enum status s = size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0
                        ? bundle_read(data, size, &made, err)
                        : elf_read(data, size, &made, err);
    if (s == STATUS_OK)
        *out = made;
    return s;
}

const struct code_object_kernel *code_object_find(const struct code_object *c, const char *name)
{
    for (size_t i = 0; i < c->kernel_count; i++)
        if (strcmp(c->kernels[i].name, name) == 0)
            return &c->kernels[i];
    return NULL;
}
