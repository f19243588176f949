# shellcheck shell=bash
# What tools/quickstart and tools/test share: the one list of packages, how a step is named, logged and failed,
# and how a preset is built. Sourced, never run; it moves to the top of the source tree.

set -euo pipefail
CDPATH="" cd "$(dirname "${BASH_SOURCE[0]}")/.."

# package|what it is needed for
packages='
g++|C++20 compiler
cmake|configures the build
ninja-build|runs the build
libgtest-dev|tests
libbenchmark-dev|benchmarks
libeigen3-dev|matrices of the reference GEMM
libfmt-dev|text output
libcli11-dev|command line of tcq
nlohmann-json3-dev|--json output
libpugixml-dev|SVG pictures
libhwy-dev|vectors of the exact sums
python3|the runner of the mutants
'

bold='' red='' green='' yellow='' plain=''
# shellcheck disable=SC2034  # the sourcing scripts use the others
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m' plain=$'\e[0m'
else
  export CLICOLOR=0  # for ctest
fi
jobs=$(nproc)
step='start'
log=$(mktemp)

title() { step=$1; printf '%s== %s%s\n' "$bold" "$1" "$plain"; }
note() { printf '   %s\n' "$*"; }
stop() { step=''; printf '%s\n' "$2" >&2; exit "$1"; }  # a sentence instead of a failed step

finish() {
  local status=$?
  rm -f "$log"
  if ((status != 0)) && [[ -n $step ]]; then
    printf '%stools/%s: step "%s" failed (exit %d)%s\n' "$red" "${0##*/}" "$step" "$status" "$plain" >&2
  fi
}
interrupt() { printf '\n'; stop 130 "tools/${0##*/}: interrupted in step \"$step\""; }
trap finish EXIT
trap interrupt INT TERM

# quiet COMMAND...: shows ninja's counter on a terminal, nothing else; the whole log when the command fails.
quiet() {
  local status=0
  "$@" 2>&1 | tee "$log" | progress || status=$?
  ((status == 0)) || cat "$log" >&2
  return "$status"
}
progress() {
  local line
  while IFS= read -r line; do
    if [[ -t 1 && $line == \[*/*\]* ]]; then printf '\r\e[K   %.90s' "$line"; fi
  done
  if [[ -t 1 ]]; then printf '\r\e[K'; fi
}

install_packages() {
  title 'packages'
  if ! command -v dpkg-query >/dev/null; then
    note "not a Debian or Ubuntu system; the build needs the equivalents of:" \
      "$(cut -d'|' -f1 <<<"$packages" | xargs)"
    return
  fi
  local name why missing=()
  while IFS='|' read -r name why; do
    [[ -n $name ]] || continue
    if [[ " $(dpkg-query -W -f='${db:Status-Status} ' "$name" 2>/dev/null)" != *' installed '* ]]; then
      missing+=("$name")
      note "missing: $name ($why)"
    fi
  done <<<"$packages"
  if ((${#missing[@]} == 0)); then
    note 'nothing is missing; no network access needed'
    return
  fi

  local install=(apt-get install -y --no-install-recommends "${missing[@]}") root=()
  if ((EUID != 0)); then
    # Without a terminal sudo cannot ask for a password, so it has to work without one.
    if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
      root=(sudo)
    else
      stop 2 "Packages are missing and neither root nor sudo is available; have this run as root:
  apt-get update && ${install[*]}"
    fi
  fi
  root+=(env DEBIAN_FRONTEND=noninteractive)
  note "installing: ${install[*]}"
  # One unreachable package source must not stop an installation that the others can serve.
  quiet "${root[@]}" apt-get update || note "${yellow}apt-get update had errors; trying on$plain"
  quiet "${root[@]}" "${install[@]}"
}

# build PRESET DIRECTORY [TARGET [OPTIONS OF CMAKE...]]
build() {
  title "configure ($1)"
  local options=("${@:4}")
  if [[ $1 != debug && ${3:-} != tcq ]]; then
    find_nvcc
    # CMake remembers that there was no nvcc.
    if [[ -n $nvcc ]] && grep -qs '^CMAKE_CUDA_COMPILER:.*NOTFOUND' "$2/CMakeCache.txt"; then
      options+=(-U CMAKE_CUDA_COMPILER)
    fi
  fi
  # Each time, as CMake remembers: without the variable everything is built.
  quiet cmake --preset "$1" "-DTCQ_DRAW=${TCQ_DRAW:-}" ${options[@]+"${options[@]}"}
  sed -n 's/^-- Drawn by/   drawn by TCQ_DRAW =/p' "$log"
  title "build ($1, $jobs jobs)"
  local begin=$SECONDS
  quiet cmake --build --preset "$1" --parallel "$jobs" ${3:+--target "$3"}
  note "built in $((SECONDS - begin)) s"
}

# Sets nvcc ('' when there is none) and says what that changes.
find_nvcc() {
  local prefix=${CUDA_HOME:-${CUDA_PATH:-/usr/local/cuda}}  # NVIDIA's installer leaves it out of PATH
  nvcc=${CUDACXX:-$(command -v nvcc || true)}
  if [[ -z $nvcc && -x $prefix/bin/nvcc ]]; then nvcc=$prefix/bin/nvcc; fi
  if [[ -n $nvcc ]]; then
    export CUDACXX=$nvcc
    note 'nvcc found: GEMM kernels, hardware probes and live tests are built too'
  else
    note 'nvcc not found (optional): everything but GEMM kernels, hardware probes and live tests is built'
  fi
}
