// Closure components that prototypes declare, as Blender's stdcycles.h does: a name, arguments, pairs.
#define BUILTIN [[ int builtin = 1 ]]
closure color ramp(normal N, color colors[3]) BUILTIN;
closure color fog() BUILTIN;
closure color under(string method, normal N, vector radius) BUILTIN;
closure color diffuse(normal N) BUILTIN;       // what ASL knows stays what it is
closure color sheen(normal N, float k) BUILTIN;
closure color sheen(normal N, int k) [[ int builtin = 1, int deriv = 1 ]];
closure color defined(normal N) { return 2 * diffuse(N); }
closure color defined(normal N);               // a prototype without metadata declares nothing
float number(float x) [[ int builtin = 1 ]];   // nor does one of another type

surface components()
{
    color c[3] = { 1, color(1, 2, 3) };
    printf("%s\n", 0.5 * ramp(N, c));
    //> (0.5, 0.5, 0.5) * ramp ((0, 0, 1), [(1, 1, 1), (1, 2, 3), (0, 0, 0)])
    Ci = fog() + color(1, 0, 0) * under("walk", N, 2, "ior", 1.5, "steps", 3);
    printf("%s\n", Ci);
    //> (1, 1, 1) * fog ()
    //> 	+ (1, 0, 0) * under ("walk", (0, 0, 1), (2, 2, 2), "ior", 1.5, "steps", 3)
    printf("%s %s\n", diffuse(N, "label", "a"), defined(N));
    //> (1, 1, 1) * diffuse ((0, 0, 1), "label", "a") (2, 2, 2) * diffuse ((0, 0, 1), "label", "")
    printf("%s %s\n", sheen(N, 0.5), sheen(N, 2));
    //> (1, 1, 1) * sheen ((0, 0, 1), 0.5) (1, 1, 1) * sheen ((0, 0, 1), 2)
}
