// oslutil.h: opacity of a wire frame, with the names of the header that comes with OSL.
#pragma once
#define OSLUTIL_H

// 1 within half of line_width of an edge of the face that is shaded, else 0. edge_type "triangles" takes the renderer's
// attribute geom:trianglevertices, "polygons" and "patches" geom:numpolyvertices and geom:polyvertices; 0 where there are
// none, and for rays that left a diffuse surface. raster: the width is in pixels, else in common units.
float wireframe(string edge_type, float line_width, int raster)
{
    point corner[64];
    int corners = 0;
    if (raytype("path:diffuse"))
        return 0;
    if (edge_type == "triangles")
        corners = getattribute("geom:trianglevertices", corner) ? 3 : 0;
    else if (edge_type == "polygons" || edge_type == "patches")
        if (!getattribute("geom:numpolyvertices", corners) || !getattribute("geom:polyvertices", corner))
            corners = 0;
    float pixel = 1;
    if (raster) { // the mean change of P over a pixel, across the ray
        vector x = Dx(P) - dot(Dx(P), I) * I, y = Dy(P) - dot(Dy(P), I) * I;
        pixel = (length(x) + length(y)) / 2;
    }
    float half_width = 0.5 * line_width * pixel; // the neighbouring face draws the other half
    for (int i = 0; i < corners && corners >= 3; ++i) {
        vector edge = corner[i] - corner[i ? i - 1 : corners - 1];
        vector area = cross(edge, P - corner[i]);
        if (dot(area, area) < dot(edge, edge) * (half_width * half_width))
            return 1;
    }
    return 0;
}
float wireframe(string edge_type, float line_width) { return wireframe(edge_type, line_width, 1); }
float wireframe(string edge_type) { return wireframe(edge_type, 1, 1); }
float wireframe() { return wireframe("polygons", 1, 1); }
