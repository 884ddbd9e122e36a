// The first of three layers: one noise.
shader net_noise(float frequency = 8, output float fac = 0) { fac = smoothstep(0.2, 0.8, (float)noise("perlin", P * frequency)); }
