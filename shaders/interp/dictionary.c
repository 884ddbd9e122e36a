/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary.c: dict_find(), dict_next(), dict_value(): XML documents asked by XPath 1.0. libxml2
 * reads and searches; this file keeps what one context found. A document is read when it is first
 * asked, and stays as long as the context. */
#include "interp.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_DOCUMENT = 256 << 20, /* bytes */
    MAX_STEPS = 10000000      /* of one query, as libxml2 counts them */
};

struct document {
    const char *wrong; /* what is reported whenever it is asked; NULL: nothing */
    const char *name;  /* what dict_find was given */
    xmlDocPtr xml;     /* NULL: it could not be read */
    struct document *next;
};

struct query { /* nodes already found are not looked for again */
    const struct document *document;
    int32_t node; /* where it began, 0: the document */
    const char *text;
    const char *wrong; /* what is reported whenever it is asked; NULL: nothing */
    int32_t first;
    struct query *next;
};

struct node {
    const struct document *document;
    xmlNodePtr xml;
    int32_t next; /* the same query's next node, 0: none */
};

struct asl_dictionary {
    struct document *documents;
    struct query *queries;
    struct node *nodes; /* node k is nodes[k - 1] */
    int32_t count, cap;
};

void asl_dictionary_free(struct asl_dictionary *d)
{
    for (struct document *x = d ? d->documents : NULL; x; x = x->next)
        xmlFreeDoc(x->xml);
    if (d)
        free(d->nodes);
}

static void *keep(struct asl_run *r, size_t size)
{
    void *p = arena_alloc(&r->cx->arena, 1, size, 0);
    if (!p)
        asl_run_fail(r, STATUS_MEMORY, r->cx->at, "out of memory");
    return p;
}

static const char *keep_text(struct asl_run *r, const char *s)
{
    char *p = keep(r, strlen(s) + 1);
    return strcpy(p, s);
}

static struct asl_dictionary *dictionary(struct asl_run *r)
{
    if (!r->cx->dictionary)
        r->cx->dictionary = keep(r, sizeof *r->cx->dictionary);
    return r->cx->dictionary;
}

/* ---- documents ------------------------------------------------------------------------------ */

/* A default namespace means nothing: `xmlns="..."` does not hide elements from queries. */
static void drop_default_namespaces(xmlNodePtr root)
{
    for (xmlNodePtr n = root; n;) {
        if (n->type == XML_ELEMENT_NODE && n->ns && !n->ns->prefix)
            n->ns = NULL;
        if (n->children && n->type == XML_ELEMENT_NODE) {
            n = n->children;
            continue;
        }
        while (n != root && !n->next)
            n = n->parent;
        n = n == root ? NULL : n->next;
    }
}

/* libxml2's messages end their line. */
static int message_length(const xmlError *e)
{
    return e && e->message ? (int)strcspn(e->message, "\n") : 0;
}

static xmlDocPtr parse(struct asl_run *r, const char *text, size_t size, const char **wrong)
{
    char why[512];
    xmlParserCtxtPtr c = xmlNewParserCtxt();
    if (!c)
        asl_run_fail(r, STATUS_MEMORY, r->cx->at, "out of memory");
    xmlDocPtr xml = xmlCtxtReadMemory(c, text, (int)size, NULL, NULL,
                                      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    const xmlError *e = xmlCtxtGetLastError(c);
    (void)snprintf(why, sizeof why, "XML parsed with errors: %.*s, at line %d", message_length(e),
                   e && e->message ? e->message : "", e ? e->line : 0);
    xmlFreeParserCtxt(c);
    if (!xml)
        *wrong = keep_text(r, why);
    return xml;
}

/* A file that is not there is no error: dict_find() says so by its result. */
static xmlDocPtr read_document(struct asl_run *r, const char *name, const char **wrong)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, xmlInitParser);
    struct arena a = {0};
    size_t size = strlen(name);
    const char *text = name;
    char *data = NULL;
    if (size >= 4 && strcmp(name + size - 4, ".xml") == 0)
        text =
            input_file_read(&a, name, MAX_DOCUMENT, &data, &size, NULL) == STATUS_OK ? data : NULL;
    xmlDocPtr xml = text && size <= MAX_DOCUMENT ? parse(r, text, size, wrong) : NULL;
    arena_free(&a);
    if (xml)
        drop_default_namespaces(xmlDocGetRootElement(xml));
    return xml;
}

/* Each time, as the first may have been one whose reports are not wanted. */
static void report(struct asl_run *r, const char *wrong)
{
    if (wrong)
        asl_report(r, ASL_MSG_ERROR, "%s", wrong);
}

static const struct document *find_document(struct asl_run *r, const char *name)
{
    struct asl_dictionary *d = dictionary(r);
    for (const struct document *x = d->documents; x; x = x->next)
        if (strcmp(x->name, name) == 0) {
            report(r, x->wrong);
            return x;
        }
    struct document *x = keep(r, sizeof *x);
    x->name = keep_text(r, name);
    x->next = d->documents;
    d->documents = x;
    x->xml = read_document(r, name, &x->wrong);
    report(r, x->wrong);
    return x;
}

/* ---- queries -------------------------------------------------------------------------------- */

/* Keeps errors from standard error. */
static void quiet(void *ctx, xmlErrorPtr e)
{
    (void)ctx;
    (void)e;
}

/* The nodes of a query in the order of the document; NULL, and *wrong says why: it is malformed,
 * gives no nodes or takes too long. */
static xmlXPathObjectPtr ask(struct asl_run *r, const struct document *document, xmlNodePtr from,
                             const char *text, const char **wrong)
{
    char why[512];
    xmlXPathContextPtr c = xmlXPathNewContext(document->xml);
    if (!c)
        asl_run_fail(r, STATUS_MEMORY, r->cx->at, "out of memory");
    c->node = from;
    c->error = quiet;
    c->opLimit = MAX_STEPS;
    xmlNsPtr *ns = xmlGetNsList(document->xml, xmlDocGetRootElement(document->xml));
    for (size_t i = 0; ns && ns[i]; i++)
        if (ns[i]->prefix)
            (void)xmlXPathRegisterNs(c, ns[i]->prefix, ns[i]->href);
    xmlFree(ns);
    xmlXPathObjectPtr found = xmlXPathEvalExpression(BAD_CAST text, c);
    (void)snprintf(why, sizeof why, "Invalid dict_find query '%.200s': %.*s", text,
                   found ? 17 : message_length(&c->lastError),
                   found                  ? "it gives no nodes"
                   : c->lastError.message ? c->lastError.message
                                          : "");
    xmlXPathFreeContext(c);
    if (!found || found->type != XPATH_NODESET)
        *wrong = keep_text(r, why);
    if (found && found->type != XPATH_NODESET) {
        xmlXPathFreeObject(found);
        return NULL;
    }
    if (found && found->nodesetval)
        xmlXPathNodeSetSort(found->nodesetval);
    return found;
}

static int32_t add_node(struct asl_dictionary *d, const struct document *document, xmlNodePtr xml)
{
    if (d->count == d->cap) {
        int32_t cap = d->cap ? 2 * d->cap : 64;
        struct node *more = realloc(d->nodes, (size_t)cap * sizeof *more);
        if (!more)
            return 0;
        d->nodes = more;
        d->cap = cap;
    }
    d->nodes[d->count++] = (struct node){document, xml, 0};
    return d->count;
}

/* The first node that the query finds from node `from` of the document, 0: the document itself. */
static int32_t find_nodes(struct asl_run *r, const struct document *document, int32_t from,
                          const char *text)
{
    struct asl_dictionary *d = dictionary(r);
    for (const struct query *q = d->queries; q; q = q->next)
        if (q->document == document && q->node == from && strcmp(q->text, text) == 0) {
            report(r, q->wrong);
            return q->first;
        }
    struct query *q = keep(r, sizeof *q);
    *q = (struct query){
        .document = document, .node = from, .text = keep_text(r, text), .next = d->queries};
    xmlNodePtr begin = from ? d->nodes[from - 1].xml : (xmlNodePtr)(void *)document->xml;
    xmlXPathObjectPtr found = ask(r, document, begin, text, &q->wrong);
    bool memory = true;
    for (int i = 0, last = 0; found && memory && i < xmlXPathNodeSetGetLength(found->nodesetval);
         i++) {
        xmlNodePtr n = found->nodesetval->nodeTab[i];
        if (n->type == XML_NAMESPACE_DECL) /* libxml2 makes these for the query alone */
            continue;
        int32_t k = add_node(d, document, n);
        memory = k != 0;
        if (last && k)
            d->nodes[last - 1].next = k;
        else if (!last)
            q->first = k;
        last = k;
    }
    xmlXPathFreeObject(found);
    if (!memory)
        asl_run_fail(r, STATUS_MEMORY, r->cx->at, "out of memory");
    d->queries = q;
    report(r, q->wrong);
    return q->first;
}

/* ---- values --------------------------------------------------------------------------------- */

/* What a node holds under a name, to be freed with xmlFree; NULL: nothing. The empty name is the
 * node's own text: only texts and comments have one. */
static xmlChar *node_text(xmlNodePtr n, const char *name)
{
    if (!name[0])
        return n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE ||
                       n->type == XML_COMMENT_NODE
                   ? xmlNodeGetContent(n)
                   : xmlStrdup(BAD_CAST "");
    if (n->type != XML_ELEMENT_NODE)
        return NULL;
    const char *colon = strchr(name, ':');
    for (xmlAttrPtr a = n->properties; a; a = a->next) {
        const char *prefix = a->ns ? (const char *)a->ns->prefix : NULL;
        size_t p = prefix ? strlen(prefix) : 0;
        bool same = prefix
                        ? colon && (size_t)(colon - name) == p && strncmp(prefix, name, p) == 0 &&
                              strcmp((const char *)a->name, colon + 1) == 0
                        : strcmp((const char *)a->name, name) == 0;
        if (same)
            return xmlNodeListGetString(a->doc, a->children, 1);
    }
    return NULL;
}

/* Numbers with white space or commas between them, as many as `v` has; what is no number is 0. */
static void read_numbers(const char *text, bool whole, union asl_slot *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *end;
        if (whole) {
            long k = strtol(text, &end, 10);
            v[i].i = k > INT32_MAX ? INT32_MAX : k < INT32_MIN ? INT32_MIN : (int32_t)k;
        } else {
            v[i].f = (float)strtod(text, &end);
        }
        text = end + strspn(end, " \t\n\v\f\r,");
    }
}

static int32_t read_value(struct asl_run *r, xmlNodePtr node, const char *name,
                          const struct asl_place *to)
{
    enum asl_base scalar =
        to->n && to->type.base != ASL_STRUCT ? asl_type_scalar(to->type, 0) : ASL_VOID;
    if (scalar != ASL_INT && scalar != ASL_FLOAT && !asl_is(to->type, ASL_STRING))
        return 0;
    union asl_slot *v = asl_temp(r, to->n);
    xmlChar *text = node_text(node, name);
    if (!text)
        return 0;
    if (scalar == ASL_STRING) /* not asl_point_string, which does not come back to free the text */
        v[0].s = arena_strdup(&r->cx->point, (const char *)text);
    else
        read_numbers((const char *)text, scalar == ASL_INT, v, to->n);
    xmlFree(text);
    if (scalar == ASL_STRING && !v[0].s)
        asl_run_fail(r, STATUS_MEMORY, r->cx->at, "out of memory");
    asl_store(to, v, 0);
    return 1;
}

void asl_bi_dictionary(struct asl_run *r, const struct asl_expr *e, struct asl_place *args,
                       union asl_slot *out)
{
    struct asl_dictionary *d = dictionary(r);
    out[0].i = 0;
    if (e->builtin->id == BI_DICT_FIND && asl_is(args[0].type, ASL_STRING)) {
        const struct document *document = find_document(r, args[0].v[0].s);
        out[0].i = document->xml ? find_nodes(r, document, 0, args[1].v[0].s) : -1;
        return;
    }
    int32_t k = args[0].v[0].i;
    if (k <= 0 || k > d->count)
        return;
    const struct node node = d->nodes[k - 1];
    if (e->builtin->id == BI_DICT_FIND)
        out[0].i = find_nodes(r, node.document, k, args[1].v[0].s);
    else if (e->builtin->id == BI_DICT_NEXT)
        out[0].i = node.next;
    else
        out[0].i = read_value(r, node.xml, args[1].v[0].s, &args[2]);
}
