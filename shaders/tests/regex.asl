// Regular expressions.
void show(int ok, int r[6])
{
    printf("%d: %d\n", ok, r);
}
shader test()
{
    printf("%d %d %d\n", regex_match("foo", "f"), regex_match("foo", "f[Oo]{2}"), regex_match("foo", ".*o"));    //> 0 1 1
    printf("%d %d %d\n", regex_search("foobar.baz", "bark"), regex_search("foobar.baz", "bar"), regex_search("foobar.baz", "[oO]{2}"));   //> 0 1 1
    int r[6];
    int ok = regex_search("foobar.baz", r, "(f[Oo]{2}).*(.az)");
    show(ok, r);                                            //> 1: 0 10 0 3 7 10
    ok = regex_search("xxabcabcyy", r, "(abc)+");
    show(ok, r);                                            //> 1: 2 8 5 8 6 6
    ok = regex_search("aXbXc", r, "^(.*?)X(.*)$");
    show(ok, r);                                            //> 1: 0 5 0 1 2 5
    printf("%d %d\n", regex_match("a1_b", "\\w+"), regex_match("2026-11-21", "\\d{4}-\\d\\d-\\d{1,2}"));         //> 1 1
    printf("%d %d %d\n", regex_match("cat", "cat|dog"), regex_match("dog", "(?:cat|dog)"), regex_match("cow", "cat|dog"));    //> 1 1 0
    printf("%d %d\n", regex_match("a.b", "a\\.b"), regex_match("axb", "a\\.b"));                                 //> 1 0
    printf("%d %d\n", regex_match("", ""), regex_match("aaa", "(a*)*"));    //> 1 1
    printf("%d\n", regex_search("say hello now", "\\bhello\\b"));           //> 1
    printf("%d\n", regex_match("0xFF", "0x[[:xdigit:]]+"));                 //> 1
    printf("%d\n", regex_match("b", "[^a]"));                               //> 1
    printf("%d\n", regex_match("x", "(x"));                                 //> 0
    printf("%d\n", regex_match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "(a+)+c"));   //> 0
}
//! says error regular expression "(x": '(' is not closed
//! says error regular expression "(a+)+c": the match takes too many steps
