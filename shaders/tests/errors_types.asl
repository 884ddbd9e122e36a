// Type errors: all are reported, each once, with a place.
struct pair { int a; int b; };
int recurse(int n) { return n > 0 ? recurse(n - 1) : 0; }        //! error 3:37: recursion is not allowed
float nothing(int a) { if (a > 0) return 1; }                   //! warning 4:7: may end without a value
shader test(int in = 1, output color c = 0)
{
    int i = "1";                                                //! error 7:13: cannot initialise int with a value of type string
    float f = color(1);                                         //! error 8:15: cannot initialise float with a value of type color
    string s = 3;                                               //! error 9:16: cannot initialise string with a value of type int
    colour = 1;                                                 //! error 10:5: 'colour' is not declared
    i = undefined(3);                                           //! error 11:9: there is no function 'undefined'
    f = sin("x");                                               //! error 12:9: 'sin' cannot be called with (string)
    f = s + "x";                                                //! error 13:11: operator + is not defined for string and string
    i = c < c;                                                  //! error 14:11: operator < is not defined for color and color
    in = 3;                                                     //! error 15:5: cannot assign to parameter 'in': it is not an output
    u = 1;                                                      //! warning 16:5: this changes the global variable 'u'
    3 = i;                                                      //! error 17:5: cannot assign to this: it is a value
    float a[3] = { 1, 2, 3, 4 };                                //! error 18:29: too many values: float[3] takes 3
    f = a;                                                      //! error 19:9: cannot fill float with a value of type float[3]
    f = c.x;                                                    //! error 20:11: color has no component 'x'; its components are r, g, b
    pair p;
    f = p.c;                                                    //! error 22:11: struct 'pair' has no field 'c'
    p = p + p;                                                  //! error 23:11: operator + is not defined for pair and pair
    i = f[0];                                                   //! error 24:10: float has no elements or components
    printf("%d\n", f);                                          //! error 25:20: '%d' prints int, not float
    printf("%g %g\n", f);                                       //! error 26:12: the format asks for more values than the 1 given
    printf("x\n", i);                                           //! error 27:19: the format has no place for this value
    printf("%q\n", i);                                          //! error 28:12: '%q' is no conversion
    break;                                                      //! error 29:5: 'break' outside of a loop
    return 3;                                                   //! error 30:12: a shader returns no value
    c = texture3d("a", point(u, v, 0));             //! error 31:9: texture3d() is not supported
    float i = 2;                                                //! error 32:11: 'i' is declared twice in this scope
                                                                //! note 7:9: it was declared here
    i == 3;                                                     //! warning 34:7: this statement does nothing
    if (i = 3)                                                  //! warning 35:11: an assignment is used as a condition
        ;
    if (a)                                                      //! error 37:9: float[3] cannot be the condition of 'if'
        ;
    f = a[1.0];                                                 //! error 39:11: an index must be an int, not float
    f = a[7];                                                   //! warning 40:11: index 7 is outside of the array (0 to 2)
    i = true ? 1 : c;                                           //! error 41:9: expected an expression, found 'true'
}
