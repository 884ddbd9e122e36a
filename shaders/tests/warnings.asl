//! warn-all
// What OSL's compiler doubts as well; #pragma osl nowarn covers the line that follows.
normal which() { return 1; }
vector which() { return 2; }
struct one { float a; };
struct two { float a; };
one either() { one r; r.a = 3; return r; }
two either() { two r; r.a = 4; return r; }
float near(float a,) [[ string help = "commas may end lists", ]] { return a + 1; }
int fill(int found[4], string s) { return regex_search(s, found, "b+"); }
shader warnings(string form = "%d\n",)
{
    point p = which(); //! warning 13:15: the call of 'which' is ambiguous
//! note 4:8: this function is called
//! note 3:8: this one fits as well
#pragma osl nowarn
    point q = which();
    vector w = which();
    p += (w, q); //! warning 19:12: a comma inside parentheses
    printf(form, 5); //! warning 20:12: the format is no literal
//> 5
    one a = either();
    int found[4];
    printf("%g %g %g %d %d\n", p, a.a, near(1), fill(found, "abbc"), found); //> 4 4 4 3 2 1 1 3 2 2
}
