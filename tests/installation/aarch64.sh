#!/usr/bin/env bash
# Build the core for aarch64 and run tests of it under qemu: aarch64.sh PYTHON TESTS...
# An interpreter from Debian's arm64 packages and libraries from wheels are unpacked into build/aarch64; nothing is installed.
# PYTHON is a Python 3.11 of this machine with the dependency group `build`.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=$(realpath -s "$1") here=$PWD/build/aarch64
shift
for program in aarch64-linux-gnu-g++ qemu-aarch64-static apt-get; do
  command -v $program >/dev/null || { echo "$program is missing: apt-get install g++-aarch64-linux-gnu qemu-user-static"; exit 1; }
done

if [ ! -e "$here/unpacked" ]; then
  mkdir -p "$here"/apt/{lists,archives}/partial "$here/packages"
  debian=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State=$here/apt" -o "Dir::Cache=$here/apt"
    -o Dir::State::status=/dev/null -o APT::Sandbox::User=root)
  "${debian[@]}" update
  (cd "$here/packages" && "${debian[@]}" download {,lib}python3.11-minimal libpython3.11-{stdlib,dev} libc6 libstdc++6 libgcc-s1 \
    zlib1g libexpat1 libssl3 libffi8 libbz2-1.0 liblzma5 libsqlite3-0 libuuid1)
  for package in "$here"/packages/*.deb; do dpkg-deb -x "$package" "$here/root"; done
  "$python" -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' >"$here/needs"
  "$python" -m pip install --quiet --no-compile --target "$here/libraries" --python-version 3.11 --only-binary :all: \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 \
    -r "$here/needs" pytest hypothesis pandas polars
  touch "$here/unpacked"
fi

PATH="$(dirname "$python"):$PATH" cmake -G Ninja -S . -B "$here/core" -DCMAKE_BUILD_TYPE=Release -DCROSSCUT_WERROR=ON \
  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
  -DCMAKE_CXX_FLAGS="-idirafter $here/root/usr/include" \
  -DPython_EXECUTABLE="$python" -DPython_INCLUDE_DIR="$here/root/usr/include/python3.11" \
  -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" >/dev/null
cmake --build "$here/core"
mkdir -p "$here/package"
cp -r src/crosscut "$here/package/"
rm -f "$here"/package/crosscut/_core*.so
cp "$here"/core/_core*.so "$here/package/crosscut/_core.so"

file -b "$here/package/crosscut/_core.so" 2>/dev/null | cut -d, -f1-2 || true
PYTHONPATH="$here/package:$here/libraries" QEMU_LD_PREFIX="$here/root" exec qemu-aarch64-static "$here/root/usr/bin/python3.11" \
  -m pytest -q -p no:cacheprovider -m "not slow" "$@"
