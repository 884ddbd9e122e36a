// The light of shaders/library/spherelight.asl as Villemin and Hery's renderer asks it: for each point, `samples` directions
// towards it. Work for the whole grid, for a point and for a sample stands where a writer of shaders would put it.
float fraction(float x) { return x - floor(x); }
shader spherelight(point center = point(0.5, 0.5, 4), float radius = 1, color light_color = color(1, 0.9, 0.7), float min_dist = 1,
                   float max_dist = 8, float focus = 2, int samples = 16, output color Le = 0)
{
    vector to_center = center - P;
    float d2 = dot(to_center, to_center), r2 = radius * radius;
    if (d2 - r2 < 1e-4)
        return; // inside
    float falloff = 1;
    if (max_dist > min_dist && min_dist >= radius)
        falloff -= smoothstep(min_dist, max_dist, sqrt(d2));
    color sum = 0;
    for (int k = 0; k < samples; k++) {
        vector aside = vector(fraction(k * 0.7548777 + 3 * u) - 0.5, fraction(k * 0.5698403 + 5 * v) - 0.5, 0);
        vector w = normalize(to_center + 2.4 * radius * aside);
        float b = dot(w, to_center), disc = b * b - (d2 - r2);
        if (disc < 0 || b < 0)
            continue;
        point hit = P + w * (b - sqrt(disc));
        float cos_max = sqrt(max(0, 1 - r2 / d2)), pdf = 1 / (M_2PI * (1 - cos_max));
        color light = light_color * falloff;
        if (focus > 0) {
            float cosine = clamp(dot(normalize(center - hit), w), 0, 1);
            light *= pow(cosine, focus) * (1 + (M_PI_2 - 1) * focus);
        }
        sum += light / pdf;
    }
    Le = sum / samples;
}
