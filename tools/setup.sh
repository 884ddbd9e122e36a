# SPDX-License-Identifier: Apache-2.0
# What ./run, ./test and .ci/run share: steps with their seconds, Debian packages, Python extras. Sourced.

isophote_cache=${ISOPHOTE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/isophote}
logs=build/logs
mkdir -p "$logs"

say() { printf '%s\n' "$*"; }

# step NAME COMMAND...: one line with the seconds it took; its output goes to build/logs/NAME.log and is
# shown when it fails.
step()
{
    local name=$1 log start status=0
    shift
    log=$logs/${name//[^a-zA-Z0-9.]/-}.log
    start=$SECONDS
    printf '%-58s' "$name"
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if [ "$status" = 0 ]; then
        printf ' %4d s\n' $((SECONDS - start))
        return 0
    fi
    printf ' FAILED after %d s (status %d; %s)\n' $((SECONDS - start)) "$status" "$log"
    tail -n 30 "$log" | sed 's/^/    /'
    return "$status"
}

# ---- Debian packages --------------------------------------------------------------------------------

# The packages of packages.txt for the given scripts (run, test, ci).
packages_wanted()
{
    local kind
    for kind in "$@"; do
        sed -nE "s/^([a-z0-9][a-z0-9.+-]*)[[:space:]]+#[[:space:]]*$kind([[:space:]].*)?$/\1/p" packages.txt
    done
}

packages_missing()
{
    local name
    for name in $(packages_wanted "$@"); do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s ' "$name"
    done
}

packages_apt()
{
    local as=$1
    shift
    # A fresh image has no package lists; old ones may name files that are gone.
    $as apt-get -q -o DPkg::Lock::Timeout=300 update
    $as env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
        install -y --no-install-recommends "$@"
}

# packages_install KIND...: says what is missing, and installs it as root or by sudo; else exits with 2.
packages_install()
{
    local missing as=
    [ "${ISOPHOTE_NO_PACKAGES:-}" = 1 ] && return 0
    if ! command -v dpkg-query >/dev/null; then
        say "This is no Debian system. Install what packages.txt names, then set ISOPHOTE_NO_PACKAGES=1." >&2
        exit 2
    fi
    missing=$(packages_missing "$@")
    [ -n "$missing" ] || return 0
    say "Debian packages to install: $missing"
    if [ "$(id -u)" != 0 ]; then
        if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; then
            as=sudo
        else
            say "These need root, and there is no sudo. Have somebody run:" >&2
            say "    apt-get install --no-install-recommends $missing" >&2
            exit 2
        fi
    fi
    # shellcheck disable=SC2086 # names without spaces
    step "install packages" packages_apt "$as" $missing
}

# ---- Python extras and OpenCL platforms ----------------------------------------------------------------

# A virtual environment with exactly tests/requirements.txt (or another list), made once; sets $python.
python_extras()
{
    local list=$1 key folder
    key=$( (python3 --version && grep -v '^ *#' "$list") | sha256sum | cut -c1-12)
    folder=$isophote_cache/python-$key
    python=$folder/bin/python
    [ -e "$folder/complete" ] && return 0
    say "Python packages to install into $folder: $(grep -oE '^[A-Za-z0-9._-]+' "$list" | tr '\n' ' ')"
    step "install Python packages" python_install "$list" "$folder"
}

python_install()
{
    # Not `python3 -m venv --clear`: a run beside this one may have just completed it.
    [ -x "$2/bin/pip" ] || python3 -m venv "$2"
    "$2/bin/python" -m pip install --disable-pip-version-check --no-input -r "$1"
    touch "$2/complete"
}

# A folder of .icd files with every platform of this machine and Intel's CPU runtime from $python's
# environment; exported for the OpenCL loader.
opencl_platforms()
{
    local folder=$isophote_cache/opencl-icd library fresh
    library=$(find "$(dirname "$python")/../lib" -maxdepth 1 -name 'libintelocl.so*' | sort | head -n 1)
    [ -n "$library" ] || {
        say "libintelocl.so is not in the Python packages" >&2
        return 1
    }
    mkdir -p "$folder"
    fresh=$(mktemp -d "$folder.XXXXXX")
    cp /etc/OpenCL/vendors/*.icd "$fresh"/ 2>/dev/null || true
    readlink -f "$library" >"$fresh/isophote-intel.icd"
    chmod 755 "$fresh"
    # One rename a file: a test that runs beside this sees each file whole.
    for file in "$fresh"/*.icd; do mv -f "$file" "$folder"/; done
    rmdir "$fresh"
    export OCL_ICD_VENDORS=$folder
}

# Open Image Denoise from PyPI, exported as ISOPHOTE_OIDN; $python stays what it was.
denoiser()
{
    local before=${python:-} library
    [ -z "${ISOPHOTE_OIDN:-}" ] || return 0
    python_extras tests/requirements-denoise.txt || return 1
    library=$(find "$(dirname "$python")/../lib" -name 'libOpenImageDenoise.so.2' | sort | head -n 1)
    python=$before
    [ -n "$library" ] || return 1
    ISOPHOTE_OIDN=$(readlink -f "$(dirname "$library")")/libOpenImageDenoise.so.2
    export ISOPHOTE_OIDN
}

# SoftPosit as a library, made of the C sources in PyPI's source package, exported as ISOPHOTE_SOFTPOSIT.
softposit()
{
    local list=tests/requirements-posit.txt folder fresh
    [ -z "${ISOPHOTE_SOFTPOSIT:-}" ] || return 0
    folder=$isophote_cache/softposit-$(grep -v '^ *#' "$list" | sha256sum | cut -c1-12)
    if [ ! -e "$folder/libsoftposit.so" ]; then
        mkdir -p "$folder"
        fresh=$(mktemp -d "$folder/XXXXXX")
        step "make SoftPosit" softposit_make "$list" "$fresh" || return 1
        mv -f "$fresh/libsoftposit.so" "$folder"/
        rm -rf "$fresh"
    fi
    export ISOPHOTE_SOFTPOSIT=$folder/libsoftposit.so
}

softposit_make() # LIST FOLDER
{
    python3 -m pip download --disable-pip-version-check --no-input --no-deps --no-binary :all: -d "$2" -r "$1" &&
        tar -xzf "$2"/softposit-*.tar.gz --strip-components=2 -C "$2" --wildcards '*/SoftPosit-master/source' '*/SoftPosit-master/build' &&
        cc -O2 -w -fPIC -shared -DSOFTPOSIT_FAST_INT64 -I"$2/source/include" -I"$2/build/Linux-x86_64-GCC" \
            -o "$2/libsoftposit.so" "$2"/source/*.c -lm
}

# ---- building ---------------------------------------------------------------------------------------------

# build PRESET [TARGET...] : configures and builds.
configure()
{
    local preset=$1
    shift
    cmake --preset "$preset" "$@"
}
build()
{
    local preset=$1
    shift
    cmake --build --preset "$preset" ${1:+--target "$@"}
}
