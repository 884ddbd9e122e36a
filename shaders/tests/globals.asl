// Every global variable may change, with a warning but for P, N and Ci; functions and what derivatives look at see it.
float twice() { return 2 * u; }
void next(output float x) { x += 1; }
shader globals(float k = u)
{
    u = 4 * u;                                               //! warning 6:5: this changes the global variable 'u'
    printf("%g %g %g\n", k, u, twice());                     //> 0.5 2 4
    next(v);                                                 //! warning 8:10: this changes the global variable 'v'
    I = vector(u, v, time);                                  //! warning 9:5: this changes the global variable 'I'
    Ng[1] = 3;                                               //! warning 10:7: this changes the global variable 'Ng'
    printf("%g, %g\n", I, Ng);                               //> 2 1.5 0, 0 3 1
    printf("%d %d\n", Dx(u) == 4 * Dx(P)[0], Dy(I)[1] == Dy(P)[1]); //> 1 1
    {
        float u = 7;
        if (u > 5)
            time = u;                                        //! warning 16:13: this changes the global variable 'time'
    }
    printf("%g %g\n", u, time);                              //> 2 7
    float v = 3;                                             //! warning 19:11: 'v' hides the global variable
    printf("%g\n", v);                                       //> 3
}
