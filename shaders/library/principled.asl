// A principled material as a closure: what a scene's material would say, with every parameter open to connections.
surface principled_material(color base_color = color(0.8), float metallic = 0, float roughness = 0.5, float specular = 0.5,
                            float clearcoat = 0, float clearcoat_gloss = 1, float sheen = 0, float sheen_tint = 0.5,
                            float transmission = 0, float ior = 1.5, color emission_color = color(0), float emission_strength = 0,
                            normal shading_normal = N)
{
    Ci = principled(shading_normal, base_color, metallic, roughness, "specular", specular, "clearcoat", clearcoat,
                    "clearcoat_gloss", clearcoat_gloss, "sheen", sheen, "sheen_tint", sheen_tint, "transmission", transmission,
                    "ior", ior);
    if (emission_strength > 0)
        Ci += emission_strength * emission_color * emission();
}
