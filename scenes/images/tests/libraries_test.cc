/* SPDX-License-Identifier: Apache-2.0 */
/* What libraries that could read OBJ, MTL, TGA, BMP and HDR lack: docs/contributor/libraries.md
 * names each. A case fails when its library has learnt it; the page then asks again. Each case first
 * shows the library what it can read, so that none passes because nothing is read at all. */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
#include <cmocka.h>
}
#include <stb_image.h>
#define TINYOBJLOADER_USE_DOUBLE
#include <tiny_obj_loader.h>

/* ---- tinyobjloader -------------------------------------------------------------------------- */

using files = std::map<std::string, std::string>;

class libraries : public tinyobj::MaterialReader
{
  public:
    explicit libraries(const files &f) : all(f) {}
    bool operator()(const std::string &name, std::vector<tinyobj::material_t> *materials,
                    std::map<std::string, int> *numbers, std::string *warnings,
                    std::string *errors) override
    {
        auto found = all.find(name);
        if (found == all.end())
            return false;
        std::istringstream text(found->second);
        tinyobj::LoadMtl(numbers, materials, &text, warnings, errors);
        return true;
    }

  private:
    const files &all;
};

/* What it makes of "o.obj" and the libraries beside it: faces with their corners' places, colours,
 * opacities and textures, but for names. "": nothing. */
static std::string read_obj(const files &f)
{
    tinyobj::attrib_t a;
    std::vector<tinyobj::shape_t> shapes;
    std::vector<tinyobj::material_t> materials;
    std::string warnings, errors;
    std::istringstream text(f.at("o.obj"));
    libraries mtl(f);
    std::ostringstream out;
    if (!tinyobj::LoadObj(&a, &shapes, &materials, &warnings, &errors, &text, &mtl, false, false))
        return "";
    for (const tinyobj::shape_t &s : shapes) {
        size_t at = 0;
        for (size_t i = 0; i < s.mesh.num_face_vertices.size(); i++) {
            out << "face";
            for (unsigned k = 0; k < s.mesh.num_face_vertices[i]; k++, at++)
                for (int c = 0; c < 3; c++)
                    out << ' ' << a.vertices.at(size_t(3 * s.mesh.indices[at].vertex_index + c));
            if (s.mesh.material_ids[i] >= 0) {
                const tinyobj::material_t &m = materials[size_t(s.mesh.material_ids[i])];
                out << " Kd " << m.diffuse[0] << ' ' << m.diffuse[1] << ' ' << m.diffuse[2] << " d "
                    << m.dissolve << " maps " << m.diffuse_texname << ' ' << m.alpha_texname;
            }
            out << '\n';
        }
    }
    return out.str();
}

static std::string polygon(int corners)
{
    std::ostringstream out, face;
    for (int i = 1; i <= corners; i++) {
        out << "v " << i << " 0 0\n";
        face << ' ' << i;
    }
    return out.str() + "f" + face.str() + "\n";
}

static void tinyobjloader_lacks(void **state)
{
    (void)state;
    const std::string v = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n", lib = "mtllib m.mtl\n";
    const std::string a = lib + v + "usemtl a\nf 1 2 3\n", k = "newmtl a\nKd 0.1 0.2 0.3\n";
    const struct {
        const char *what;
        files plain, same; /* that mean the same */
    } rows[] = {
        {"a byte order mark",
         {{"o.obj", v + "f 1 2 3\n"}},
         {{"o.obj", "\xEF\xBB\xBF" + v + "f 1 2 3\n"}}},
        {"a line that goes on", {{"o.obj", v + "f 1 2 3\n"}}, {{"o.obj", v + "f 1 2 \\\n3\n"}}},
        {"a comment behind a face",
         {{"o.obj", v + "f 1 2 3\n"}},
         {{"o.obj", v + "f 1 2 3 # base\n"}}},
        {"a name of a material with a blank",
         {{"o.obj", a}, {"m.mtl", k}},
         {{"o.obj", lib + v + "usemtl a b\nf 1 2 3\n"}, {"m.mtl", "newmtl a b\nKd 0.1 0.2 0.3\n"}}},
        {"two libraries in one line",
         {{"o.obj", a}, {"m.mtl", k}},
         {{"o.obj", "mtllib n.mtl m.mtl\n" + v + "usemtl a\nf 1 2 3\n"},
          {"m.mtl", k},
          {"n.mtl", "newmtl b\n"}}},
        {"a line of MTL that goes on",
         {{"o.obj", a}, {"m.mtl", k}},
         {{"o.obj", a}, {"m.mtl", "newmtl a\nKd 0.1 \\\n0.2 0.3\n"}}},
        {"a byte order mark of MTL",
         {{"o.obj", a}, {"m.mtl", k}},
         {{"o.obj", a}, {"m.mtl", "\xEF\xBB\xBF" + k}}},
        {"a colour of one number",
         {{"o.obj", a}, {"m.mtl", "newmtl a\nKd 0.7 0.7 0.7\n"}},
         {{"o.obj", a}, {"m.mtl", "newmtl a\nKd 0.7\n"}}},
        {"a halo",
         {{"o.obj", a}, {"m.mtl", "newmtl a\nd 0.25\n"}},
         {{"o.obj", a}, {"m.mtl", "newmtl a\nd -halo 0.25\n"}}},
        {"an option behind a scale of two numbers",
         {{"o.obj", a}, {"m.mtl", k + "map_Kd -s 2 3 1 -clamp on a.png\n"}},
         {{"o.obj", a}, {"m.mtl", k + "map_Kd -s 2 3 -clamp on a.png\n"}}},
        {"a file behind a scale of one number",
         {{"o.obj", a}, {"m.mtl", k + "map_Kd -s 2 1 1 a.png\n"}},
         {{"o.obj", a}, {"m.mtl", k + "map_Kd -s 2 a.png\n"}}},
        {"map_opacity",
         {{"o.obj", a}, {"m.mtl", k + "map_d a.png\n"}},
         {{"o.obj", a}, {"m.mtl", k + "map_opacity a.png\n"}}},
    };
    for (const auto &row : rows) {
        std::string plain = read_obj(row.plain);
        if (plain.empty())
            fail_msg("%s: the plain file is not read", row.what);
        if (read_obj(row.same) == plain)
            fail_msg("%s: tinyobjloader knows it now", row.what);
    }
    /* colours in words: black or worse, and nobody is told */
    assert_true(read_obj({{"o.obj", a}, {"m.mtl", "newmtl a\nKd xyz 0.4 0.4 0.4\n"}})
                    .find("Kd 0 0.4 0.4") != std::string::npos);
    /* polygons of more than 255 corners come out with others */
    std::string large = read_obj({{"o.obj", polygon(255)}}),
                larger = read_obj({{"o.obj", polygon(300)}});
    assert_true(large.find(" 255 0 0\n") != std::string::npos);
    assert_true(!larger.empty() && larger.find(" 300 0 0\n") == std::string::npos);
}

/* ---- stb_image ------------------------------------------------------------------------------ */

static bool stb_reads(const std::string &file, std::vector<int> *values)
{
    int w, h, n;
    const stbi_uc *bytes = reinterpret_cast<const stbi_uc *>(file.data());
    stbi_uc *p = stbi_load_from_memory(bytes, int(file.size()), &w, &h, &n, 0);
    values->clear();
    for (int i = 0; p && i < w * h * n && i < 4; i++)
        values->push_back(p[i]);
    stbi_image_free(p);
    return p != nullptr;
}

static std::string tga(int kind, int bits, int alpha, int width, const std::string &rest)
{
    std::string head(18, '\0');
    head[2] = char(kind);
    head[12] = char(width);
    head[14] = 1;
    head[16] = char(bits);
    head[17] = char(32 | alpha);
    return head + rest;
}

static std::string bmp(int width, int height, int bits, int compression, const std::string &rest)
{
    std::string head(54, '\0');
    head.replace(0, 2, "BM");
    head[10] = 54;
    head[14] = 40;
    head[18] = char(width);
    head[22] = char(height);
    head[26] = 1;
    head[28] = char(bits);
    head[30] = char(compression);
    return head + rest;
}

static std::string hdr(const char *format, const char *exposure, const char *size)
{
    return std::string("#?RADIANCE\nFORMAT=32-bit_rle_") + format + "\n" + exposure + "\n" + size +
           "\n\x80\x80\x80\x81";
}

static float first_of_hdr(const std::string &file)
{
    int w, h, n;
    const stbi_uc *bytes = reinterpret_cast<const stbi_uc *>(file.data());
    float *p = stbi_loadf_from_memory(bytes, int(file.size()), &w, &h, &n, 0), first = p ? *p : -1;
    stbi_image_free(p);
    return first;
}

static void stb_image_lacks(void **state)
{
    (void)state;
    std::vector<int> v;
    /* files that end early are pictures, of whatever stood in memory */
    assert_true(stb_reads(tga(2, 24, 0, 1, "abc"), &v) && v == std::vector<int>({'c', 'b', 'a'}));
    assert_true(stb_reads(tga(2, 24, 0, 4, "abc"), &v));
    assert_true(stb_reads(bmp(1, 1, 24, 0, "abc "), &v) && v == std::vector<int>({'c', 'b', 'a'}));
    assert_true(stb_reads(bmp(9, 9, 24, 0, "abc "), &v));
    /* bits that the header calls no alpha are alpha; five bits are not rounded to eight */
    assert_true(stb_reads(tga(2, 32, 0, 1, std::string("abc\0", 4)), &v) && v.size() == 4);
    assert_true(stb_reads(tga(2, 15, 0, 1, "\x10\x02"), &v) && v[1] == 131);
    /* a colour that the map has not is its first */
    std::string mapped = tga(1, 8, 0, 1, "abcdef\x09");
    mapped[1] = 1;
    mapped[5] = 2;
    mapped[7] = 24;
    assert_true(stb_reads(mapped, &v) && v == std::vector<int>({'c', 'b', 'a'}));
    /* run lengths */
    assert_false(stb_reads(bmp(1, 1, 8, 1, std::string("abc\0\1\0\0\1", 8)), &v));
    assert_non_null(strstr(stbi_failure_reason(), "RLE"));
    /* exposure, XYZE, columns first, an early end */
    assert_true(first_of_hdr(hdr("rgbe", "", "-Y 1 +X 1")) == 1);
    assert_true(first_of_hdr(hdr("rgbe", "EXPOSURE=2\n", "-Y 1 +X 1")) == 1);
    assert_true(first_of_hdr(hdr("xyze", "", "-Y 1 +X 1")) == -1);
    assert_true(first_of_hdr(hdr("rgbe", "", "+X 1 -Y 1")) == -1);
    assert_true(first_of_hdr(hdr("rgbe", "", "-Y 2 +X 2")) == 1);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tinyobjloader_lacks),
        cmocka_unit_test(stb_image_lacks),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
