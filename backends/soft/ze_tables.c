/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader asks a driver for: one function for each table (ze_ddi.h and its fellows of Level
 * Zero 1.4). A driver must have all of these; entries that stay NULL answer "unsupported feature".
 */
#include "ze_driver.h"

#define EXPORT __attribute__((visibility("default")))

static ze_result_t table_check(ze_api_version_t version, const void *table)
{
    if (!table)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return ZE_MAJOR_VERSION(version) == 1 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

/* X(function, table's type, what fills it) */
#define FILLED_TABLES(X)                                                                           \
    X(zeGetDriverProcAddrTable, ze_driver_dditable_t, driver_table)                                \
    X(zeGetDeviceProcAddrTable, ze_device_dditable_t, device_table)                                \
    X(zeGetContextProcAddrTable, ze_context_dditable_t, context_table)                             \
    X(zeGetMemProcAddrTable, ze_mem_dditable_t, memory_table)                                      \
    X(zeGetModuleProcAddrTable, ze_module_dditable_t, module_table)                                \
    X(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t, build_log_table)           \
    X(zeGetKernelProcAddrTable, ze_kernel_dditable_t, kernel_table)                                \
    X(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t, queue_table)                    \
    X(zeGetCommandListProcAddrTable, ze_command_list_dditable_t, list_table)                       \
    X(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t, event_pool_table)                     \
    X(zeGetEventProcAddrTable, ze_event_dditable_t, event_table)                                   \
    X(zeGetFenceProcAddrTable, ze_fence_dditable_t, fence_table)

/* NOLINTBEGIN(bugprone-macro-parentheses): types */
#define X(function, type, fill)                                                                    \
    EXPORT ze_result_t ZE_APICALL function(ze_api_version_t version, type *t)                      \
    {                                                                                              \
        ze_result_t code = table_check(version, t);                                                \
        if (code == ZE_RESULT_SUCCESS)                                                             \
            fill(t);                                                                               \
        return code;                                                                               \
    }
FILLED_TABLES(X)
#undef X

/* Tables that stay empty: images, samplers, virtual memory, and all of tools and sysman. */
#define EMPTY_TABLES(X)                                                                            \
    X(zeGetImageProcAddrTable, ze_image_dditable_t)                                                \
    X(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)                                   \
    X(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)                                            \
    X(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)                                     \
    X(zetGetDeviceProcAddrTable, zet_device_dditable_t)                                            \
    X(zetGetContextProcAddrTable, zet_context_dditable_t)                                          \
    X(zetGetCommandListProcAddrTable, zet_command_list_dditable_t)                                 \
    X(zetGetKernelProcAddrTable, zet_kernel_dditable_t)                                            \
    X(zetGetModuleProcAddrTable, zet_module_dditable_t)                                            \
    X(zetGetDebugProcAddrTable, zet_debug_dditable_t)                                              \
    X(zetGetMetricProcAddrTable, zet_metric_dditable_t)                                            \
    X(zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t)                                 \
    X(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t)                                 \
    X(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t)                        \
    X(zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t)                           \
    X(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t)                                     \
    X(zesGetDeviceProcAddrTable, zes_device_dditable_t)                                            \
    X(zesGetDriverProcAddrTable, zes_driver_dditable_t)                                            \
    X(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t)                                  \
    X(zesGetEngineProcAddrTable, zes_engine_dditable_t)                                            \
    X(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t)                                   \
    X(zesGetFanProcAddrTable, zes_fan_dditable_t)                                                  \
    X(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t)                                        \
    X(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t)                                      \
    X(zesGetLedProcAddrTable, zes_led_dditable_t)                                                  \
    X(zesGetMemoryProcAddrTable, zes_memory_dditable_t)                                            \
    X(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t)                     \
    X(zesGetPowerProcAddrTable, zes_power_dditable_t)                                              \
    X(zesGetPsuProcAddrTable, zes_psu_dditable_t)                                                  \
    X(zesGetRasProcAddrTable, zes_ras_dditable_t)                                                  \
    X(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t)                                      \
    X(zesGetStandbyProcAddrTable, zes_standby_dditable_t)                                          \
    X(zesGetTemperatureProcAddrTable, zes_temperature_dditable_t)

#define X(function, type)                                                                          \
    EXPORT ze_result_t ZE_APICALL function(ze_api_version_t version, type *t)                      \
    {                                                                                              \
        return table_check(version, t);                                                            \
    }
EMPTY_TABLES(X)
#undef X
/* NOLINTEND(bugprone-macro-parentheses) */

/* ---- zeInit --------------------------------------------------------------------------------- */

static ze_result_t ZE_APICALL init(ze_init_flags_t flags)
{
    (void)flags;
    LOCKED;
    if (driver_wish("driver")) {
        fprintf(stderr, "soft Level Zero: the kernel driver is older than this library\n");
        return ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE;
    }
    if (soft_driver.executor)
        return ZE_RESULT_SUCCESS;
    struct soft_options options;
    struct error err;
    enum status s = soft_options_environment(&options, &err);
    if (s == STATUS_OK)
        s = soft_device_open(&options, &soft_driver.executor, &err);
    if (s == STATUS_OK)
        return ZE_RESULT_SUCCESS;
    fprintf(stderr, "soft Level Zero: %s\n", err.msg); /* the loader passes on a code alone */
    return s == STATUS_MISSING ? ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE
                               : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

EXPORT ze_result_t ZE_APICALL zeGetGlobalProcAddrTable(ze_api_version_t version,
                                                       ze_global_dditable_t *t)
{
    ze_result_t code = table_check(version, t);
    if (code == ZE_RESULT_SUCCESS)
        t->pfnInit = init;
    return code;
}
