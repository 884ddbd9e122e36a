/* SPDX-License-Identifier: Apache-2.0 */
/* Where the numbers come from: each run's command and environment. */
#include "html.h"

void section_environment(struct page *p)
{
    size_t shown = 0;
    for (size_t i = p->s->run_count; i-- > 0;) {
        const struct snapshot_run *r = &p->s->runs[i];
        if (!r->shown)
            continue;
        if (shown++ == 0)
            text_puts(p->t, "<section id=\"environment\"><h2>Environment</h2>\n<p "
                            "class=\"note\">The runs that this report "
                            "shows, the newest first, each with the command that gave it.</p>\n");
        markup_printf(
            p->t,
            "<h3 id=\"run:%zu\"><a class=\"self\" href=\"#run:%zu\">Run %lld</a>: %s <span "
            "class=\"note\">%s%!%s</span></h3>\n",
            i + 1, i + 1, (long long)r->record.id, r->record.kind, r->record.started_utc,
            r->host[0] ? ", host " : "", r->host);
        html_command(p->t, r->record.command);
        if (r->environment && r->environment->type == JSON_OBJECT && r->environment->first) {
            markup_printf(p->t,
                          "<details%!><summary>machine, system, compiler, libraries</summary>\n",
                          shown == 1 ? " open=\"open\"" : "");
            html_json(p->t, r->environment);
            text_puts(p->t, "</details>\n");
        }
    }
    if (shown)
        text_puts(p->t, "</section>\n");
}
