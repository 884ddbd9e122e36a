// A variable hides the functions of its name; structs that nothing chooses between.
struct one { float a; };
struct two { float a; };
one either() { one r; r.a = 3; return r; }
two either() { two r; r.a = 4; return r; }
void hides(float cos) { cos(1); } //! error 6:25: 'cos' is a variable here, no function
float f(float x) { return x; }
shader names(float noise = 1)
{
    float f = f(2);
    noise(P); //! error 11:5: 'noise' is a variable here, no function
    { float g(float x) { return x; } float y = g(1); int g = 3; g(2); } //! error 12:65: 'g' is a variable here
    either(); //! error 13:5: the call of 'either' is ambiguous
//! note 5:5: this function fits
//! note 4:5: and this one
    Ci = diffus(N); //! error 16:10: there is no function 'diffus'; did you mean 'diffuse'?
    Ci = microfacet_beckmann(N, u); //! error 17:10: there is no function 'microfacet_beckmann'; a prototype declares it
}
