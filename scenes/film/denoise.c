/* SPDX-License-Identifier: Apache-2.0 */
/* Open Image Denoise 2 (www.openimagedenoise.org), loaded when asked for. The declarations are what
 * its C API documents; no header is needed. */
#include "scenes.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { OIDN_DEVICE_CPU = 1, OIDN_FLOAT3 = 3 };

struct oidn {
    void *(*NewDevice)(int type);
    void (*CommitDevice)(void *device);
    void (*ReleaseDevice)(void *device);
    int (*GetDeviceError)(void *device, const char **message);
    void *(*NewFilter)(void *device, const char *type);
    void (*SetSharedFilterImage)(void *filter, const char *name, void *data, int format,
                                 size_t width, size_t height, size_t offset, size_t pixel_stride,
                                 size_t row_stride);
    void (*SetFilterBool)(void *filter, const char *name, bool value);
    void (*CommitFilter)(void *filter);
    void (*ExecuteFilter)(void *filter);
    void (*ReleaseFilter)(void *filter);
};

/* The library stays loaded: its device brings threads and libraries of its own. */
static enum status oidn_load(struct oidn *out, struct error *err)
{
    const char *own = getenv("ISOPHOTE_OIDN");
    const char *const names[] = {own && *own ? own : "libOpenImageDenoise.so.2",
                                 own && *own ? NULL : "libOpenImageDenoise.so"};
    void *library = NULL;
    char why[512] = "";
    for (int i = 0; i < 2 && names[i] && !library; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library && i == 0)
            snprintf(why, sizeof why, "%s", dlerror());
    }
    if (!library)
        return error_msg(
            err, STATUS_MISSING,
            "no Open Image Denoise (%s); it comes with PyPI's pyoidn: set ISOPHOTE_OIDN "
            "to its oidn/lib/libOpenImageDenoise.so.2",
            why);
    struct oidn o;
    void *const slots[] = {&o.NewDevice,      &o.CommitDevice, &o.ReleaseDevice,
                           &o.GetDeviceError, &o.NewFilter,    &o.SetSharedFilterImage,
                           &o.SetFilterBool,  &o.CommitFilter, &o.ExecuteFilter,
                           &o.ReleaseFilter};
    static const char *const symbols[] = {
        "oidnNewDevice",     "oidnCommitDevice",         "oidnReleaseDevice", "oidnGetDeviceError",
        "oidnNewFilter",     "oidnSetSharedFilterImage", "oidnSetFilterBool", "oidnCommitFilter",
        "oidnExecuteFilter", "oidnReleaseFilter"};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(library, symbols[i]);
        if (!symbol) {
            dlclose(library);
            return error_msg(err, STATUS_MISSING,
                             "Open Image Denoise lacks %s: expected version 2 of it", symbols[i]);
        }
        memcpy(slots[i], &symbol, sizeof symbol);
    }
    *out = o;
    return STATUS_OK;
}

enum status denoise_find(struct error *err)
{
    struct oidn o;
    return oidn_load(&o, err);
}

static enum status oidn_status(const struct oidn *o, void *device, struct error *err)
{
    const char *message = NULL;
    int code = o->GetDeviceError(device, &message);
    return code == 0 ? STATUS_OK
                     : error_msg(err, STATUS_DEVICE, "Open Image Denoise: %s",
                                 message ? message : "it failed");
}

enum status denoise_picture(uint32_t width, uint32_t height, const float *rgb, const float *albedo,
                            const float *normal, float *out, struct error *err)
{
    struct oidn o;
    enum status s = oidn_load(&o, err);
    if (s != STATUS_OK)
        return s;
    void *device = o.NewDevice(OIDN_DEVICE_CPU), *filter = NULL;
    if (!device)
        return error_msg(err, STATUS_DEVICE, "Open Image Denoise has no device for this processor");
    o.CommitDevice(device);
    s = oidn_status(&o, device, err);
    if (s == STATUS_OK) {
        filter = o.NewFilter(device, "RT");
        const struct {
            const char *name;
            const float *data;
        } images[] = {{"color", rgb}, {"albedo", albedo}, {"normal", normal}, {"output", out}};
        for (size_t i = 0; i < sizeof images / sizeof *images; i++)
            if (images[i].data) /* it reads but writes "output" alone */
                o.SetSharedFilterImage(filter, images[i].name, (void *)(uintptr_t)images[i].data,
                                       OIDN_FLOAT3, width, height, 0, 0, 0);
        o.SetFilterBool(filter, "hdr", true);
        o.CommitFilter(filter);
        o.ExecuteFilter(filter);
        s = oidn_status(&o, device, err);
        o.ReleaseFilter(filter);
    }
    o.ReleaseDevice(device);
    return s;
}
