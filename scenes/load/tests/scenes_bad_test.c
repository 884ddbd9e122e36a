/* SPDX-License-Identifier: Apache-2.0 */
/* Scenes and models that are wrong: each is refused with the status, place, key path and words that
 * tell its author what to do. Also: what fuzzing found, kept in tests/crashes. */
#include "import/import.h"
#include "scenes.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CAM    "\"camera\": {\"origin\": [0,0,5], \"target\": [0,0,0]}"
#define GREY   "\"materials\": {\"grey\": {\"type\": \"diffuse\"}}"
#define HEAD   "{\"isophote\": 1, " CAM ", " GREY ",\n "
#define NOOBJ  "\"objects\": []}"
#define OBJ(x) HEAD "\"objects\": [" x "]}"
#define MAT(x) "{\"isophote\": 1, " CAM ", \"objects\": [],\n \"materials\": {\"m\": " x "}}"
#define TEXTURED(x)                                                                                \
    "{\"isophote\": 1, " CAM ", \"objects\": [],\n \"textures\": {\"t\": {\"file\": "              \
    "\"../library/textures/tile.png\"}}, \"materials\": {\"m\": " x "}}"
#define MESH(v, t)                                                                                 \
    OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"vertices\": " v ", \"triangles\": " t "}")
#define SHADED(code, more) MAT("{\"type\": \"shader\", \"source\": \"surface " code "\"" more "}")
#define DRIVEN(drive)                                                                              \
    SHADED("s(float k = 1, output color c = 0, output string t = \\\"\\\") {}",                    \
           ", \"base\": {\"type\": \"diffuse\"}, \"drive\": {" drive "}")
#define NETWORK(connections)                                                                       \
    MAT("{\"type\": \"shader\", \"layers\": [{\"name\": \"a\", \"source\": \"shader s(output "     \
        "color c "                                                                                 \
        "= 1) {}\"}, {\"name\": \"b\", \"source\": \"shader s(color in = 0) { Ci = in * "          \
        "diffuse(N); "                                                                             \
        "}\"}], \"connections\": [" connections "]}")
#define TRI "[[0,0,0],[1,0,0],[0,1,0]]"

struct bad {
    const char *text;
    enum status want;
    const char *path;  /* key path of the message */
    const char *words; /* part of it */
};

// clang-format off
static const struct bad table[] = {
    /* the document */
    {"", STATUS_PARSE, "", ""},
    {"{\"isophote\": 1, ", STATUS_PARSE, "", ""},
    {"[1]", STATUS_TYPE, "", "expected an object"},
    {"{}", STATUS_TYPE, "", "\"isophote\" is missing"},
    {"{\"isophote\": 2, " CAM ", " NOOBJ, STATUS_RANGE, "isophote", "from 1 to 1"},
    {"{\"isophote\": 1, \"objects\": []}", STATUS_TYPE, "", "\"camera\" is missing"},
    {"{\"isophote\": 1, " CAM "}", STATUS_TYPE, "", "\"objects\" is missing"},
    {HEAD "\"objets\": []}", STATUS_TYPE, "objets", "did you mean \"objects\"?"},
    {HEAD "\"zzzzzzzzzz\": 1, " NOOBJ, STATUS_TYPE, "zzzzzzzzzz", "expected one of \"isophote\""},
    {HEAD "\"objects\": [], \"objects\": []}", STATUS_PARSE, "", "objects"},
    {HEAD "\"objects\": {}}", STATUS_TYPE, "objects", "expected an array of objects"},
    {HEAD "\"about\": 3, " NOOBJ, STATUS_TYPE, "about", "expected a string"},
    /* camera, film, render */
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,0]}, " NOOBJ, STATUS_RANGE, "camera.target", "is its origin"},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"up\": [0,0,-3]}, " NOOBJ, STATUS_RANGE, "camera.up", "along the view"},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"up\": [0,0,0]}, " NOOBJ, STATUS_RANGE, "camera.up", "zero"},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0], \"target\": [0,0,1]}, " NOOBJ, STATUS_TYPE, "camera.origin", "found an array of 2, expected an array of 3 numbers"},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,\"1\"]}, " NOOBJ, STATUS_TYPE, "camera.target[2]", "found \"1\", expected a number"},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,1e999], \"target\": [0,0,1]}, " NOOBJ, STATUS_PARSE, "camera.origin[2]", "larger than a double"},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"fov\": 180}, " NOOBJ, STATUS_RANGE, "camera.fov", "to 179"},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"fov_axis\": \"smaler\"}, " NOOBJ, STATUS_TYPE, "camera.fov_axis", "did you mean \"smaller\"?"},
    {"{\"isophote\": 1, \"camera\": {\"type\": \"fisheye\", \"origin\": [0,0,0], \"target\": [0,0,1]}, " NOOBJ, STATUS_TYPE, "camera.type", "expected one of \"perspective\""},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"type\": \"orthographic\"}, " NOOBJ, STATUS_TYPE, "camera", "\"height\" is missing"},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"type\": \"orthographic\", \"height\": 2, \"fov\": 30}, " NOOBJ, STATUS_TYPE, "camera.fov", "a camera of type \"orthographic\" has no \"fov\""},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"height\": 2}, " NOOBJ, STATUS_TYPE, "camera.height", "a camera of type \"perspective\" has no \"height\""},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"type\": \"equirectangular\", \"lens_radius\": 0.1}, " NOOBJ, STATUS_TYPE, "camera.lens_radius", "has no \"lens_radius\""},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"type\": \"orthographic\", \"height\": 0}, " NOOBJ, STATUS_RANGE, "camera.height", "from 1e-06"},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"blades\": 2}, " NOOBJ, STATUS_RANGE, "camera.blades", "expected 0 (round) or 3 to 32"},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"blades\": 33}, " NOOBJ, STATUS_RANGE, "camera.blades", "from 0 to 32"},
    {"{\"isophote\": 1, \"camera\": {\"origin\": [0,0,0], \"target\": [0,0,1], \"anamorphic\": 0}, " NOOBJ, STATUS_RANGE, "camera.anamorphic", "from 0.01"},
    {HEAD "\"film\": {\"filter\": {\"type\": \"gausian\"}}, " NOOBJ, STATUS_TYPE, "film.filter.type", "did you mean \"gaussian\"?"},
    {HEAD "\"film\": {\"filter\": {\"radius\": 1}}, " NOOBJ, STATUS_TYPE, "film.filter", "\"type\" is missing"},
    {HEAD "\"film\": {\"filter\": {\"type\": \"tent\", \"radius\": 33}}, " NOOBJ, STATUS_RANGE, "film.filter.radius", "to 32"},
    {HEAD "\"film\": {\"width\": 64, \"height\": 64, \"crop\": [60, 0, 5, 5]}, " NOOBJ, STATUS_RANGE, "film.crop", "5 x 5 pixels at (60, 0)"},
    {HEAD "\"film\": {\"crop\": [0, 0, 0, 5]}, " NOOBJ, STATUS_RANGE, "film.crop", "that is not empty"},
    {HEAD "\"film\": {\"crop\": [0, 0.5, 5, 5]}, " NOOBJ, STATUS_TYPE, "film.crop", "whole numbers"},
    {HEAD "\"film\": {\"crop\": [0, 0, 5]}, " NOOBJ, STATUS_TYPE, "film.crop", "an array of 4 numbers"},
    {HEAD "\"render\": {\"clamp\": 0}, " NOOBJ, STATUS_RANGE, "render.clamp", "from 1e-06"},
    {HEAD "\"film\": {\"width\": 0}, " NOOBJ, STATUS_RANGE, "film.width", "from 1 to 32768"},
    {HEAD "\"film\": {\"width\": 12.5}, " NOOBJ, STATUS_RANGE, "film.width", "an integer"},
    {HEAD "\"film\": {\"width\": 32768, \"height\": 32768}, " NOOBJ, STATUS_LIMIT, "film", "2^28"},
    {HEAD "\"render\": {\"spp\": 1000000000}, " NOOBJ, STATUS_RANGE, "render.spp", "131071"},
    {HEAD "\"render\": {\"seed\": -1}, " NOOBJ, STATUS_RANGE, "render.seed", ""},
    {HEAD "\"render\": {\"seed\": 1e3}, " NOOBJ, STATUS_RANGE, "render.seed", "integer"},
    /* textures */
    {HEAD "\"textures\": {\"t\": {}}, " NOOBJ, STATUS_TYPE, "textures.t", "\"file\" is missing"},
    {HEAD "\"textures\": {\"t\": {\"file\": \"no.png\"}}, " NOOBJ, STATUS_IO, "textures.t.file", "no.png"},
    {HEAD "\"textures\": {\"t\": {\"file\": \"\"}}, " NOOBJ, STATUS_TYPE, "textures.t.file", "not empty"},
    {HEAD "\"textures\": {\"t\": {\"file\": \"cube.ply\"}}, " NOOBJ, STATUS_TYPE, "textures.t.file", "expected EXR, Radiance HDR, PNG, JPEG, TIFF, WebP, BMP, GIF or TGA"},
    {HEAD "\"textures\": {\"t\": {\"file\": \"bad-0x0.hdr\"}}, " NOOBJ, STATUS_TYPE, "textures.t.file", "0x0 pixels"},
    {HEAD "\"textures\": {\"t\": {\"file\": \"data:no-such-package/a.png\"}}, " NOOBJ, STATUS_MISSING, "textures.t.file", "scenes/real/fetch' no-such-package"},
    {HEAD "\"textures\": {\"t\": {\"file\": \"../library/textures/tile.png\", \"wrap\": [\"repeat\"]}}, " NOOBJ, STATUS_TYPE, "textures.t.wrap", "\"repeat\", \"mirror\", \"clamp\""},
    {HEAD "\"textures\": [], " NOOBJ, STATUS_TYPE, "textures", "by name"},
    /* materials */
    {MAT("{}"), STATUS_TYPE, "materials.m", "\"type\" is missing"},
    {MAT("3"), STATUS_TYPE, "materials.m", "expected an object"},
    {MAT("{\"type\": \"diffus\"}"), STATUS_TYPE, "materials.m.type", "did you mean \"diffuse\"?"},
    {MAT("{\"type\": \"diffuse\", \"color\": 1}"), STATUS_TYPE, "materials.m.color", "unknown key"},
    {MAT("{\"type\": \"diffuse\", \"reflectance\": 1.5}"), STATUS_RANGE, "materials.m.reflectance", "0 to 1"},
    {MAT("{\"type\": \"diffuse\", \"reflectance\": [0,0]}"), STATUS_TYPE, "materials.m.reflectance", "[r, g, b]"},
    {MAT("{\"type\": \"diffuse\", \"reflectance\": true}"), STATUS_TYPE, "materials.m.reflectance", "{\"texture\": ...}"},
    {MAT("{\"type\": \"diffuse\", \"reflectance\": {\"texture\": \"t\"}}"), STATUS_TYPE, "materials.m.reflectance.texture", "no texture \"t\""},
    {MAT("{\"type\": \"diffuse\", \"emission\": -1}"), STATUS_RANGE, "materials.m.emission", ""},
    {MAT("{\"type\": \"diffuse\", \"emission\": 1e-20}"), STATUS_RANGE, "materials.m.emission", "0 or at least"},
    {MAT("{\"type\": \"diffuse\", \"emission_two_sided\": 1}"), STATUS_TYPE, "materials.m.emission_two_sided", "true or false"},
    {MAT("{\"type\": \"rough_conductor\", \"k\": 1}"), STATUS_TYPE, "materials.m", "\"eta\" is missing"},
    {MAT("{\"type\": \"dielectric\", \"ior\": 0}"), STATUS_RANGE, "materials.m.ior", ""},
    {MAT("{\"type\": \"principled\", \"roughness\": {\"texture\": \"t\", \"chanel\": \"r\"}}"), STATUS_TYPE, "materials.m.roughness.chanel", "did you mean \"channel\"?"},
    {MAT("{\"type\": \"rough_conductor\", \"metal\": \"golf\"}"), STATUS_TYPE, "materials.m.metal", "did you mean \"gold\"?"},
    {MAT("{\"type\": \"rough_conductor\", \"metal\": \"gold\", \"k\": 1}"), STATUS_TYPE, "materials.m.k", "one or the others"},
    {MAT("{\"type\": \"rough_conductor\", \"metal\": \"gold\", \"anisotropy\": 1.5}"), STATUS_RANGE, "materials.m.anisotropy", "from 0 to 1"},
    {MAT("{\"type\": \"principled\", \"clear_coat\": 1}"), STATUS_TYPE, "materials.m.clear_coat", "did you mean \"clearcoat\"?"},
    {MAT("{\"type\": \"principled\", \"transmission\": {\"texture\": \"t\"}}"), STATUS_TYPE, "materials.m.transmission.texture", "no texture \"t\""},
    {MAT("{\"type\": \"principled\", \"ior\": 11}"), STATUS_RANGE, "materials.m.ior", "from 0.1 to 10"},
    {MAT("{\"type\": \"oren_nayar\", \"sigma\": 91}"), STATUS_RANGE, "materials.m.sigma", "from 0 to 90"},
    {MAT("{\"type\": \"oren_nayar\", \"roughness\": 0.5}"), STATUS_TYPE, "materials.m.roughness", "unknown key"},
    {MAT("{\"type\": \"rough_dielectric\", \"anisotropy\": 0.5}"), STATUS_TYPE, "materials.m.anisotropy", "unknown key"},
    {MAT("{\"type\": \"thin_dielectric\", \"roughness\": 0.5}"), STATUS_TYPE, "materials.m.roughness", "unknown key"},
    {MAT("{\"type\": \"diffuse\", \"opacity\": 2}"), STATUS_RANGE, "materials.m.opacity", "from 0 to 1"},
    {MAT("{\"type\": \"diffuse\", \"alpha_mode\": \"blnd\"}"), STATUS_TYPE, "materials.m.alpha_mode", "did you mean \"blend\"?"},
    {SHADED("s(output float r = 0) {}", ", \"base\": {\"type\": \"principled\", \"sigma\": 1}, \"drive\": {\"roughness\": \"r\"}"), STATUS_TYPE, "materials.m.base.sigma", "unknown key"},
    /* shaders */
    {SHADED("s() {}", ""), STATUS_TYPE, "materials.m", "the shader sets no Ci"},
    {SHADED("s() { Ci = diffuse(M); }", ""), STATUS_TYPE, "materials.m.source", "table.json:source:1:28: "},
    {SHADED("s() { Ci = medium_vdf(0, 1, 0, 0, 1, 0); }", ""), STATUS_UNSUPPORTED, "materials.m", "medium_vdf() describes a volume"},
    {SHADED("a() {} closure color fog() [[ int builtin = 1 ]]; surface s() { Ci = fog(); }", ""), STATUS_UNSUPPORTED, "materials.m", "source:1:78: the renderer does not know this closure"},
    {SHADED("s() { Ci = diffuse(N); } float f() { return 1; }", ", \"emission_bond\": 1"), STATUS_TYPE, "materials.m.emission_bond", "did you mean \"emission_bound\"?"},
    {MAT("{\"type\": \"diffuse\", \"alpha_cutoff\": 0.5}"), STATUS_TYPE, "materials.m.alpha_cutoff", "\"mask\""},
    {MAT("{\"type\": \"diffuse\", \"alpha_mode\": \"mask\", \"alpha_cutoff\": 1.5}"), STATUS_RANGE, "materials.m.alpha_cutoff", "0 to 1"},
    {MAT("{\"type\": \"diffuse\", \"alpha_mode\": \"mask\", \"medium\": {\"density\": 1}}"), STATUS_TYPE, "materials.m.medium", "cut out"},
    {MAT("{\"type\": \"diffuse\", \"sides\": \"both\"}"), STATUS_TYPE, "materials.m.sides", "\"double\", \"single\""},
    {MAT("{\"type\": \"diffuse\", \"sides\": \"single\", \"emission_two_sided\": true}"), STATUS_TYPE, "materials.m.sides", "emits on that side only"},
    {MAT("{\"type\": \"diffuse\", \"sides\": \"single\", \"medium\": {\"density\": 1}}"), STATUS_TYPE, "materials.m.medium", "expected \"sides\": \"double\""},
    {MAT("{\"type\": \"diffuse\", \"medium\": {}}"), STATUS_TYPE, "materials.m.medium", "\"density\" is missing"},
    {MAT("{\"type\": \"diffuse\", \"medium\": {\"density\": -1}}"), STATUS_RANGE, "materials.m.medium.density", "0 to"},
    {MAT("{\"type\": \"diffuse\", \"medium\": {\"density\": 1, \"g\": 1}}"), STATUS_RANGE, "materials.m.medium.g", "0.99"},
    {MAT("{\"type\": \"diffuse\", \"medium\": {\"density\": 1, \"albedo\": 1.1}}"), STATUS_RANGE, "materials.m.medium.albedo", "0 to 1"},
    {MAT("{\"type\": \"interface\", \"emission\": 1}"), STATUS_TYPE, "materials.m.emission", "unknown key"},
    {MAT("{\"type\": \"diffuse\", \"normal_map\": {\"scale\": 1}}"), STATUS_TYPE, "materials.m.normal_map", "\"texture\" is missing"},
    {MAT("{\"type\": \"diffuse\", \"normal_map\": {\"texture\": \"t\"}}"), STATUS_TYPE, "materials.m.normal_map.texture", "no texture \"t\""},
    {MAT("{\"type\": \"diffuse\", \"normal_map\": {\"texture\": \"n\"}}, \"q\": {\"type\": \"mirror\"}}, \"textures\": {\"n\": {\"file\": \"../library/textures/veins.jpg\"}"), STATUS_TYPE, "materials.m.normal_map.texture", "\"color_space\": \"linear\""},
    {SHADED("s() {}", ", \"normal_map\": {\"texture\": \"t\"}"), STATUS_TYPE, "materials.m.normal_map", "unknown key"},
    {MAT("{\"type\": \"shader\", \"shader\": \"none.asl\"}"), STATUS_IO, "materials.m.shader", "none.asl"},
    {MAT("{\"type\": \"shader\", \"source\": \"float f() { return 1; }\"}"), STATUS_TYPE, "materials.m.source", "holds no shader"},
    {MAT("{\"type\": \"shader\"}"), STATUS_TYPE, "materials.m", "neither \"shader\" and \"source\""},
    {DRIVEN("\"reflectance\": \"d\""), STATUS_TYPE, "materials.m.drive.reflectance", "no output \"d\""},
    {DRIVEN("\"reflectance\": \"k\""), STATUS_TYPE, "materials.m.drive.reflectance", "no output \"k\""},
    {DRIVEN("\"base_color\": \"c\""), STATUS_TYPE, "materials.m.drive.base_color", "expected one of \"reflectance\""},
    {DRIVEN("\"normal\": \"f.c\""), STATUS_TYPE, "materials.m.drive.normal", "no layer \"f\""},
    {DRIVEN("\"normal\": \"t\""), STATUS_TYPE, "materials.m.drive.normal", "is a string"},
    {DRIVEN(""), STATUS_TYPE, "materials.m.drive", "an output of the shader"},
    {SHADED("s(output float k = 1) {}", ", \"base\": {\"type\": \"interface\"}, \"drive\": {\"opacity\": \"k\"}"), STATUS_TYPE, "materials.m.base.type", "a material without a shader"},
    {SHADED("s(output float k = 1) {}", ", \"base\": {\"type\": \"sheen\"}, \"drive\": {\"sigma\": \"k\"}"), STATUS_TYPE, "materials.m.drive.sigma", "expected one of \"reflectance\""},
    {SHADED("s() { Ci = diffuse(N); }", ", \"base\": {\"type\": \"diffuse\"}"), STATUS_TYPE, "materials.m", "go together"},
    {SHADED("s() { Ci = diffuse(N); }", ", \"base\": {\"type\": \"diffuse\", \"emission\": 1}, \"drive\": {}"), STATUS_TYPE, "materials.m.base.emission", "unknown key"},
    {SHADED("s() { Ci = diffuse(N); }", ", \"base\": {\"type\": \"shader\"}, \"drive\": {}"), STATUS_TYPE, "materials.m.base.type", "a material without a shader"},
    {SHADED("s(float x = 1) { Ci = x * diffuse(N); }", ", \"parameters\": {\"y\": 1}"), STATUS_TYPE, "materials.m.parameters.y", "no parameter \"y\""},
    {SHADED("s(float x = 1) { Ci = x * diffuse(N); }", ", \"parameters\": {\"x\": \"1\"}"), STATUS_TYPE, "materials.m.parameters.x", "expected a number"},
    {SHADED("s(float x = 1) { Ci = x * diffuse(N); }", ", \"parameters\": {\"x\": [1, 2]}"), STATUS_TYPE, "materials.m.parameters.x[1]", "a float: 1 values"},
    {SHADED("s(color x = 1) { Ci = x * diffuse(N); }", ", \"parameters\": {\"x\": [1, 2]}"), STATUS_TYPE, "materials.m.parameters.x", "a color: 3 values"},
    {SHADED("s(int x = 1) { Ci = x * diffuse(N); }", ", \"parameters\": {\"x\": 1.5}"), STATUS_RANGE, "materials.m.parameters.x", "expected an integer"},
    {SHADED("s(float x = 1) { Ci = x * diffuse(N); }", ", \"parameters\": {\"x\": 1e39}"), STATUS_RANGE, "materials.m.parameters.x", "from -3.40282347e+38"},
    {SHADED("s(string x = 0) { Ci = diffuse(N); }", ""), STATUS_TYPE, "materials.m.source", ":1:"},
    {SHADED("s() { Ci = diffuse(N); }", ", \"connections\": []"), STATUS_TYPE, "materials.m.connections", "need \"layers\""},
    {NETWORK("[\"a.d\", \"b.in\"]"), STATUS_TYPE, "materials.m.connections[0]", "no parameter 'd'"},
    {NETWORK("[\"b.c\", \"a.in\"]"), STATUS_TYPE, "materials.m.connections[0]", "must stand before"},
    {NETWORK("[\"a.c\", \"b.in\"], [\"a.c\"]"), STATUS_TYPE, "materials.m.connections[1]", "layer.output"},
    {NETWORK("[\"a\", \"b.in\"]"), STATUS_TYPE, "materials.m.connections[0][0]", "layer.parameter"},
    /* environment */
    {HEAD "\"environment\": {}, " NOOBJ, STATUS_TYPE, "environment", "neither"},
    {HEAD "\"environment\": {\"radiance\": 1, \"file\": \"a\"}, " NOOBJ, STATUS_TYPE, "environment", "both"},
    {HEAD "\"environment\": {\"radiance\": 1, \"rotation\": 3}, " NOOBJ, STATUS_TYPE, "environment.rotation", "only \"radiance\""},
    {HEAD "\"environment\": {\"radiance\": 1, \"mirror\": true}, " NOOBJ, STATUS_TYPE, "environment.mirror", "only \"radiance\""},
    {HEAD "\"environment\": {\"file\": \"../library/sky.hdr\", \"mirror\": -1}, " NOOBJ, STATUS_TYPE, "environment.mirror", "true or false"},
    {HEAD "\"environment\": {\"radiance\": 1e13}, " NOOBJ, STATUS_RANGE, "environment.radiance", ""},
    {HEAD "\"environment\": {\"file\": \"none.exr\"}, " NOOBJ, STATUS_IO, "environment.file", "none.exr"},
    {HEAD "\"environment\": {\"file\": \"../library/sky.hdr\", \"up\": \"x\"}, " NOOBJ, STATUS_TYPE, "environment.up", "\"y\", \"z\""},
    /* lights */
    {HEAD "\"lights\": {}, " NOOBJ, STATUS_TYPE, "lights", "an array of lights"},
    {HEAD "\"lights\": [3], " NOOBJ, STATUS_TYPE, "lights[0]", "expected an object"},
    {HEAD "\"lights\": [{\"type\": \"area\"}], " NOOBJ, STATUS_TYPE, "lights[0].type", "\"point\", \"spot\", \"directional\""},
    {HEAD "\"lights\": [{\"type\": \"point\", \"intensity\": 1}], " NOOBJ, STATUS_TYPE, "lights[0]", "\"position\" is missing"},
    {HEAD "\"lights\": [{\"type\": \"point\", \"position\": [0,0,0], \"intensity\": -1}], " NOOBJ, STATUS_RANGE, "lights[0].intensity", ""},
    {HEAD "\"lights\": [{\"type\": \"point\", \"position\": [0,0,0], \"intensity\": [0,1e-13,0]}], " NOOBJ, STATUS_RANGE, "lights[0].intensity", "0 or at least"},
    {HEAD "\"lights\": [{\"type\": \"point\", \"position\": [0,0,0], \"intensity\": 1, \"angle\": 3}], " NOOBJ, STATUS_TYPE, "lights[0].angle", "unknown key"},
    {HEAD "\"lights\": [{\"type\": \"spot\", \"position\": [0,0,0], \"intensity\": 1, \"angle\": 3}], " NOOBJ, STATUS_TYPE, "lights[0]", "neither"},
    {HEAD "\"lights\": [{\"type\": \"spot\", \"position\": [0,0,0], \"target\": [0,0,1], \"direction\": [0,0,1], \"intensity\": 1, \"angle\": 3}], " NOOBJ, STATUS_TYPE, "lights[0]", "both"},
    {HEAD "\"lights\": [{\"type\": \"spot\", \"position\": [0,0,1], \"target\": [0,0,1], \"intensity\": 1, \"angle\": 3}], " NOOBJ, STATUS_RANGE, "lights[0].target", "shines nowhere"},
    {HEAD "\"lights\": [{\"type\": \"spot\", \"position\": [0,0,0], \"target\": [0,0,1], \"intensity\": 1}], " NOOBJ, STATUS_TYPE, "lights[0]", "\"angle\" is missing"},
    {HEAD "\"lights\": [{\"type\": \"spot\", \"position\": [0,0,0], \"target\": [0,0,1], \"intensity\": 1, \"angle\": 91}], " NOOBJ, STATUS_RANGE, "lights[0].angle", "to 90"},
    {HEAD "\"lights\": [{\"type\": \"spot\", \"position\": [0,0,0], \"target\": [0,0,1], \"intensity\": 1, \"angle\": 3, \"inner_angle\": 4}], " NOOBJ, STATUS_RANGE, "lights[0].inner_angle", "inner <= outer"},
    {HEAD "\"lights\": [{\"type\": \"directional\", \"direction\": [0,0,0], \"irradiance\": 1}], " NOOBJ, STATUS_RANGE, "lights[0].direction", "shines nowhere"},
    {HEAD "\"lights\": [{\"type\": \"directional\", \"direction\": [0,0,1], \"intensity\": 1}], " NOOBJ, STATUS_TYPE, "lights[0].intensity", "unknown key"},
    {HEAD "\"render\": {\"light_choice\": \"three\"}, " NOOBJ, STATUS_TYPE, "render.light_choice", "did you mean \"tree\"?"},
    {HEAD "\"render\": {\"mis\": \"cutoff\"}, " NOOBJ, STATUS_TYPE, "render.mis", "\"power\", \"balance\""},
    {MAT("{\"type\": \"diffuse\", \"emission\": {\"texture\": \"t\"}}"), STATUS_TYPE, "materials.m.emission.texture", "no texture \"t\""},
    {MAT("{\"type\": \"diffuse\", \"emission\": true}"), STATUS_TYPE, "materials.m.emission", "{\"texture\": ...}"},
    {MAT("{\"type\": \"diffuse\", \"emission\": {\"scale\": 2}}"), STATUS_TYPE, "materials.m.emission", "\"texture\" is missing"},
    {TEXTURED("{\"type\": \"diffuse\", \"emission\": {\"texture\": \"t\", \"scale\": 1e13}}"), STATUS_RANGE, "materials.m.emission.scale", "1e+12"},
    {TEXTURED("{\"type\": \"diffuse\", \"emission\": {\"texture\": \"t\", \"scale\": 1e-13}}"), STATUS_RANGE, "materials.m.emission.scale", "0 or at least"},
    /* objects */
    {OBJ("7"), STATUS_TYPE, "objects[0]", "expected an object"},
    {OBJ("{\"type\": \"spere\"}"), STATUS_TYPE, "objects[0].type", "did you mean \"sphere\"?"},
    {OBJ("{\"type\": \"sphere\"}"), STATUS_TYPE, "objects[0]", "\"material\" is missing"},
    {OBJ("{\"type\": \"sphere\", \"material\": \"gray\"}"), STATUS_TYPE, "objects[0].material", "did you mean \"grey\"?"},
    {OBJ("{\"type\": \"sphere\", \"material\": \"grey\", \"radius\": 0}"), STATUS_RANGE, "objects[0].radius", ""},
    {OBJ("{\"type\": \"sphere\", \"material\": \"grey\", \"center\": [1e9,0,0], \"radius\": 10}"), STATUS_RANGE, "objects[0]", "coordinates up to"},
    {OBJ("{\"type\": \"sphere\", \"material\": \"grey\", \"transform\": [{\"scale\": [1,2,1]}]}"), STATUS_UNSUPPORTED, "objects[0]", "scaled differently"},
    {OBJ("{\"type\": \"disk\", \"material\": \"grey\", \"normal\": [0,0,0]}"), STATUS_RANGE, "objects[0].normal", "no length"},
    {OBJ("{\"type\": \"disk\", \"material\": \"grey\", \"transform\": [{\"matrix\": [1,0.5,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]}]}"), STATUS_UNSUPPORTED, "objects[0]", "scaled differently"},
    {OBJ("{\"type\": \"box\", \"material\": \"grey\", \"min\": [0,0,0], \"max\": [1,0,1]}"), STATUS_RANGE, "objects[0]", "along y"},
    {OBJ("{\"type\": \"rectangle\", \"material\": \"grey\", \"transform\": {\"scale\": 2}}"), STATUS_TYPE, "objects[0].transform", "array of steps"},
    {OBJ("{\"type\": \"rectangle\", \"material\": \"grey\", \"transform\": [{\"scale\": [1,0,1]}]}"), STATUS_RANGE, "objects[0].transform[0]", "determinant 0"},
    {OBJ("{\"type\": \"rectangle\", \"material\": \"grey\", \"transform\": [{\"scale\": 2, \"translate\": [0,0,0]}]}"), STATUS_TYPE, "objects[0].transform[0]", "found 2 keys"},
    {OBJ("{\"type\": \"rectangle\", \"material\": \"grey\", \"transform\": [{}]}"), STATUS_TYPE, "objects[0].transform[0]", "found 0 keys"},
    {OBJ("{\"type\": \"rectangle\", \"material\": \"grey\", \"transform\": [{\"rotate\": {\"axis\": [0,0,0], \"angle\": 3}}]}"), STATUS_RANGE, "objects[0].transform[0].rotate.axis", "no length"},
    {OBJ("{\"type\": \"rectangle\", \"material\": \"grey\", \"transform\": [{\"matrix\": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,1,1]}]}"), STATUS_RANGE, "objects[0].transform[0].matrix", "[0, 0, 0, 1]"},
    {OBJ("{\"type\": \"rectangle\", \"material\": \"grey\", \"transform\": [{\"scale\": 1e6}, {\"scale\": 1e6}]}"), STATUS_RANGE, "objects[0].transform[1]", "determinant"},
    {OBJ("{\"type\": \"rectangle\", \"material\": \"grey\", \"transform\": [{\"scale\": 1e6}, {\"scale\": [1e6,1e3,1e-3]}]}"), STATUS_RANGE, "objects[0]", "scale the scene"},
    /* meshes */
    {MESH("[]", "[]"), STATUS_TYPE, "objects[0].triangles", "no triangles"},
    {MESH(TRI, "[]"), STATUS_TYPE, "objects[0].triangles", "no triangles"},
    {MESH(TRI, "[[0,1]]"), STATUS_TYPE, "objects[0].triangles[0]", "3 indices"},
    {MESH(TRI, "[[0,1,3]]"), STATUS_RANGE, "objects[0].triangles[0][2]", "from 0 to 2"},
    {MESH(TRI, "[[0,1,-1]]"), STATUS_RANGE, "objects[0].triangles[0][2]", "from 0 to 2"},
    {MESH(TRI, "[[0,1,1000000000]]"), STATUS_RANGE, "objects[0].triangles[0][2]", "found 1000000000"},
    {MESH(TRI, "[[0,1,1]]"), STATUS_TYPE, "objects[0]", "none of the 1 triangles has an area and finite vertices"},
    {MESH("[[0,0,0],[1,0,0],[0,1e10,0]]", "[[0,1,2]]"), STATUS_RANGE, "objects[0].vertices[2][1]", ""},
    {MESH("[[0,0,0],[1,0,0],[0,1]]", "[[0,1,2]]"), STATUS_TYPE, "objects[0].vertices[2]", "3 numbers"},
    {MESH("7", "[[0,1,2]]"), STATUS_TYPE, "objects[0].vertices", "array of arrays"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"triangles\": [[0,1,2]]}"), STATUS_TYPE, "objects[0]", "\"vertices\" is missing"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"vertices\": " TRI ", \"triangles\": [[0,1,2]], \"uv\": [[0,0]]}"), STATUS_TYPE, "objects[0].uv", "one for each of the 3 vertices"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"vertices\": " TRI ", \"triangles\": [[0,1,2]], \"normals\": \"file\"}"), STATUS_TYPE, "objects[0].normals", "\"face\", \"smooth\""},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"vertices\": " TRI ", \"triangles\": [[0,1,2]], \"file\": \"cube.ply\"}"), STATUS_TYPE, "objects[0].vertices", "unknown key"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"file\": \"none.ply\"}"), STATUS_IO, "objects[0].file", "none.ply"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"file\": \".\"}"), STATUS_IO, "objects[0].file", "regular file"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"file\": \"data:glmark9/bunny.obj\"}"), STATUS_MISSING, "objects[0].file", "fetch' glmark9"},
    {OBJ("{\"type\": \"mesh\", \"file\": \"cube.ply\"}"), STATUS_TYPE, "objects[0]", "the model brings none"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"file\": \"bad-truncated.ply\"}"), STATUS_PARSE, "objects[0].file", "bad-truncated.ply"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"file\": \"bad-count.ply\"}"), STATUS_PARSE, "objects[0].file", "bad-count.ply"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"file\": \"bad-empty.obj\"}"), STATUS_PARSE, "objects[0].file", "bad-empty.obj"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"file\": \"bad-points.obj\"}"), STATUS_TYPE, "objects[0].file", "no triangles"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"file\": \"bad-index.ply\"}"), STATUS_PARSE, "objects[0].file", "bad-index.ply"},
    {OBJ("{\"type\": \"mesh\", \"file\": \"bad-texture.obj\"}"), STATUS_IO, "objects[0].file", "would replace"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"file\": \"bad-accessor.gltf\"}"), STATUS_PARSE, "objects[0].file", "bad-accessor.gltf"},
    {OBJ("{\"type\": \"mesh\", \"material\": \"grey\", \"file\": \"../load/tests/scenes_bad_test.c\"}"), STATUS_PARSE, "objects[0].file", "scenes_bad_test.c"},
    {HEAD "\"instancing\": \"some\", " NOOBJ, STATUS_TYPE, "instancing", "two-level"},
    {HEAD "\"instancing\": \"two-level\", \"groups\": {\"g\": [{\"type\": \"rectangle\", \"material\": \"grey\", \"transform\": [{\"scale\": 1e6}]}]}, \"objects\": [{\"type\": \"instance\", \"group\": \"g\"}, {\"type\": \"instance\", \"group\": \"g\", \"transform\": [{\"scale\": 1e-9}]}]}", STATUS_RANGE, "objects[1]", "\"instancing\": \"flatten\""},
    {OBJ("{\"type\": \"terrain\"}"), STATUS_TYPE, "objects[0]", "\"material\" is missing"},
    {OBJ("{\"type\": \"terrain\", \"material\": \"grey\", \"cells\": 0}"), STATUS_RANGE, "objects[0].cells", "from 1 to 8192"},
    {OBJ("{\"type\": \"terrain\", \"material\": \"grey\", \"file\": \"a.obj\"}"), STATUS_TYPE, "objects[0].file", "expected one of"},
    /* groups */
    {HEAD "\"groups\": [], " NOOBJ, STATUS_TYPE, "groups", "by name"},
    {HEAD "\"groups\": {\"g\": []}, " NOOBJ, STATUS_TYPE, "groups.g", "empty"},
    {HEAD "\"groups\": {\"g\": 1}, " NOOBJ, STATUS_TYPE, "groups.g", "array of objects"},
    {OBJ("{\"type\": \"instance\", \"group\": \"g\"}"), STATUS_TYPE, "objects[0].group", "no group \"g\""},
    {HEAD "\"groups\": {\"a\": [{\"type\": \"instance\", \"group\": \"a\"}]}, " NOOBJ, STATUS_TYPE, "groups.a[0].group", "contains itself"},
    {HEAD "\"groups\": {\"a\": [{\"type\": \"instance\", \"group\": \"b\"}], \"b\": [{\"type\": \"instance\", \"group\": \"c\"}], \"c\": [{\"type\": \"instance\", \"group\": \"a\"}]}, " NOOBJ, STATUS_TYPE, "groups.c[0].group", "\"a\" contains itself"},
};
// clang-format on

static const char here[] = SOURCE_DIR "/scenes/tests/table.json";

/* Returns false, with a message, when row `index` does not fail as it should. */
static bool fails_well(const char *text, size_t size, const struct bad *b, size_t index)
{
    struct scene *s = (struct scene *)&index; /* anything: it must not be touched */
    struct error err = {0};
    enum status status = scene_load_memory(here, text, size, &s, &err);
    if (status != b->want || err.code != b->want || strcmp(err.path, b->path) != 0 ||
        !strstr(err.msg, b->words) || s != (struct scene *)&index) {
        print_error("row %zu: got %s at \"%s\": %s\nexpected %s at \"%s\": %s\nin %.200s\n", index,
                    status_name(status), err.path, err.msg, status_name(b->want), b->path, b->words,
                    text);
        return false;
    }
    assert_string_equal(err.file, here);
    if (b->path[0]) /* the second line holds what is wrong, in this table */
        assert_true(err.line >= 1 && err.col >= 1);
    assert_null(strchr(err.msg, '\n'));
    return true;
}

static void test_table(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        wrong += !fails_well(table[i].text, strlen(table[i].text), &table[i], i);
    assert_int_equal(wrong, 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no importer is left behind */
    assert_int_equal(errno, ECHILD);
}

static void test_position(void **state)
{
    (void)state;
    static const char text[] = "{\n  \"isophote\": 1,\n  " CAM ",\n  \"objects\": [\n"
                               "    {\"type\": \"sphere\",\n     \"radius\": -3}]}";
    struct scene *s;
    struct error err = {0};
    assert_int_equal(scene_load_memory("dir/x.json", text, strlen(text), &s, &err), STATUS_RANGE);
    assert_int_equal(err.line, 6);
    assert_int_equal(err.col, 16);
    char buf[400];
    error_format(&err, buf, sizeof buf);
    assert_string_equal(buf,
                        "dir/x.json:6:16: error: found -3, expected a number from 1e-09 to 1e+09 "
                        "(at objects[0].radius)");
}

/* A whole scene cut anywhere is an error, never a crash and never a scene. */
static void test_truncated(void **state)
{
    (void)state;
    static const char text[] = OBJ("{\"type\": \"sphere\", \"material\": \"grey\"}");
    for (size_t n = 0; n + 1 < strlen(text); n++) {
        struct scene *s;
        struct error err = {0};
        assert_int_equal(scene_load_memory(here, text, n, &s, &err), STATUS_PARSE);
    }
}

/* Sizes are known before memory is taken: 10^9 triangles, then more than 2^31, then 2^60. */
static void test_too_many(void **state)
{
    (void)state;
    for (unsigned levels = 1; levels <= 3; levels++) {
        struct text t = {0};
        text_puts(&t, HEAD "\"groups\": {\"g0\": [{\"type\": \"mesh\", \"material\": \"grey\","
                           " \"file\": \"cube.ply\"}]");
        /* each level is ten of the one before, thrice: a thousandfold */
        unsigned last = 9 * levels;
        for (unsigned k = 1; k <= last; k++) {
            text_printf(&t, ", \"g%u\": [", k);
            for (int i = 0; i < 10; i++)
                text_printf(&t, "%s{\"type\": \"instance\", \"group\": \"g%u\"}", i ? ", " : "",
                            k - 1);
            text_puts(&t, "]");
        }
        text_printf(&t, "}, \"objects\": [{\"type\": \"instance\", \"group\": \"g%u\"}]}", last);
        struct scene *s;
        struct error err = {0};
        size_t before = memory_peak();
        assert_int_equal(scene_load_memory(here, t.data, t.len, &s, &err), STATUS_LIMIT);
        assert_true(memory_peak() - before < (size_t)64 << 20);
        text_free(&t);
    }
}

static void test_deep_groups(void **state)
{
    (void)state;
    struct text t = {0};
    text_puts(&t, HEAD "\"groups\": {");
    for (unsigned k = 0; k < 100000; k++)
        text_printf(&t, "\"g%u\": [{\"type\": \"instance\", \"group\": \"g%u\"}], ", k, k + 1);
    text_puts(&t,
              "\"g100000\": [{\"type\": \"sphere\", \"material\": \"grey\"}]}, \"objects\": []}");
    struct scene *s;
    struct error err = {0};
    assert_int_equal(scene_load_memory(here, t.data, t.len, &s, &err), STATUS_LIMIT);
    assert_non_null(strstr(err.msg, "64 deep"));
    text_free(&t);
}

static void test_missing_file(void **state)
{
    (void)state;
    struct scene *s;
    struct error err = {0};
    assert_int_equal(scene_load("/nonexistent/scene.json", &s, &err), STATUS_MISSING);
    assert_int_equal(scene_load("/tmp", &s, &err), STATUS_IO);
}

static void test_cancelled(void **state)
{
    (void)state;
    struct scene *s;
    struct error err = {0};
    static const char text[] = OBJ("{\"type\": \"sphere\", \"material\": \"grey\"}");
    cancel_requested = 1;
    enum status status = scene_load_memory(here, text, strlen(text), &s, &err);
    cancel_requested = 0;
    assert_int_equal(status, STATUS_CANCELLED);
}

/* ---- the importer's budgets ----------------------------------------------------------------- */

static void test_import_budget(void **state)
{
    (void)state;
    static const char blob[] = SOURCE_DIR "/scenes/library/blob.ply";
    struct model m = {0};
    struct error err = {0};
    struct import_budget budget = {.seconds = 1e-3, .bytes = (uint64_t)1 << 32};
    assert_int_equal(model_import_within(blob, MODEL_WHOLE, &budget, &m, &err), STATUS_TIMEOUT);
    budget = (struct import_budget){.seconds = 60, .bytes = 20 << 20}; /* it takes 70 MB */
    enum status s = model_import_within(blob, MODEL_WHOLE, &budget, &m, &err);
    if (s != STATUS_PARSE && s != STATUS_MEMORY)
        fail_msg("%s: %s", status_name(s), err.msg);
    assert_null(m.mapping);
    cancel_requested = 1;
    budget.bytes = (uint64_t)1 << 32;
    s = model_import_within(blob, MODEL_WHOLE, &budget, &m, &err);
    cancel_requested = 0;
    assert_int_equal(s, STATUS_CANCELLED);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Every prefix of a small binary PLY, and every byte of it changed: an error or a model, never
 * worse. */
static void test_damaged_models(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err = {0};
    /* some make Assimp loop over 10^8 vertices that are not there */
    const struct import_budget budget = {.seconds = 0.15, .bytes = 1 << 28};
    char *data, path[] = "/tmp/isophote-damaged-XXXXXX.ply";
    size_t size;
    assert_int_equal(file_read(&a, SOURCE_DIR "/scenes/tests/nan.ply", 0, &data, &size, &err),
                     STATUS_OK);
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < size; i += 11) {
        struct model m = {0};
        assert_int_equal(file_write(path, data, i, &err), STATUS_OK);
        if (model_import_within(path, MODEL_WHOLE, &budget, &m, &err) == STATUS_OK)
            model_close(&m);
        data[i] ^= 0x5a;
        assert_int_equal(file_write(path, data, size, &err), STATUS_OK);
        if (model_import_within(path, MODEL_WHOLE, &budget, &m, &err) == STATUS_OK)
            model_close(&m);
        data[i] ^= 0x5a;
    }
    unlink(path);
    arena_free(&a);
}

/* ---- what fuzzing found --------------------------------------------------------------------- */

static void test_crashes(void **state)
{
    (void)state;
    static const char dir[] = SOURCE_DIR "/scenes/tests/crashes";
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[1024], *data;
        size_t size;
        struct arena a = {0};
        struct error err = {0};
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        assert_int_equal(file_read(&a, path, 0, &data, &size, &err), STATUS_OK);
        if (strncmp(e->d_name, "scene", 5) == 0) {
            struct scene *s;
            if (scene_load_memory("/nonexistent/x.json", data, size, &s, &err) == STATUS_OK)
                scene_free(s);
        } else {
            struct image im;
            image_read_memory(&a, data, size, e->d_name, &im, &err);
        }
        arena_free(&a);
    }
    closedir(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),          cmocka_unit_test(test_position),
        cmocka_unit_test(test_truncated),      cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_deep_groups),    cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_cancelled),      cmocka_unit_test(test_import_budget),
        cmocka_unit_test(test_damaged_models), cmocka_unit_test(test_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
