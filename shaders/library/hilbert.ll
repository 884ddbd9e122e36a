; SPDX-License-Identifier: Apache-2.0
; hilbert.ll: share/examples/hilbert.c as clang 15 writes it; the command stands there.
; ModuleID = 'share/examples/hilbert.c'
source_filename = "share/examples/hilbert.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.procedure_point = type { %struct.point, %struct.point, %struct.point, %struct.point, %struct.point, %struct.point, float, float, float }
%struct.point = type { float, float, float }

@isophote_procedure = dso_local local_unnamed_addr constant [195 x i8] c"hilbert(const procedure_point *at, int order DEFAULT(4), float wall DEFAULT(0.2f), color first DEFAULT(0.05f, 0.2f, 0.55f), color last DEFAULT(0.95f, 0.7f, 0.25f), color *Cout, float *roughness)\00", align 16
@quarter = internal unnamed_addr constant [4 x [4 x i8]] [[4 x i8] c"\00\01\03\02", [4 x i8] c"\00\03\01\02", [4 x i8] c"\02\03\01\00", [4 x i8] c"\02\01\03\00"], align 16
@inner = internal unnamed_addr constant [4 x [4 x i8]] [[4 x i8] c"\01\00\03\00", [4 x i8] c"\00\02\01\01", [4 x i8] c"\02\01\02\03", [4 x i8] c"\03\03\00\02"], align 16

; Function Attrs: argmemonly nofree nosync nounwind optsize uwtable
define dso_local void @hilbert(ptr nocapture noundef readonly %0, i32 noundef %1, float noundef %2, <2 x float> %3, float %4, <2 x float> %5, float %6, ptr nocapture noundef writeonly %7, ptr nocapture noundef writeonly %8) local_unnamed_addr #0 {
  %10 = tail call i32 @llvm.smin.i32(i32 %1, i32 12)
  %11 = tail call i32 @llvm.smax.i32(i32 %10, i32 1)
  %12 = shl nuw nsw i32 1, %11
  %13 = add nsw i32 %12, -1
  %14 = getelementptr inbounds %struct.procedure_point, ptr %0, i64 0, i32 6
  %15 = load float, ptr %14, align 4, !tbaa !5
  %16 = tail call float @llvm.floor.f32(float %15)
  %17 = fsub float %15, %16
  %18 = uitofp i32 %12 to float
  %19 = fmul float %17, %18
  %20 = getelementptr inbounds %struct.procedure_point, ptr %0, i64 0, i32 7
  %21 = load float, ptr %20, align 4, !tbaa !11
  %22 = tail call float @llvm.floor.f32(float %21)
  %23 = fsub float %21, %22
  %24 = fmul float %23, %18
  %25 = fptoui float %19 to i32
  %26 = fptoui float %24 to i32
  %27 = tail call float @llvm.floor.f32(float %19)
  %28 = tail call float @llvm.floor.f32(float %24)
  %29 = and i32 %13, %25
  %30 = and i32 %13, %26
  br label %31

31:                                               ; preds = %31, %9
  %32 = phi i32 [ %47, %31 ], [ 0, %9 ]
  %33 = phi i32 [ %35, %31 ], [ %11, %9 ]
  %34 = phi i64 [ %50, %31 ], [ 0, %9 ]
  %35 = add nsw i32 %33, -1
  %36 = lshr i32 %30, %35
  %37 = and i32 %36, 1
  %38 = lshr i32 %29, %35
  %39 = shl i32 %38, 1
  %40 = and i32 %39, 2
  %41 = or i32 %40, %37
  %42 = shl i32 %32, 2
  %43 = zext i32 %41 to i64
  %44 = getelementptr inbounds [4 x [4 x i8]], ptr @quarter, i64 0, i64 %34, i64 %43
  %45 = load i8, ptr %44, align 1, !tbaa !12
  %46 = zext i8 %45 to i32
  %47 = or i32 %42, %46
  %48 = getelementptr inbounds [4 x [4 x i8]], ptr @inner, i64 0, i64 %34, i64 %43
  %49 = load i8, ptr %48, align 1, !tbaa !12
  %50 = zext i8 %49 to i64
  %51 = icmp ugt i32 %33, 1
  br i1 %51, label %31, label %52, !llvm.loop !13

52:                                               ; preds = %31
  %53 = fsub float %19, %27
  %54 = fsub float %24, %28
  %55 = fmul float %2, 5.000000e-01
  %56 = add i32 %26, -1
  %57 = add i32 %25, 1
  %58 = fsub float 1.000000e+00, %53
  %59 = add i32 %25, -1
  %60 = add i32 %26, 1
  %61 = fsub float 1.000000e+00, %54
  %62 = add i32 %47, -2
  br label %84

63:                                               ; preds = %124
  %64 = uitofp i32 %47 to float
  %65 = shl i32 %12, %11
  %66 = add i32 %65, -1
  %67 = uitofp i32 %66 to float
  %68 = fdiv float %64, %67
  %69 = fsub <2 x float> %5, %3
  %70 = insertelement <2 x float> poison, float %68, i64 0
  %71 = shufflevector <2 x float> %70, <2 x float> poison, <2 x i32> zeroinitializer
  %72 = fmul <2 x float> %69, %71
  %73 = fadd <2 x float> %72, %3
  %74 = fsub float %6, %4
  %75 = fmul float %74, %68
  %76 = fadd float %75, %4
  %77 = icmp eq i32 %125, 0
  %78 = fmul <2 x float> %73, <float 2.500000e-01, float 2.500000e-01>
  %79 = fmul float %76, 2.500000e-01
  %80 = select i1 %77, float 0x3FE99999A0000000, float 0x3FD6666660000000
  %81 = select i1 %77, float %79, float %76
  %82 = select i1 %77, <2 x float> %78, <2 x float> %73
  store <2 x float> %82, ptr %7, align 4
  %83 = getelementptr inbounds i8, ptr %7, i64 8
  store float %81, ptr %83, align 4, !tbaa.struct !15
  store float %80, ptr %8, align 4, !tbaa !16
  ret void

84:                                               ; preds = %52, %124
  %85 = phi i32 [ 1, %52 ], [ %125, %124 ]
  %86 = phi i32 [ 0, %52 ], [ %126, %124 ]
  switch i32 %86, label %89 [
    i32 0, label %90
    i32 1, label %87
    i32 2, label %88
  ]

87:                                               ; preds = %84
  br label %90

88:                                               ; preds = %84
  br label %90

89:                                               ; preds = %84
  br label %90

90:                                               ; preds = %84, %89, %88, %87
  %91 = phi float [ %61, %89 ], [ %54, %88 ], [ %58, %87 ], [ %53, %84 ]
  %92 = phi i32 [ %60, %89 ], [ %56, %88 ], [ %26, %87 ], [ %26, %84 ]
  %93 = phi i32 [ %25, %89 ], [ %25, %88 ], [ %57, %87 ], [ %59, %84 ]
  %94 = fcmp olt float %91, %55
  br i1 %94, label %95, label %124

95:                                               ; preds = %90
  %96 = icmp ugt i32 %93, %13
  %97 = icmp ugt i32 %92, %13
  %98 = select i1 %96, i1 true, i1 %97
  br i1 %98, label %123, label %99

99:                                               ; preds = %95, %99
  %100 = phi i32 [ %115, %99 ], [ 0, %95 ]
  %101 = phi i32 [ %103, %99 ], [ %11, %95 ]
  %102 = phi i64 [ %118, %99 ], [ 0, %95 ]
  %103 = add nsw i32 %101, -1
  %104 = lshr i32 %92, %103
  %105 = and i32 %104, 1
  %106 = lshr i32 %93, %103
  %107 = shl i32 %106, 1
  %108 = and i32 %107, 2
  %109 = or i32 %108, %105
  %110 = shl i32 %100, 2
  %111 = zext i32 %109 to i64
  %112 = getelementptr inbounds [4 x [4 x i8]], ptr @quarter, i64 0, i64 %102, i64 %111
  %113 = load i8, ptr %112, align 1, !tbaa !12
  %114 = zext i8 %113 to i32
  %115 = or i32 %110, %114
  %116 = getelementptr inbounds [4 x [4 x i8]], ptr @inner, i64 0, i64 %102, i64 %111
  %117 = load i8, ptr %116, align 1, !tbaa !12
  %118 = zext i8 %117 to i64
  %119 = icmp ugt i32 %101, 1
  br i1 %119, label %99, label %120, !llvm.loop !13

120:                                              ; preds = %99
  %121 = sub i32 %62, %115
  %122 = icmp ugt i32 %121, -4
  br i1 %122, label %124, label %123

123:                                              ; preds = %120, %95
  br label %124

124:                                              ; preds = %123, %120, %90
  %125 = phi i32 [ 0, %123 ], [ %85, %120 ], [ %85, %90 ]
  %126 = add nuw nsw i32 %86, 1
  %127 = icmp eq i32 %126, 4
  br i1 %127, label %63, label %84, !llvm.loop !17
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn
declare float @llvm.floor.f32(float) #1

; Function Attrs: nocallback nofree nosync nounwind readnone speculatable willreturn
declare i32 @llvm.smin.i32(i32, i32) #2

; Function Attrs: nocallback nofree nosync nounwind readnone speculatable willreturn
declare i32 @llvm.smax.i32(i32, i32) #2

attributes #0 = { argmemonly nofree nosync nounwind optsize uwtable "frame-pointer"="none" "min-legal-vector-width"="64" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind readnone speculatable willreturn }
attributes #2 = { nocallback nofree nosync nounwind readnone speculatable willreturn }

!llvm.module.flags = !{!0, !1, !2, !3}
!llvm.ident = !{!4}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"PIC Level", i32 2}
!2 = !{i32 7, !"PIE Level", i32 2}
!3 = !{i32 7, !"uwtable", i32 2}
!4 = !{!"Debian clang version 15.0.6"}
!5 = !{!6, !8, i64 72}
!6 = !{!"", !7, i64 0, !7, i64 12, !7, i64 24, !7, i64 36, !7, i64 48, !7, i64 60, !8, i64 72, !8, i64 76, !8, i64 80}
!7 = !{!"", !8, i64 0, !8, i64 4, !8, i64 8}
!8 = !{!"float", !9, i64 0}
!9 = !{!"omnipotent char", !10, i64 0}
!10 = !{!"Simple C/C++ TBAA"}
!11 = !{!6, !8, i64 76}
!12 = !{!9, !9, i64 0}
!13 = distinct !{!13, !14}
!14 = !{!"llvm.loop.mustprogress"}
!15 = !{i64 0, i64 4, !16}
!16 = !{!8, !8, i64 0}
!17 = distinct !{!17, !14}
