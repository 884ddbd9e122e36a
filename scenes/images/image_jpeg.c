/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG through libjpeg. */
#include "images.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

bool jpeg_recognise(const unsigned char *data, size_t size)
{
    return size >= 3 && data[0] == 0xff && data[1] == 0xd8 && data[2] == 0xff;
}

struct jpeg_session {
    struct jpeg_error_mgr manager; /* first: libjpeg hands back a pointer to it */
    jmp_buf failed;
    char complaint[JMSG_LENGTH_MAX];
};

static void on_error(j_common_ptr c)
{
    struct jpeg_session *s = (struct jpeg_session *)c->err;
    s->manager.format_message(c, s->complaint);
    longjmp(s->failed, 1); // NOLINT(cert-err52-cpp): libjpeg's way out
}

/* libjpeg repairs damaged data and warns; a texture that is not what its author saved is an error.
 */
static void on_message(j_common_ptr c, int level)
{
    if (level < 0)
        on_error(c);
}

static void on_output(j_common_ptr c) { (void)c; }

struct jpeg_work {
    struct jpeg_decompress_struct jpeg;
    struct image image;
    enum status status;
};

static void read_with(const struct image_source *s, struct jpeg_work *w)
{
    static const int scans_max = 500; /* of a progressive file: each costs the whole image */
    struct jpeg_decompress_struct *j = &w->jpeg;
    jpeg_mem_src(j, s->data, s->size);
    jpeg_read_header(j, TRUE);
    if (j->num_components != 1 && j->num_components != 3) {
        w->status =
            image_fault(s, STATUS_UNSUPPORTED,
                        "it has %d components, expected 1 (gray) or 3 (colour)", j->num_components);
        return;
    }
    uint32_t channels = (uint32_t)j->num_components;
    j->out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    j->dct_method = JDCT_ISLOW;
    w->status = image_allocate(s, j->image_width, j->image_height, channels, TEXEL_U8, &w->image);
    if (w->status != STATUS_OK)
        return;
    if (jpeg_has_multiple_scans(j)) {
        j->buffered_image = TRUE;
        jpeg_start_decompress(j);
        while (!jpeg_input_complete(j)) {
            if (jpeg_consume_input(j) == JPEG_SUSPENDED || j->input_scan_number > scans_max) {
                w->status =
                    image_fault(s, STATUS_LIMIT, "it has more than %d scans, the limit", scans_max);
                return;
            }
        }
        jpeg_start_output(j, j->input_scan_number);
    } else {
        jpeg_start_decompress(j);
    }
    size_t row = (size_t)j->output_width * channels;
    while (j->output_scanline < j->output_height) {
        JSAMPROW line = (unsigned char *)w->image.texels + j->output_scanline * row;
        jpeg_read_scanlines(j, &line, 1);
    }
    if (j->buffered_image)
        jpeg_finish_output(j);
    jpeg_finish_decompress(j);
    w->image.srgb = true;
}

enum status jpeg_read(const struct image_source *s, struct image *out)
{
    struct jpeg_session session;
    struct jpeg_work w = {.status = STATUS_PARSE};
    memset(&session, 0, sizeof session);
    w.jpeg.err = jpeg_std_error(&session.manager);
    session.manager.error_exit = on_error;
    session.manager.emit_message = on_message;
    session.manager.output_message = on_output;
    if (setjmp(session.failed) == 0) { // NOLINT(cert-err52-cpp)
        jpeg_create_decompress(&w.jpeg);
        w.jpeg.mem->max_memory_to_use = 1L << 30;
        read_with(s, &w);
    } else {
        w.status =
            image_fault(s, STATUS_PARSE, "%s, expected a whole JPEG file", session.complaint);
    }
    jpeg_destroy_decompress(&w.jpeg);
    if (w.status == STATUS_OK)
        *out = w.image;
    return w.status;
}
