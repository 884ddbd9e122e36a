// What texture() writes besides its result is written by every engine, also through a function's output.
color look(string name, output float alpha) { return texture(name, u, v, "wrap", "clamp", "alpha", alpha); }

shader texture_missing(output float a = 1, output float b = 1)
{
    color c = look("none", a);
    printf("%g %g\n", c, a);           //> 0 0 0 0
    c = texture("none", u, v, "missingcolor", color(1, 2, 3), "missingalpha", 0.25, "alpha", b);
    printf("%g %g\n", c, b);           //> 1 2 3 0.25
    b = 7;
    c = environment("none", N, "alpha", b);
    printf("%g\n", b);                 //> 0
}
//! says error texture: there is no image
//! says error environment: there is no image
