// Declared closure components are called with what the prototype says, and pairs.
closure color ramp(normal N, color colors[3]) [[ int builtin = 1 ]];
surface errors_components()
{
    color two[2] = { 0, 1 }, three[3] = { 0, 1, 1 };
    Ci = ramp(N);                  //! error 6:10: 'ramp' cannot be called with (normal)
    Ci = ramp(N, two);             //! error 7:10: 'ramp' cannot be called with
    Ci = ramp(N, three, 1.0, 2.0); //! error 8:10: 'ramp' cannot be called with
    Ci = ramp(N, three, "a");      //! error 9:10: 'ramp' cannot be called with
    float f = ramp(N, three);      //! error 10:15: cannot initialise float
}
