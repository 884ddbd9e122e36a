// Every closure function as text: name, arguments in their order, pairs.
void show(closure color c) { printf("%s\n", c); }
shader test()
{
    normal n = normal(0, 0, 1);
    vector t = vector(1, 0, 0);
    show(background() + transparent());
    //> (1, 1, 1) * background ()
    //> 	+ (1, 1, 1) * transparent ()
    show(oren_nayar(n, 0.5));                               //> (1, 1, 1) * oren_nayar ((0, 0, 1), 0.5)
    show(translucent(n) * 2);                               //> (2, 2, 2) * translucent ((0, 0, 1))
    show(ward(n, t, 0.1, 0.2));                             //> (1, 1, 1) * ward ((0, 0, 1), (1, 0, 0), 0.1, 0.2)
    show(reflection(n));                                    //> (1, 1, 1) * reflection ((0, 0, 1), 0)
    show(reflection(n, "tag", 3));                          //> (1, 1, 1) * reflection ((0, 0, 1), 0, "tag", 3)
    show(reflection(n, 1.5));                               //> (1, 1, 1) * reflection ((0, 0, 1), 1.5)
    show(refraction(n, 1.5));                               //> (1, 1, 1) * refraction ((0, 0, 1), 1.5)
    show(0.25 * debug("aov"));                              //> (0.25, 0.25, 0.25) * debug ("aov")
    show(microfacet("beckmann", n, 0.3, 1.5, 1));           //> (1, 1, 1) * microfacet ("beckmann", (0, 0, 1), (0, 0, 0), 0.3, 0.3, 1.5, 1)
    show(microfacet("ggx", n, 0.3, 1.5, 0, "tag", 2));      //> (1, 1, 1) * microfacet ("ggx", (0, 0, 1), (0, 0, 0), 0.3, 0.3, 1.5, 0, "tag", 2)
    show(principled(n, 0.5, 1, 0.25, "ior", 1.45));         //> (1, 1, 1) * principled ((0, 0, 1), (0.5, 0.5, 0.5), 1, 0.25, "ior", 1.45)
    show(oren_nayar_diffuse_bsdf(n, color(1), 0.1, "energy_compensation", 1));   //> (1, 1, 1) * oren_nayar_diffuse_bsdf ((0, 0, 1), (1, 1, 1), 0.1, "energy_compensation", 1)
    show(burley_diffuse_bsdf(n, color(1), 0.1));            //> (1, 1, 1) * burley_diffuse_bsdf ((0, 0, 1), (1, 1, 1), 0.1)
    show(dielectric_bsdf(n, t, 1, 0, 0.1, 0.2, 1.5, "ggx"));    //> (1, 1, 1) * dielectric_bsdf ((0, 0, 1), (1, 0, 0), (1, 1, 1), (0, 0, 0), 0.1, 0.2, 1.5, "ggx")
    show(conductor_bsdf(n, t, 0.1, 0.2, 2, 3, "ggx"));      //> (1, 1, 1) * conductor_bsdf ((0, 0, 1), (1, 0, 0), 0.1, 0.2, (2, 2, 2), (3, 3, 3), "ggx")
    show(generalized_schlick_bsdf(n, t, 1, 1, 0.1, 0.2, 0.04, 1, 5, "ggx"));     //> (1, 1, 1) * generalized_schlick_bsdf ((0, 0, 1), (1, 0, 0), (1, 1, 1), (1, 1, 1), 0.1, 0.2, (0.04, 0.04, 0.04), (1, 1, 1), 5, "ggx")
    show(translucent_bsdf(n, 0.5) + transparent_bsdf());
    //> (1, 1, 1) * translucent_bsdf ((0, 0, 1), (0.5, 0.5, 0.5))
    //> 	+ (1, 1, 1) * transparent_bsdf ()
    show(subsurface_bssrdf(n, 0.5, color(1, 2, 3), 0.1));   //> (1, 1, 1) * subsurface_bssrdf ((0, 0, 1), (0.5, 0.5, 0.5), (1, 2, 3), 0.1)
    show(subsurface(1.3, 0, color(1, 2, 3), 0.5));          //> (1, 1, 1) * subsurface (1.3, 0, (1, 2, 3), (0.5, 0.5, 0.5))
    show(uniform_edf(3) * color(1, 0, 0));                  //> (1, 0, 0) * uniform_edf ((3, 3, 3))
    show(anisotropic_vdf(0.5, 1, 0.2));                     //> (1, 1, 1) * anisotropic_vdf ((0.5, 0.5, 0.5), (1, 1, 1), 0.2)
    show(medium_vdf(0.5, 2, 0.8, 0.1, 1.33, 3));            //> (1, 1, 1) * medium_vdf ((0.5, 0.5, 0.5), 2, (0.8, 0.8, 0.8), 0.1, 1.33, 3)
    color ior, k;
    artistic_ior(color(0.25), color(1, 0, 0.5), ior, k);
    // r = 1/4: n is (1-r)/(1+r) = 0.6 for g = 1, (1+sqrt r)/(1-sqrt r) = 3 for g = 0, their mean 1.8 between
    printf("%g\n", ior);                                    //> 0.6 3 1.8
    printf("%.5f\n", k);                                    //> 0.80000 0.00000 1.32665
    closure color list[2];
    list[1] = diffuse(n);
    printf("[%s]\n", list);                                 //> [ (1, 1, 1) * diffuse ((0, 0, 1), "label", "")]
}
