/* regex.c: a backtracking matcher that walks the pattern's text. A pattern is checked once;
 * matching then recurses with an explicit "what comes next" list, bounded in depth and in steps. */
#include "regex.h"

#include <string.h>

enum { MAX_DEPTH = 5000 };

struct node { /* of the compiled pattern, linked by index */
    uint8_t kind;
    bool lazy, negated;
    int32_t min, max; /* of a repetition; max -1: no limit */
    int32_t a, b, next;
    uint8_t ch;
    uint8_t set[32];
};

enum { N_CHAR, N_ANY, N_SET, N_BEGIN, N_END, N_WORD, N_GROUP, N_ALT, N_REPEAT, N_EMPTY };

enum { MAX_NODES = 2000 };

struct pattern {
    struct node nodes[MAX_NODES];
    int32_t count;
    const char *p;
    int32_t groups;
    int32_t depth;
    const char *why;
};

static int32_t alternatives(struct pattern *c);

static int32_t node(struct pattern *c, uint8_t kind)
{
    if (c->count >= MAX_NODES) {
        c->why = "the pattern is too long";
        return 0;
    }
    struct node *n = &c->nodes[c->count];
    memset(n, 0, sizeof *n);
    n->kind = kind;
    n->a = n->b = n->next = -1;
    return c->count++;
}

static void set_range(uint8_t *set, int from, int to)
{
    for (int i = from; i <= to; i++)
        set[i / 8] |= (uint8_t)(1 << (i % 8));
}

/* \d \w \s and their complements; false when ch names none. */
static bool class_escape(uint8_t *set, char ch)
{
    uint8_t own[32] = {0};
    switch (ch | 32) {
    case 'd':
        set_range(own, '0', '9');
        break;
    case 'w':
        set_range(own, '0', '9');
        set_range(own, 'a', 'z');
        set_range(own, 'A', 'Z');
        set_range(own, '_', '_');
        break;
    case 's':
        set_range(own, '\t', '\r');
        set_range(own, ' ', ' ');
        break;
    default:
        return false;
    }
    for (size_t i = 0; i < 32; i++)
        set[i] |= ch & 32 ? own[i] : (uint8_t)~own[i];
    return true;
}

static uint8_t escape(char ch)
{
    switch (ch) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case 'f':
        return '\f';
    case 'v':
        return '\v';
    default:
        return (uint8_t)ch;
    }
}

static bool named_class(struct pattern *c, uint8_t *set)
{
    static const struct {
        const char *name, *ranges;
    } classes[] = {{"alpha", "azAZ"},    {"digit", "09"},      {"alnum", "azAZ09"},
                   {"upper", "AZ"},      {"lower", "az"},      {"space", "\t\r  "},
                   {"xdigit", "09afAF"}, {"punct", "!/:@[`{~"}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        size_t n = strlen(classes[i].name);
        if (strncmp(c->p + 2, classes[i].name, n) == 0 && strncmp(c->p + 2 + n, ":]", 2) == 0) {
            for (const char *r = classes[i].ranges; *r; r += 2)
                set_range(set, r[0], r[1]);
            c->p += n + 4;
            return true;
        }
    }
    return false;
}

static int32_t bracket(struct pattern *c)
{
    int32_t i = node(c, N_SET);
    struct node *n = &c->nodes[i];
    c->p++;
    if (*c->p == '^') {
        n->negated = true;
        c->p++;
    }
    for (bool first = true; *c->p != ']' || first; first = false) {
        if (!*c->p) {
            c->why = "'[' is not closed";
            return i;
        }
        if (c->p[0] == '[' && c->p[1] == ':' && named_class(c, n->set))
            continue;
        uint8_t from = (uint8_t)*c->p++;
        if (from == '\\' && *c->p) {
            char e = *c->p++;
            if (class_escape(n->set, e))
                continue;
            from = escape(e);
        }
        uint8_t to = from;
        if (c->p[0] == '-' && c->p[1] && c->p[1] != ']') {
            c->p++;
            to = (uint8_t)*c->p++;
            if (to == '\\' && *c->p)
                to = escape(*c->p++);
        }
        if (to < from) {
            c->why = "a range runs backwards";
            return i;
        }
        set_range(n->set, from, to);
    }
    c->p++;
    return i;
}

static int32_t atom(struct pattern *c)
{
    int32_t i;
    char ch = *c->p;
    switch (ch) {
    case '(': {
        c->p++;
        bool capture = !(c->p[0] == '?' && c->p[1] == ':');
        if (!capture)
            c->p += 2;
        else if (*c->p == '?') {
            c->why = "look-around is not supported";
            return 0;
        }
        i = node(c, N_GROUP);
        int32_t number = 0;
        if (capture && ++c->groups >= REGEX_MAX_GROUPS) {
            c->why = "too many groups";
            return i;
        }
        if (capture)
            number = c->groups;
        if (++c->depth > 100) {
            c->why = "groups nest too deeply";
            return i;
        }
        int32_t inner = alternatives(c);
        c->depth--;
        c->nodes[i].a = inner;
        c->nodes[i].min = number;
        if (*c->p != ')')
            c->why = c->why ? c->why : "'(' is not closed";
        else
            c->p++;
        return i;
    }
    case '[':
        return bracket(c);
    case '.':
        c->p++;
        return node(c, N_ANY);
    case '^':
        c->p++;
        return node(c, N_BEGIN);
    case '$':
        c->p++;
        return node(c, N_END);
    case '*':
    case '+':
    case '?':
        c->why = "a quantifier has nothing to repeat";
        return 0;
    case '\\':
        c->p++;
        ch = *c->p;
        if (!ch) {
            c->why = "'\\' at the end";
            return 0;
        }
        c->p++;
        if (ch == 'b' || ch == 'B') {
            i = node(c, N_WORD);
            c->nodes[i].negated = ch == 'B';
            return i;
        }
        i = node(c, N_SET);
        if (class_escape(c->nodes[i].set, ch))
            return i;
        c->nodes[i].kind = N_CHAR;
        c->nodes[i].ch = escape(ch);
        return i;
    default:
        i = node(c, N_CHAR);
        c->nodes[i].ch = (uint8_t)ch;
        c->p++;
        return i;
    }
}

static int32_t number(struct pattern *c)
{
    int32_t v = 0;
    while (*c->p >= '0' && *c->p <= '9' && v < 100000)
        v = v * 10 + (*c->p++ - '0');
    return v;
}

static int32_t repeated(struct pattern *c)
{
    int32_t a = atom(c);
    while (!c->why) {
        int32_t min, max;
        if (*c->p == '*') {
            min = 0;
            max = -1;
            c->p++;
        } else if (*c->p == '+') {
            min = 1;
            max = -1;
            c->p++;
        } else if (*c->p == '?') {
            min = 0;
            max = 1;
            c->p++;
        } else if (*c->p == '{' && c->p[1] >= '0' && c->p[1] <= '9') {
            c->p++;
            min = max = number(c);
            if (*c->p == ',') {
                c->p++;
                max = *c->p == '}' ? -1 : number(c);
            }
            if (*c->p != '}' || (max >= 0 && max < min) || min > 1000 || max > 1000) {
                c->why = "a bad {m,n}";
                break;
            }
            c->p++;
        } else {
            break;
        }
        int32_t r = node(c, N_REPEAT);
        c->nodes[r].a = a;
        c->nodes[r].min = min;
        c->nodes[r].max = max;
        if (*c->p == '?') {
            c->nodes[r].lazy = true;
            c->p++;
        }
        a = r;
    }
    return a;
}

static int32_t sequence(struct pattern *c)
{
    int32_t first = node(c, N_EMPTY), last = first;
    while (!c->why && *c->p && *c->p != '|' && *c->p != ')') {
        int32_t n = repeated(c);
        c->nodes[last].next = n;
        last = n;
    }
    return first;
}

static int32_t alternatives(struct pattern *c)
{
    int32_t a = sequence(c);
    if (*c->p != '|' || c->why)
        return a;
    int32_t alt = node(c, N_ALT);
    c->nodes[alt].a = a;
    c->p++;
    if (++c->depth > 200)
        c->why = "too many alternatives";
    int32_t rest = c->why ? 0 : alternatives(c);
    c->depth--;
    c->nodes[alt].b = rest;
    return alt;
}

/* ---- matching ------------------------------------------------------------------------------- */

/* What is to be matched after the current node: a chain on the stack. */
struct then {
    int32_t node;          /* continue with this node ... */
    int32_t repeat, count; /* ... or with one more turn of a repetition ... */
    int32_t group;         /* ... or close a group */
    int32_t from;          /* where that turn or group began */
    const struct then *next;
};

struct matcher {
    const struct pattern *c;
    const char *s;
    int32_t len;
    bool whole, too_long;
    uint64_t steps;
    int32_t depth;
    int32_t *begin, *end;
    int32_t stop;
};

static bool match(struct matcher *m, int32_t n, int32_t at, const struct then *k);

static bool go_on(struct matcher *m, int32_t at, const struct then *k);

/* One more turn of repetition r after `count` turns, the last of which began at `from`. */
static bool repeat(struct matcher *m, int32_t r, int32_t count, int32_t from, int32_t at,
                   const struct then *k)
{
    const struct node *n = &m->c->nodes[r];
    bool stuck = count > n->min && at == from; /* an empty turn would go on for ever */
    bool more = (n->max < 0 || count < n->max) && !stuck;
    struct then again = {
        .node = -1, .repeat = r, .count = count + 1, .group = -1, .from = at, .next = k};
    struct then rest = {.node = n->next, .repeat = -1, .group = -1, .next = k};
    if (count < n->min)
        return match(m, n->a, at, &again);
    if (n->lazy)
        return go_on(m, at, &rest) || (more && match(m, n->a, at, &again));
    return (more && match(m, n->a, at, &again)) || go_on(m, at, &rest);
}

static bool go_on(struct matcher *m, int32_t at, const struct then *k)
{
    if (!k) {
        if (m->whole && at != m->len)
            return false;
        m->stop = at;
        return true;
    }
    if (k->repeat >= 0)
        return repeat(m, k->repeat, k->count, k->from, at, k->next);
    if (k->group >= 0) {
        int32_t b = m->begin[k->group], e = m->end[k->group];
        m->begin[k->group] = k->from;
        m->end[k->group] = at;
        if (go_on(m, at, k->next))
            return true;
        m->begin[k->group] = b;
        m->end[k->group] = e;
        return false;
    }
    return k->node < 0 ? go_on(m, at, k->next) : match(m, k->node, at, k->next);
}

static bool word_char(const struct matcher *m, int32_t i)
{
    if (i < 0 || i >= m->len)
        return false;
    char ch = m->s[i];
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_';
}

static bool match_one(struct matcher *m, int32_t n, int32_t at, const struct then *k)
{
    for (;;) {
        if (n < 0)
            return go_on(m, at, k);
        const struct node *x = &m->c->nodes[n];
        bool ok = true;
        if (m->steps-- == 0) {
            m->too_long = true;
            return false;
        }
        switch (x->kind) {
        case N_CHAR:
            ok = at < m->len && (uint8_t)m->s[at] == x->ch;
            at++;
            break;
        case N_ANY:
            ok = at < m->len && m->s[at] != '\n' && m->s[at] != '\r';
            at++;
            break;
        case N_SET: {
            uint8_t ch = at < m->len ? (uint8_t)m->s[at] : 0;
            ok = at < m->len && (((x->set[ch / 8] >> (ch % 8)) & 1) != 0) != x->negated;
            at++;
            break;
        }
        case N_BEGIN:
            ok = at == 0;
            break;
        case N_END:
            ok = at == m->len;
            break;
        case N_WORD:
            ok = (word_char(m, at - 1) != word_char(m, at)) != x->negated;
            break;
        case N_GROUP: {
            struct then rest = {.node = x->next, .repeat = -1, .group = -1, .next = k};
            struct then close = {
                .node = -1, .repeat = -1, .group = x->min ? x->min : -1, .from = at, .next = &rest};
            return match(m, x->a, at, &close);
        }
        case N_ALT: {
            struct then rest = {.node = x->next, .repeat = -1, .group = -1, .next = k};
            return match(m, x->a, at, &rest) || match(m, x->b, at, &rest);
        }
        case N_REPEAT:
            return repeat(m, n, 0, -1, at, k);
        default:
            break;
        }
        if (!ok)
            return false;
        n = x->next;
    }
}

static bool match(struct matcher *m, int32_t n, int32_t at, const struct then *k)
{
    if (m->depth >= MAX_DEPTH || m->too_long) {
        m->too_long = true;
        return false;
    }
    m->depth++;
    bool ok = match_one(m, n, at, k);
    m->depth--;
    return ok;
}

enum regex_result regex_run(const char *pattern, const char *s, bool whole, uint64_t steps,
                            int32_t begin[REGEX_MAX_GROUPS], int32_t end[REGEX_MAX_GROUPS],
                            size_t *groups, const char **why)
{
    static _Thread_local struct pattern c;
    c.count = 0;
    c.groups = 0;
    c.depth = 0;
    c.p = pattern;
    c.why = NULL;
    size_t len = strlen(s);
    if (len > 1 << 24) {
        *why = "the text is too long";
        return REGEX_TOO_LONG;
    }
    int32_t first = alternatives(&c);
    if (!c.why && *c.p)
        c.why = "')' closes nothing";
    if (c.why) {
        *why = c.why;
        return REGEX_BAD;
    }
    struct matcher m = {.c = &c,
                        .s = s,
                        .len = (int32_t)len,
                        .whole = whole,
                        .steps = steps,
                        .begin = begin,
                        .end = end};
    for (int32_t at = 0; at <= m.len; at++) {
        for (size_t i = 0; i < REGEX_MAX_GROUPS; i++)
            begin[i] = end[i] = -1;
        if (match(&m, first, at, NULL)) {
            begin[0] = at;
            end[0] = m.stop;
            *groups = (size_t)c.groups + 1;
            return REGEX_YES;
        }
        if (m.too_long) {
            *why = "the match takes too many steps";
            return REGEX_TOO_LONG;
        }
        if (whole)
            break;
    }
    return REGEX_NO;
}
