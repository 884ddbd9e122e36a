#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# package.sh SOURCE MODULES: tools/package's package, installed by apt into a clean Debian 12 root, renders, judges and reports there.
# MODULES: where the kernel's modules are already. Exit status 77: skipped, with the reason.
set -euo pipefail
export LC_ALL=C ISOPHOTE_KERNEL_MODULES=$2
source=$1
scratch=$(mktemp -d "${TMPDIR:-/tmp}/isophote-package-XXXXXX")
trap 'rm -rf --one-file-system "$scratch"' EXIT
log=$scratch/log

fail()
{
    printf 'FAILED: %s\n' "$*"
    tail -n 60 "$log"
    exit 1
}
skip()
{
    echo "SKIP: $*"
    exit 77
}
runs()
{
    local want=$1 status=0
    shift
    "$@" >"$log" 2>&1 </dev/null || status=$?
    [ "$status" = "$want" ] || fail "'$*' ended with $status, expected $want"
}
says() { grep -Fq -- "$1" "$log" || fail "the output does not say: $1"; }
for tool in dpkg-shlibdeps file; do command -v $tool >/dev/null || skip "$tool is not here"; done

# A folder that cannot be written to, a second one at work, and the same package made twice.
runs 2 "$source/tools/package" /proc/isophote
says "/proc/isophote"
mkdir -p "$source/build/package"
runs 2 flock "$source/build/package/lock" "$source/tools/package" "$scratch"
says "another tools/package is at work in $source/build/package"
runs 0 "$source/tools/package" "$scratch"
deb=$(echo "$scratch"/isophote_*.deb)
dpkg-deb -x "$deb" "$scratch/once"
runs 0 "$source/tools/package" "$scratch"
says "$deb was there; it is replaced"
dpkg-deb -x "$deb" "$scratch/twice"
diff -r "$scratch/once" "$scratch/twice" >"$log" || fail "the second package is another"

[ "$(id -u)" = 0 ] || skip "a clean root needs root"
command -v debootstrap >/dev/null || skip "no debootstrap: apt-get install debootstrap"
unshare -m true 2>/dev/null || skip "unshare -m is not allowed here"
root=$scratch/root
debootstrap --variant=minbase bookworm "$root" http://deb.debian.org/debian >"$log" 2>&1 ||
    skip "debootstrap makes no root here: $(tail -n 1 "$log")"
cp "$deb" "$root/isophote.deb"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
cat >"$root/work" <<'E2'
set -eux
as_user() { (cd /home/user && setpriv --reuid 1000 --regid 1000 --clear-groups env -i HOME=/home/user PATH=/usr/bin:/bin "$@"); }
mkdir -p /home/user && chown 1000:1000 /home/user
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
# Without what it recommends the native device renders, through LLVM.
apt-get -q install -y --no-install-recommends /isophote.deb
as_user isophote --version
as_user isophote doctor
as_user isophote render cornell --width 32 --height 32 --spp 2 -o small.png
as_user isophote conform --device native --filter '^(kernel[.]rng|image[.]strict[.]cornell|shader[.]library[.]wood[.]ir)'
# With PoCL there is a device to judge and to time.
apt-get -q install -y --no-install-recommends pocl-opencl-icd
as_user isophote conform --device opencl:0 --filter '^(kernel[.]rng|image[.]strict[.]cornell)' --store s.db --junit j.xml
as_user isophote bench cornell --device opencl:0 --device native --width 64 --height 64 --spp 4 --budget 2 --store s.db
as_user isophote sweep cornell --axis number-format=float32,float16,fixed8.8 --width 8 --height 8 --spp 2 --store s.db
as_user isophote report --store s.db -o report.html
as_user test -s report.html
# The shader library and its example.
apt-get -q install -y --no-install-recommends gcc libc6-dev pkg-config
as_user sh -c 'cc /usr/share/isophote/examples/shade_points.c -o points $(pkg-config --cflags --libs isophote-shaders) && ./points'
# Once more over itself, and away again: nothing stays.
apt-get -q install -y --reinstall --no-install-recommends /isophote.deb
apt-get -q remove -y isophote
[ -z "$(find /usr -path '*isophote*' -not -path '*/doc/*')" ]
E2
runs 0 unshare -m sh -c "mount -t proc proc '$root/proc' && mount --bind /dev '$root/dev' && mount --bind /sys '$root/sys' && exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot '$root' sh /work"
says "the last point: u = 0.9375"
