// Lists that fit no function or two, functions without a return, arrays without a length.
struct mask { float a; color rgb; };
struct one { float a, b, c; };
struct two { float a, b, c; };
void only(mask m) { }
void either(one a, int b) { }
void either(two a, int b) { }
float differ(one a) { return 1; }
void differ(two a) { }
one __operator__neg__(one a) { area(P); } //! warning 10:5: may end without a value
float none(point p) { area(p); } //! warning 11:7: may end without a value
float never(point p) { area(p); } //! warning 12:7: may end without a value
int again(int a) { return again(a); } //! error 13:27: recursion is not allowed
#pragma error "said by the source"
shader test(output color c[] = { 1 })
{
    only({ 6, 7, 8 });
    only({ { 6, 7, 8 }, 5 });
    either({ 1, 2, 3 }, 1);
    differ({ 1, 2, 3 });
    float f = differ({ 1, 2, 3 });
    one a = { 1, 2, 3 };
    a = -a;
    f = none(P);
    point p = { "common", 1, 2 };
}
//! error 14:2: said by the source
//! error 15:26: output array 'c' has no length
//! error 17:5: 'only' cannot be called with ({...})
//! error 18:5: 'only' cannot be called with ({...})
//! error 19:5: the call of 'either' is ambiguous
//! note 7:6: the list fits this function
//! note 6:6: and this one
//! error 20:5: the call of 'differ' is ambiguous
//! note 9:6: the list fits this function
//! note 8:7: and this one
//! error 23:9: function '__operator__neg__' has no return: it gives no one
//! note 10:5: it is defined here
//! error 24:9: function 'none' has no return: it gives no float
//! note 11:7: it is defined here
//! error 25:15: maybe after the name of a space, 2 given
