// Overload resolution: exact arguments, then cheaper conversions, then the result.
int freturn() { printf("int "); return 1; }
float freturn() { printf("float "); return 1; }
color freturn() { printf("color "); return 1; }
vector creturn() { printf("vector "); return 1; }
color creturn() { printf("color "); return 1; }
string creturn() { printf("string "); return ""; }
float t(float a, float b) { printf("ff "); return 0; }
float t(color a, float b) { printf("cf "); return 0; }
float t(int a, int b) { printf("ii "); return 0; }
float noise(int a) { printf("mine "); return 0; }
void v(vector a) { printf("vector "); }
void v(color a) { printf("color "); }
shader test()
{
    freturn();
    color c = freturn();
    int i = freturn();
    printf("\n");                                           //> float color int 
    creturn();
    printf("%s\n", creturn());
}
//! warning 16:5: the call of 'freturn' is ambiguous
//! note 3:7: this function is called
//! note 2:5: this one fits as well
//! warning 20:5: the call of 'creturn' is ambiguous
//! note 6:7: this function is called
//! note 5:8: this one fits as well
//! warning 21:20: the call of 'creturn' is ambiguous
//! note 6:7: this function is called
//! note 5:8: this one fits as well
//! error 21:20: '%s' prints string, not color
