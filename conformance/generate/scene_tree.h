/* SPDX-License-Identifier: Apache-2.0 */
/* scene_tree.h: a scene file as a tree that can be changed: what relations and the reducer work on.
 * Everything lives in the arena. */
#ifndef CONFORMANCE_SCENE_TREE_H
#define CONFORMANCE_SCENE_TREE_H

#include "base.h"

struct scene_node {
    enum json_type type;
    const char *key; /* in its object; NULL otherwise */
    const char *string;
    double number;
    bool boolean;
    struct scene_node *first, *next; /* children as a list */
};
/* Fails: PARSE, MEMORY. */
enum status scene_tree_read(struct arena *a, const char *data, size_t size, struct scene_node **out,
                            struct error *err);
struct scene_node *scene_tree_copy(struct arena *a, const struct scene_node *n); /* NULL: memory */
/* Appends it as one line of JSON for each entry of the upper levels. */
void scene_tree_write(const struct scene_node *n, struct text *out);

/* Of an object; NULL where it has none, or n is NULL or no object. */
struct scene_node *scene_tree_get(const struct scene_node *n, const char *key);
/* The string there, "" where there is none. */
const char *scene_tree_string(const struct scene_node *n, const char *key);
size_t scene_tree_count(const struct scene_node *n); /* children; 0 for NULL */
/* Makes room for a member or an element; NULL: out of memory. key NULL: of an array. */
struct scene_node *scene_tree_add(struct arena *a, struct scene_node *to, const char *key,
                                  enum json_type type);
bool scene_tree_add_number(struct arena *a, struct scene_node *to, const char *key, double v);
bool scene_tree_add_string(struct arena *a, struct scene_node *to, const char *key, const char *s);
/* An array of n numbers. */
bool scene_tree_add_numbers(struct arena *a, struct scene_node *to, const char *key,
                            const double *v, size_t n);
void scene_tree_remove(struct scene_node *from, struct scene_node *child);
/* Up to n numbers of an array, or one number for all of them; how many there were, 0 where there is
 * nothing of the kind. */
size_t scene_tree_numbers(const struct scene_node *n, double *out, size_t count);
/* Every number below n times `factor`. */
void scene_tree_scale(struct scene_node *n, double factor);

#endif
