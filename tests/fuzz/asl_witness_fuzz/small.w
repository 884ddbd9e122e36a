isophote-witness 1
step lower
layer 0
def v0 constant
def v1 convert
def v2 constant
def v3 convert
def v4 variable u
def v5 constant
def v6 convert
def v7 binary *
def v8 variable k
def v9 builtin sin
def v10 constant
def v11 convert
def v12 binary /
def v13 binary +
def v14 variable k
def v15 variable v
def v16 binary *
def v17 binary +
def v18 variable k
def v19 variable v
def v20 binary *
def v21 binary +
def v22 variable k
def v23 convert
def v24 binary >
def v25 held
def v26 convert
def v27 binary +
ir
isophote-ir 1
group ""
file 0 "s.asl"
cell 0 global P f 3 derivs observed type point
cell 1 global I f 3 derivs observed type vector
cell 2 global N f 3 derivs observed type normal
cell 3 global Ng f 3 derivs observed type normal
cell 4 global u f 1 derivs observed type float
cell 5 global v f 1 derivs observed type float
cell 6 global dPdu f 3 derivs observed type vector
cell 7 global dPdv f 3 derivs observed type vector
cell 8 global Ps f 3 derivs observed type point
cell 9 global time f 1 derivs observed type float
cell 10 global dtime f 1 derivs observed type float
cell 11 global dPdtime f 3 derivs observed type vector
cell 12 global Ci c 1 observed type closure
cell 13 param 0 "k" f 1 type float
cell 14 param 0 "f" f 1 observed type float
entries 0
layer 0 "layer" "t" runs
  param "k" float cell 13
  param "f" float output cell 14
{
  v0:i = const 2
  v2:i = const 0
  v5:i = const 1
  v10:i = const 4
  v1:f = i2f v0 @0:1:20
  store 13[0] v1 @0:1:20
  v3:f = i2f v2 @0:1:40
  store 14[0] v3 @0:1:40
  v4:f = load 4[0] @0:1:49
  v6:f = i2f v5 @0:1:53
  v7:f = fmul v4 v6 @0:1:51
  v8:f = load 13[0] @0:1:61
  v9:f = call sin#0 float fixed 1 (float v8) @0:1:57
  v11:f = i2f v10 @0:1:66
  v12:f = fdiv v9 v11 @0:1:64
  v13:f = fadd v7 v12 @0:1:55
  v14:f = load 13[0] @0:1:70
  v15:f = load 5[0] @0:1:74
  v16:f = fmul v14 v15 @0:1:72
  v17:f = fadd v13 v16 @0:1:68
  v18:f = load 13[0] @0:1:78
  v19:f = load 5[0] @0:1:82
  v20:f = fmul v18 v19 @0:1:80
  v21:f = fadd v17 v20 @0:1:76
  store 14[0] v21 @0:1:47
  v22:f = load 13[0] @0:1:89
  v23:f = i2f v5 @0:1:93
  v24:i = fgt v22 v23 @0:1:91
  if v24 @0:1:91 {
    v25:f = load 14[0] @0:1:96
    v26:f = i2f v5 @0:1:101
    v27:f = fadd v25 v26 @0:1:98
    store 14[0] v27 @0:1:98
  }
}
.
step forward
layer 0
def v28 constant
put v1 v28 fold
def v29 constant
put v3 v29 fold
def v30 constant
put v6 v30 fold
put v7 v4 identity
put v8 v28 forward
def v31 constant
put v9 v31 foldcall
def v32 constant
put v11 v32 fold
def v33 constant
put v12 v33 fold
put v14 v28 forward
put v18 v28 forward
put v19 v15 forward
put v20 v16 common
put v22 v28 forward
put v23 v30 fold
put v24 v5 fold
put v25 v21 forward
put v26 v30 fold
ir
isophote-ir 1
group ""
file 0 "s.asl"
cell 0 global P f 3 derivs observed type point
cell 1 global I f 3 derivs observed type vector
cell 2 global N f 3 derivs observed type normal
cell 3 global Ng f 3 derivs observed type normal
cell 4 global u f 1 derivs observed type float
cell 5 global v f 1 derivs observed type float
cell 6 global dPdu f 3 derivs observed type vector
cell 7 global dPdv f 3 derivs observed type vector
cell 8 global Ps f 3 derivs observed type point
cell 9 global time f 1 derivs observed type float
cell 10 global dtime f 1 derivs observed type float
cell 11 global dPdtime f 3 derivs observed type vector
cell 12 global Ci c 1 observed type closure
cell 13 param 0 "k" f 1 type float
cell 14 param 0 "f" f 1 observed type float
entries 0
layer 0 "layer" "t" runs
  param "k" float cell 13
  param "f" float output cell 14
{
  v0:i = const 2
  v2:i = const 0
  v5:i = const 1
  v10:i = const 4
  v28:f = const 2
  v29:f = const 0
  v30:f = const 1
  v31:f = const 0.909297407
  v32:f = const 4
  v33:f = const 0.227324352
  store 13[0] v28 @0:1:20
  store 14[0] v29 @0:1:40
  v4:f = load 4[0] @0:1:49
  v13:f = fadd v4 v33 @0:1:55
  v15:f = load 5[0] @0:1:74
  v16:f = fmul v28 v15 @0:1:72
  v17:f = fadd v13 v16 @0:1:68
  v21:f = fadd v17 v16 @0:1:76
  store 14[0] v21 @0:1:47
  v27:f = fadd v21 v30 @0:1:98
  store 14[0] v27 @0:1:98
}
.
step dead
layer 0
gone v32 unused
gone v31 unused
gone v29 unused
gone v10 unused
gone v5 unused
gone v2 unused
gone v0 unused
ir
isophote-ir 1
group ""
file 0 "s.asl"
cell 0 global P f 3 derivs observed type point
cell 1 global I f 3 derivs observed type vector
cell 2 global N f 3 derivs observed type normal
cell 3 global Ng f 3 derivs observed type normal
cell 4 global u f 1 derivs observed type float
cell 5 global v f 1 derivs observed type float
cell 6 global dPdu f 3 derivs observed type vector
cell 7 global dPdv f 3 derivs observed type vector
cell 8 global Ps f 3 derivs observed type point
cell 9 global time f 1 derivs observed type float
cell 10 global dtime f 1 derivs observed type float
cell 11 global dPdtime f 3 derivs observed type vector
cell 12 global Ci c 1 observed type closure
cell 13 param 0 "k" f 1 type float
cell 14 param 0 "f" f 1 observed type float
entries 0
layer 0 "layer" "t" runs
  param "k" float cell 13
  param "f" float output cell 14
{
  v28:f = const 2
  v30:f = const 1
  v33:f = const 0.227324352
  v4:f = load 4[0] @0:1:49
  v13:f = fadd v4 v33 @0:1:55
  v15:f = load 5[0] @0:1:74
  v16:f = fmul v28 v15 @0:1:72
  v17:f = fadd v13 v16 @0:1:68
  v21:f = fadd v17 v16 @0:1:76
  v27:f = fadd v21 v30 @0:1:98
  store 14[0] v27 @0:1:98
}
.
