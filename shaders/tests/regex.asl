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
    printf("%d\n", regex_match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "(a+)+[cd]"));   //> 0
    // As ECMAScript has it: empty classes, \\x and \\u, $ only at the very end, . no end of a line, a group that
    // took no part is empty where it is asked for again.
    printf("%d %d %d\n", regex_match("a", "[]"), regex_match("]", "[^]"), regex_match("x]", "[]]"));                 //> 0 1 0
    printf("%d %d\n", regex_match("AB", "\\x41\\u0042"), regex_match("x4", "\\x4"));                               //> 1 1
    printf("%d %d %d\n", regex_search("ab\n", "b$"), regex_match("\n", "."), regex_match("\r", "."));               //> 0 0 0
    printf("%d %d\n", regex_match("b", "(a)?\\1b"), regex_match("abab", "(ab)\\1"));                               //> 1 1
    printf("%d %d\n", regex_search("foobar", "foo(?=bar)"), regex_search("foobaz", "foo(?!baz)"));                  //> 1 0
    // Not as ECMAScript has it: a group keeps what an earlier turn of its repetition took; \\v is any vertical space.
    ok = regex_search("ab", r, "(?:(a)|(b))*");
    show(ok, r);                                            //> 1: 0 2 0 1 1 2
    printf("%d\n", regex_match("\n", "\\v"));               //> 1
    // Bytes stay bytes; a pattern cannot ask for UTF, nor raise its own limits.
    printf("%d %d\n", regex_match("\303\244", "."), regex_match("\303\244", "(*UTF)."));                              //> 0 0
    printf("%d\n", regex_match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "(*LIMIT_MATCH=4000000000)(a+)+[ce]"));       //> 0
    int words[2];
    ok = regex_search("abc", words, "(a)(b)(c)");           // less room than groups
    printf("%d: %d %d\n", ok, words[0], words[1]);          //> 1: 0 3
    printf("%d %d %d\n", regex_match("a", "a{2,1}"), regex_match("a", "*a"), regex_match("q", "\\q"));               //> 0 0 0
}
//! says error regular expression "(x": missing closing parenthesis at byte 2
//! says error regular expression "(a+)+[cd]": the match takes too many steps
//! says error regular expression "(*UTF).": using UTF is disabled by the application at byte 6
//! says error regular expression "(*LIMIT_MATCH=4000000000)(a+)+[ce]": the match takes too many steps
//! says error regular expression "a{2,1}": numbers out of order in {} quantifier at byte 5
//! says error regular expression "*a": quantifier does not follow a repeatable item at byte 0
//! says error regular expression "\q": unrecognized character follows \ at byte 1
