// Names and values of look-ups' pairs that a run alone knows: what is none is reported by every engine, and left out.
color look(string name, string key, string value) { return texture(name, u, v, key, value, "missingalpha", 1); }

shader texture_pairs(string wrap = "repeat", string interp = "cubic", string first = "left", string idle = "time")
{
    float a = 7;
    string key = "blurr", alpha = "alpha";
    if (u >= 0) // else what follows were known to the compiler
        key = interp;
    color c = texture("none", u, v, "wrap", wrap, "interp", interp, "missingcolor", color(1, 2, 3));
    printf("%g\n", c);                 //> 1 2 3
    c = texture("none", u, v, "interp", wrap, "errormessage", alpha);
    printf("%g %s\n", c, alpha);       //> 0 0 0 there is no such image
    c = look("none", key, wrap) + look("none", idle, wrap) + look("none", "twrap", interp);
    c = environment("none", N, "swrap", wrap, "interp", wrap, "missingcolor", color(1, 2, 3)); //! warning 15:41: "swrap" changes nothing: environment() wraps around and ends at the poles
    printf("%g\n", c);                 //> 1 2 3
    alpha = "alpha";
    c = texture("none", u, v, alpha, a, "subimage", first, "missingalpha", 1);
    printf("%g\n", a);                 //> 7
}
//! says error texture: "wrap" has no value "repeat"
//! says error texture: "interp" has no value "repeat"
//! says error texture: there is no option "cubic"
//! says error texture: "twrap" has no value "cubic"
//! says error environment: "interp" has no value "repeat"
//! says error texture: "alpha" writes only where its name is a literal
