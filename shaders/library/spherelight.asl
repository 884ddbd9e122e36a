// A sphere light (Villemin, Hery: "Porting RSL to C++", 2012): for a shading point P and a direction I towards the light, the point
// that is hit, the radiance, and the density over solid angle of sampling the cone that the sphere covers.
shader spherelight(point center = point(0, 0, 4), float radius = 1, color light_color = color(1), float min_dist = 0,
                   float max_dist = 0, float focus = 0, output color Le = 0, output float pdf = 0, output point hit = 0,
                   output int visible = 0)
{
    vector to_center = center - P;
    float d2 = dot(to_center, to_center), r2 = radius * radius;
    if (d2 - r2 < 1e-4)
        return; // inside
    float falloff = 1;
    if (max_dist > min_dist && min_dist >= radius)
        falloff -= smoothstep(min_dist, max_dist, sqrt(d2));
    vector w = normalize(I);
    float b = dot(w, to_center), c = d2 - r2, disc = b * b - c;
    if (disc < 0 || b < 0)
        return;
    hit = P + w * (b - sqrt(disc));
    visible = 1;
    float cos_max = sqrt(max(0, 1 - r2 / d2));
    pdf = 1 / (M_2PI * (1 - cos_max));
    Le = light_color * falloff;
    if (focus > 0) {
        float cosine = clamp(dot(normalize(center - hit), w), 0, 1);
        Le *= pow(cosine, focus) * (1 + (M_PI_2 - 1) * focus);
    }
}
