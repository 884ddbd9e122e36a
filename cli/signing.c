/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of archives, made and checked by the tools that people have: OpenSSH's ssh-keygen and
 * minisign. They are run with their arguments, by no shell, on copies in a folder of our own, so
 * that what is checked is what was read. */
#include "cli.h"

#include <string.h>

/* What a signature is for, so that it cannot be taken for one of something else. */
#define SIGNING_NAMESPACE "isophote"

static const struct {
    const char *tool, *ending, *what;
} schemes[] = {
    [SIGNING_SSH] = {"ssh-keygen", ".sig", "ssh-keygen (OpenSSH)"},
    [SIGNING_MINISIGN] = {"minisign", ".minisig", "minisign"},
};

/* Files of minisign begin so: keys of both kinds and signatures. */
static enum status scheme_find(struct arena *a, const char *key, enum signing_scheme *out,
                               struct error *err)
{
    static const char head[] = "untrusted comment:";
    char *data;
    size_t size;
    TRY(file_read(a, key, (size_t)16 << 20, &data, &size, err));
    *out = size >= sizeof head - 1 && memcmp(data, head, sizeof head - 1) == 0 ? SIGNING_MINISIGN
                                                                               : SIGNING_SSH;
    return STATUS_OK;
}

const char *signing_ending(enum signing_scheme s) { return schemes[s].ending; }

/* Runs a tool, with `in` as its standard input (NULL: ours, for passphrases). What it prints goes to
 * the file `said`; NULL: to our standard error. */
static enum status tool_run(enum signing_scheme scheme, char *const argv[], const char *in,
                            const char *said, int *exit_code, struct error *err)
{
    struct error e = {0};
    enum status s = child_run_on(argv, in, said, exit_code, &e);
    if (s == STATUS_MISSING)
        return error_msg(err, s, "signatures of this kind need %s: %s", schemes[scheme].what,
                         e.msg);
    if (s != STATUS_OK && err)
        *err = e;
    return s;
}

/* What a tool printed, as one line. */
static const char *said_line(struct arena *a, const char *path)
{
    char *data;
    size_t size;
    if (file_read(a, path, (size_t)1 << 20, &data, &size, NULL) != STATUS_OK)
        return "nothing";
    for (size_t i = 0; i < size; i++)
        if (data[i] == '\n' || !data[i])
            data[i] = i + 1 < size ? ';' : '\0';
    return size ? data : "nothing";
}

/* The tool takes what is written as a word that is no option. */
static char *word(const char *s) { return (char *)(uintptr_t)s; }

enum status signing_make(struct arena *a, const char *key, const void *data, size_t size,
                         const char *scratch, enum signing_scheme *scheme, const char **signature,
                         size_t *signature_size, struct error *err)
{
    const char *file = arena_printf(a, "%s/archive", scratch),
               *made = arena_printf(a, "%s/archive.sig", scratch);
    char *read;
    int code;
    if (!file || !made)
        return error_msg(err, STATUS_MEMORY, "out of memory for a signature");
    TRY(scheme_find(a, key, scheme, err));
    TRY(file_write(file, data, size, err));
    char *const ssh[] = {
        word("ssh-keygen"),      word("-Y"), word("sign"), word("-f"), word(key), word("-n"),
        word(SIGNING_NAMESPACE), word(file), NULL};
    char *const minisign[] = {word("minisign"), word("-S"), word("-s"), word(key), word("-m"),
                              word(file),       word("-x"), word(made), NULL};
    TRY(tool_run(*scheme, *scheme == SIGNING_SSH ? ssh : minisign, NULL, NULL, &code, err));
    if (code != 0)
        return error_msg(err, STATUS_ARG, "%s did not sign with %s: it ended with %d",
                         schemes[*scheme].tool, key, code);
    TRY(file_read(a, made, SIGNING_MOST, &read, signature_size, err));
    *signature = read;
    return STATUS_OK;
}

/* ---- checking ------------------------------------------------------------------------------- */

/* Whose key made it, of those that the file names; NULL: nobody's. */
static enum status ssh_signer(struct arena *a, const char *signers, const char *made,
                              const char *said, const char **who, struct error *err)
{
    char *const find[] = {word("ssh-keygen"), word("-Y"), word("find-principals"), word("-s"),
                          word(made),         word("-f"), word(signers),           NULL};
    char *data;
    size_t size;
    int code;
    *who = NULL;
    TRY(tool_run(SIGNING_SSH, find, "/dev/null", said, &code, err));
    if (code != 0)
        return STATUS_OK;
    TRY(file_read(a, said, (size_t)1 << 20, &data, &size, err));
    data[strcspn(data, ",\n")] = '\0';
    *who = *data ? data : NULL;
    return STATUS_OK;
}

enum status signing_check(struct arena *a, const char *signers, const char *signature,
                          const void *data, size_t size, const char *scratch,
                          enum signing_scheme scheme, bool *good, const char **text,
                          struct error *err)
{
    const char *file = arena_printf(a, "%s/archive", scratch),
               *made = arena_printf(a, "%s/archive.sig", scratch),
               *said = arena_printf(a, "%s/said", scratch), *who = "";
    char *bytes;
    size_t n;
    int code;
    *good = false;
    if (!file || !made || !said)
        return error_msg(err, STATUS_MEMORY, "out of memory for a signature");
    TRY(file_read(a, signature, SIGNING_MOST, &bytes, &n, err));
    TRY(file_write(file, data, size, err));
    TRY(file_write(made, bytes, n, err));
    if (scheme == SIGNING_SSH) {
        TRY(ssh_signer(a, signers, made, said, &who, err));
        if (!who) {
            *text = arena_printf(a, "%s is by no key that %s allows: %s", signature, signers,
                                 said_line(a, said));
            return STATUS_OK;
        }
    }
    char *const ssh[] = {word("ssh-keygen"),      word("-Y"), word("verify"), word("-f"),
                         word(signers),           word("-I"), word(who),      word("-n"),
                         word(SIGNING_NAMESPACE), word("-s"), word(made),     NULL};
    char *const minisign[] = {word("minisign"), word("-V"), word("-p"), word(signers), word("-m"),
                              word(file),       word("-x"), word(made), NULL};
    TRY(tool_run(scheme, scheme == SIGNING_SSH ? ssh : minisign, file, said, &code, err));
    *good = code == 0;
    *text = arena_printf(a, "%s %s: %s", signature,
                         *good ? "is a signature of these bytes" : "does not sign these bytes",
                         said_line(a, said));
    return STATUS_OK;
}

enum status signing_expected(struct arena *a, const char *signers, const char *archive,
                             const char **signature, enum signing_scheme *scheme, struct error *err)
{
    TRY(scheme_find(a, signers, scheme, err));
    if (!*signature)
        *signature = arena_printf(a, "%s%s", archive, schemes[*scheme].ending);
    return *signature ? STATUS_OK : error_msg(err, STATUS_MEMORY, "out of memory for a signature");
}
