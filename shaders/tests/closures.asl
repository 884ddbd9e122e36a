// Closures as text.
shader test(string distribution = "ggx")
{
    closure color c = 0.5 * diffuse(N);
    printf("%s\n", c);                                      //> (0.5, 0.5, 0.5) * diffuse ((0, 0, 1), "label", "")
    c = color(1, 2, 3) * emission() + c * 2 + 0 * holdout();
    printf("%s\n", c);
    //> (1, 2, 3) * emission ()
    //> 	+ (1, 1, 1) * diffuse ((0, 0, 1), "label", "")
    closure color none = 0;
    printf("[%s] %d %d\n", none, c ? 1 : 0, none ? 1 : 0);  //> [] 1 0
    Ci = microfacet(distribution, N, vector(1, 0, 0), 0.1, 0.2, 1.5, 0);
    printf("%s\n", Ci);                                     //> (1, 1, 1) * microfacet ("ggx", (0, 0, 1), (1, 0, 0), 0.1, 0.2, 1.5, 0)
    Ci = phong(N, 20, "label", "gloss");
    printf("%s\n", Ci);                                     //> (1, 1, 1) * phong ((0, 0, 1), 20, "label", "gloss")
    Ci = phong(N, 20, "label", "a", "label", "b"); //! warning 16:23: 'label' stands again later
    printf("%s\n", Ci);                                     //> (1, 1, 1) * phong ((0, 0, 1), 20, "label", "b")
    Ci = mix(diffuse(N), transparent(), 0.25);
    printf("%s\n", Ci);
    //> (0.75, 0.75, 0.75) * diffuse ((0, 0, 1), "label", "")
    //> 	+ (0.25, 0.25, 0.25) * transparent ()
    Ci = layer(sheen_bsdf(N, color(0.5), 0.3), diffuse(N));
    printf("%s\n", Ci);                                     //> (1, 1, 1) * layer ((1, 1, 1) * sheen_bsdf ((0, 0, 1), (0.5, 0.5, 0.5), 0.3), (1, 1, 1) * diffuse ((0, 0, 1), "label", ""))
}
