#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# faults.sh [short|long]: kills, stops, starves and misleads the command line, and sees whether
# anything is lost. After each fault no output file may be half-written and, but after kill -9,
# no temporary file left; doing the same again, or resuming, must give the undisturbed result.
#
# COMBINEX is the command (build/combinex). FAULTS_SEED fixes the random moments. Prints a table
# and fails if anything was lost. What takes root (a small file system of its own) is skipped
# for others, and says so.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
combinex=$(realpath "${COMBINEX:-$here/build/combinex}") || exit 1
case ${1:-long} in
    short) kills=4 others=1 ;;
    long) kills=100 others=20 ;;
    *) echo "usage: $0 [short|long]" >&2; exit 2 ;;
esac
seed=${FAULTS_SEED:-$(date +%s)}
RANDOM=$seed
scratch=$(mktemp -d)
mounted=()
clean() {
    for folder in "${mounted[@]}"; do umount "$folder" 2> /dev/null; done
    rm -rf "$scratch"
}
trap clean EXIT
set -m # or bash would make jobs in the background ignore Ctrl-C
cd "$scratch" || exit 1
chmod 755 .
cp "$combinex" combinex # also for users who may not look into the build folder
export HOME=$scratch XDG_DATA_HOME=$scratch/share OMP_WAIT_POLICY=passive
unset COMBINEX_DATA

# ------------------------------------------------------------- the work

./combinex data generate erdos-renyi --nodes 300 --features 30 --seed 3 -q -o data.safetensors || exit 1
./combinex train karate --epochs 30 --seed 1 -q -o oracle.safetensors || exit 1
bench=(./combinex bench --data karate --models "gcn,graphconv" --folds 2 --samples 6 --train-epochs 60
    --epochs 150 --explainers "combinex-lin,cf-gnn,random-edges,ego" --jobs 2 --resume -q --out)
# wide, so that writing takes a good part of the time
train=(./combinex train data.safetensors --hidden 900 --epochs 4 --seed 1 --threads 2 -q -o)
explain=(./combinex explain karate oracle.safetensors --all --preset paper --epochs 400 --threads 2
    --json -q --resume -o)

# What is compared: results without the seconds they took.
bench_result() {
    cat "$1"/summary.{csv,json,md,tex} "$1"/ranks.svg "$1"/models/* && zcat "$1/rows.csv.gz" | cut -d, -f1-23
}
train_result() { cat "$1"; }
explain_result() { sed -E 's/"seconds":[^,]*,//' "$1"; }

# whole WORK OUT: nothing in the output is half-written, whatever is there.
bench_whole() {
    local file
    for file in "$1"/summary.* "$1"/ranks.svg "$1"/models/*; do
        [[ ! -e $file || $file == *.tmp ]] || cmp -s "$file" "bench.whole/${file#"$1"/}" || return 1
    done
    # rows are gathered in one step; a part may end in the middle of a line
    [[ ! -e $1/rows.csv.gz ]] || [[ -z $(zcat "$1/rows.csv.gz" | tail -c 1) && ! $(zcat "$1/rows.csv.gz" | awk -F, 'NF != 25') ]]
}
train_whole() { [[ ! -e $1 ]] || cmp -s "$1" train.whole; }
explain_whole() { [[ ! -e $1 ]] || cmp -s <(explain_result "$1") <(explain_result explain.whole); }

again() { # again WORK OUT: once more, undisturbed; is the result the undisturbed one?
    local -n command=$1
    "${command[@]}" "$2" > out 2> err && cmp -s <("$1_result" "$2") <("$1_result" "$1.whole")
}
no_temporary() { [[ -z $(find . -name '*.tmp') ]]; }

seconds_of() { # seconds_of WORK: makes WORK.whole and tells how long it took, in milliseconds
    local -n command=$1
    local from
    from=$(date +%s%N)
    "${command[@]}" "$1.whole" > out 2> err || { cat err >&2; exit 1; }
    echo $((($(date +%s%N) - from) / 1000000))
}
declare -A takes
for work in bench train explain; do takes[$work]=$(seconds_of "$work") || exit 1; done

# ------------------------------------------------------------- the table

losses=0
row() { # row FAULT TRIED SURVIVED WHAT
    printf '%-52s %5s %9s  %s\n' "$1" "$2" "$3" "$4"
    [[ $2 == "$3" ]] || losses=$((losses + 1))
}
skipped() { printf '%-52s %5s %9s  %s\n' "$1" - - "skipped: $2"; }
echo "seed $seed; undisturbed: bench ${takes[bench]} ms, train ${takes[train]} ms, explain ${takes[explain]} ms"
printf '%-52s %5s %9s  %s\n' fault tried survived 'what was lost'

# ------------------------------------------------------- signals at random

a_moment() { # a_moment WORK: sleeps for some part of the time that it takes
    local ms=$((RANDOM * takes[$1] / 32768))
    sleep "$((ms / 1000)).$(printf '%03d' $((ms % 1000)))"
}

# signalled WORK COUNT SIGNALS...: does so many times; "INT INT" is Ctrl-C twice.
signalled() {
    local work=$1 count=$2 out=$1.out survived=0 hit=0 i=0 signal why=nothing
    local -n command=$1
    shift 2
    # what is done before the signal comes does not count
    while ((hit < count && i++ < 10 * count)); do
        [[ $work == bench ]] || rm -rf "$out"
        "${command[@]}" "$out" > log 2> err &
        local job=$!
        a_moment "$work"
        for signal in "$@"; do kill "-$signal" "$job" 2> /dev/null; done
        wait "$job" 2> /dev/null
        status=$?
        if ((status == 0)); then
            cmp -s <("${work}_result" "$out") <("${work}_result" "$work.whole") || {
                why="a wrong result"
                survived=$((survived - 1))
            }
            rm -rf "$out"
            continue
        fi
        hit=$((hit + 1))
        if ! "${work}_whole" "$out"; then
            why="half-written output"
        elif [[ $* != KILL ]] && ! no_temporary; then
            why="a temporary file stays"
        elif [[ $work != bench || $((hit % 5)) == 4 || $hit == "$count" ]] && ! again "$work" "$out"; then
            why="doing it again gives something else: $(head -n 1 err)"
        elif [[ $work == bench ]] && [[ -e $out/summary.csv ]] && ! no_temporary; then
            why="a temporary file stays after resuming"
        else
            survived=$((survived + 1))
        fi
        # what is complete is started anew
        if [[ $work == bench && -e $out/report.html ]]; then rm -rf "$out"; fi
        [[ $work == explain ]] && rm -f .combinex-*.tmp
    done
    signal="SIG$1${2:+ twice}"
    [[ $1 != KILL ]] || signal='kill -9'
    ((hit == count)) || why="$hit signals came in time"
    row "$signal, $work" "$count" "$survived" "$why"
    rm -rf "$out"
}

for work in bench train; do signalled $work $kills KILL; done
signalled explain "$others" KILL
for work in bench train explain; do
    signalled $work "$others" INT
    signalled $work "$others" INT INT
    signalled $work "$others" TERM
    signalled $work "$others" HUP
done

# ------------------------------------------------------- disks and folders

# failed PATTERN: the last command failed and said so.
failed() { ((status == 1)) && grep -Eq -- "$1" err; }
run() { "$@" > out 2> err; status=$?; }
# case FAULT CONDITION...: one line of the table
case_of() {
    local name=$1 why
    shift
    if "$@"; then row "$name" 1 1 nothing; else
        why=$(head -n 1 err)
        row "$name" 1 0 "status $status: ${why:0:80}"
    fi
}

small=$scratch/small
mkdir small
if [[ $(id -u) -eq 0 ]] && mount -t tmpfs -o size=1200k none "$small" 2> /dev/null; then
    mounted+=("$small")
    run "${train[@]}" small/model
    full() { failed 'small/model: cannot write: No space left' && [[ -z $(ls -A small) ]]; }
    case_of "disk full, train" full
    cp oracle.safetensors small/model
    run "${train[@]}" small/model
    kept() { failed 'No space left' && cmp -s small/model oracle.safetensors && [[ $(ls -A small) == model ]]; }
    case_of "disk full, train over an old model" kept
    rm small/model
    dd if=/dev/zero of=small/filler bs=1k count=1160 2> /dev/null
    run "${explain[@]}" small/out
    full() { failed 'small/out.*cannot write: No space left' && [[ ! -e small/out ]]; }
    case_of "disk full, explain" full
    mv small/out*.part . 2> /dev/null # what --resume goes on with
    run ./combinex data generate ba-shapes -q -o small/graph.safetensors
    full() { failed 'No space left' && [[ $(ls -A small) == filler ]]; }
    case_of "disk full, data generate" full
    run "${bench[@]}" small/bench
    stuck() { failed 'No space left' && bench_whole small/bench && [[ -z $(find small -name '*.tmp') ]]; }
    case_of "disk full, bench" stuck
    rm small/filler
    case_of "disk full, then room, bench --resume" again bench small/bench
    mv out*.part small/ 2> /dev/null
    case_of "disk full, then room, explain --resume" again explain small/out
    rm -f small/out
    mount -o remount,ro "$small"
    run "${train[@]}" small/model
    case_of "read-only file system, train" failed 'small/model: cannot write.*Read-only file system'
    run "${explain[@]}" small/out
    case_of "read-only file system, explain" failed 'small/out: cannot write.*Read-only file system'
    run "${bench[@]}" small/bench
    case_of "read-only file system, bench --resume" failed 'small/bench.*Read-only file system'
    mount -o remount,rw "$small"
    case_of "writable again, bench --resume" again bench small/bench
    umount "$small"
else
    skipped "disk full, read-only file system" "takes root, to mount one"
fi

locked() {
    mkdir -p locked
    cp oracle.safetensors locked/old
    chmod 555 locked
    local as=()
    [[ $(id -u) -ne 0 ]] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    run "${as[@]}" "${train[@]}" locked/model
    failed 'locked/model: cannot write there: Permission denied' || return
    run "${as[@]}" "${train[@]}" locked/old
    failed 'Permission denied' && cmp -s locked/old oracle.safetensors || return
    run "${as[@]}" "${bench[@]}" locked/bench
    failed 'locked/bench.*Permission denied' && [[ $(ls -A locked) == old ]]
}
if [[ $(id -u) -ne 0 ]] || command -v setpriv > /dev/null; then
    case_of "folder without permission, train and bench" locked
else
    skipped "folder without permission" "takes setpriv, to be another user"
fi

limited() {
    ulimit -f "$1"
    shift
    exec "$@"
}
run bash -c "$(declare -f limited); limited 100 \"\$@\"" - "${train[@]}" limited.out
over() { failed 'limited.out: cannot write: File too large' && [[ ! -e limited.out ]] && no_temporary; }
case_of "limit on the size of files, train" over
run bash -c "$(declare -f limited); limited 4 \"\$@\"" - "${bench[@]}" limited.bench
over() { failed 'File too large' && bench_whole limited.bench && no_temporary; }
case_of "limit on the size of files, bench" over
case_of "no limit any more, bench --resume" again bench limited.bench

if [[ -c /dev/full ]]; then
    ./combinex explain karate oracle.safetensors --all --preset paper --epochs 20 > /dev/full 2> err
    status=$?
    case_of "standard output full, explain" failed 'standard output: No space left'
fi
./combinex explain karate oracle.safetensors --all --preset paper --epochs 20 2> err >&-
status=$?
case_of "standard output closed, explain" failed 'standard output: Bad file descriptor'
left_early() {
    ./combinex explain karate oracle.safetensors --all --preset paper --epochs 20 --json 2> err | true
    status=${PIPESTATUS[0]}
    ((status != 0)) && [[ ! -s err ]]
}
case_of "reader of a pipe gone, explain" left_early

# ---------------------------------------------- every step that changes a name

cat > names.c << 'C'
/* NAMES_KILL=n: killed just before the n-th call that makes, changes or removes a name.
 * NAMES_FAIL=n: the n-th rename fails. NAMES_OLD: folders cannot change places. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static int counted(const char *what, int *count)
{
    const char *n = getenv(what);
    return n && ++*count == atoi(n);
}
static void step(void)
{
    static int count;
    if (counted("NAMES_KILL", &count))
        (void)kill(getpid(), SIGKILL);
}
#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))
int rename(const char *from, const char *to)
{
    static int count;
    step();
    if (!counted("NAMES_FAIL", &count))
        return REAL(rename)(from, to);
    errno = EIO;
    return -1;
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    step();
    if (!getenv("NAMES_OLD"))
        return REAL(renameat2)(a, from, b, to, flags);
    errno = ENOSYS;
    return -1;
}
int linkat(int a, const char *from, int b, const char *to, int flags)
{
    step();
    return REAL(linkat)(a, from, b, to, flags);
}
int link(const char *from, const char *to)
{
    step();
    return REAL(link)(from, to);
}
int unlink(const char *path)
{
    step();
    return REAL(unlink)(path);
}
int unlinkat(int at, const char *path, int flags)
{
    step();
    return REAL(unlinkat)(at, path, flags);
}
int mkdir(const char *path, mode_t mode)
{
    step();
    return REAL(mkdir)(path, mode);
}
int rmdir(const char *path)
{
    step();
    return REAL(rmdir)(path);
}
C
several=(./combinex explain karate oracle.safetensors --node 8 --preset paper --epochs 3 --json -q
    -o s.json --html s.html --svg s.svg --trace s.trace --summary s.summary)
all_old() { # all_old FILE...: they are as they were, and nothing lies beside them
    local file
    for file; do [[ $(cat "$file") == precious ]] || return 1; done
    no_temporary
}
failing_renames() { # one of five outputs cannot take its place: all five are as they were
    local step survived=0 tried=0 why=nothing
    for ((step = 1; step < 50; step++)); do
        for file in s.json s.html s.svg s.trace s.summary; do echo precious > $file; done
        NAMES_FAIL=$step run "${several[@]}"
        ((status != 0)) || break
        tried=$((tried + 1))
        if failed 'cannot write: Input/output error' && all_old s.json s.html s.svg s.trace s.summary; then
            survived=$((survived + 1))
        else
            why="some of them are new"
        fi
    done
    row "a rename that fails, five outputs of explain" "$tried" "$survived" "$why"
}
convert=(./combinex data convert data.safetensors tables --to csv -q)
# Both tables are old or both are new. Where folders cannot change places in one step ($1), the
# old ones may be all there is, under the name of a neighbour.
tables_whole() {
    local pair=tables
    if [[ -n $1 && ! -e tables ]]; then pair=$(dirname "$(grep -l precious .combinex-*.tmp/edges.csv)"); fi
    diff -r "$pair" tables.old > out 2>&1 || diff -r "$pair" tables.whole > out 2>&1
}
killed_exports() { # killed_exports [1]: before each of its steps; 1: as on older systems
    local step survived=0 tried=0 why=nothing
    [[ -z ${1-} ]] || export NAMES_OLD=1
    for ((step = 1; step < 50; step++)); do
        rm -rf tables .combinex-*.tmp
        cp -r tables.old tables
        NAMES_KILL=$step "${convert[@]}" > out 2> err &
        wait $! 2> /dev/null && break
        tried=$((tried + 1))
        if ! tables_whole "${1-}"; then
            why="old and new mixed, or lost"
        elif rm -rf tables; ! { "${convert[@]}" > out 2> err && diff -r tables tables.whole > out; }; then
            why="doing it again gives something else"
        else
            survived=$((survived + 1))
        fi
    done
    row "kill -9 before each step, data convert to csv${1:+ (2)}" "$tried" "$survived" "$why"
    rm -rf .combinex-*.tmp
    unset NAMES_OLD
}
mkdir tables.old
printf 'source,target\nprecious,b\n' > tables.old/edges.csv
printf 'id,age\nprecious,1\nb,2\n' > tables.old/features.csv
./combinex data convert data.safetensors tables.whole --to csv -q || exit 1
if cc -shared -fPIC -O1 names.c -o names.so 2> err && LD_PRELOAD=$scratch/names.so ./combinex --version > out 2>&1; then
    export LD_PRELOAD=$scratch/names.so
    failing_renames
    killed_exports
    killed_exports 1
    unset LD_PRELOAD
else
    skipped "every step that changes a name" "takes cc, and a command without sanitizers"
fi

# -------------------------------------------------- data that changes, clocks

mapped=0
for ((i = 0; i < others; i++)); do
    cp data.safetensors mapped.safetensors
    [[ -e mapped.model ]] || ./combinex train mapped.safetensors --hidden 8 --epochs 2 -q -o mapped.model
    ./combinex explain mapped.safetensors mapped.model --all --preset paper --epochs 100 --threads 2 \
        --json -q -o mapped.out > out 2> err &
    job=$!
    sleep "0.$((RANDOM % 300 + 100))"
    truncate -s $((RANDOM * 2)) mapped.safetensors
    wait "$job" 2> /dev/null
    status=$?
    if ((status == 1)) && grep -Eq 'mapped.safetensors: (was cut short|was written to|not a safetensors|.*truncated)' err &&
        [[ ! -e mapped.out ]] && no_temporary; then
        mapped=$((mapped + 1))
    elif ((status == 0)) && [[ $(wc -l < mapped.out) -eq 300 ]]; then # it was done before that
        mapped=$((mapped + 1))
    fi
    rm -f mapped.out
done
why=nothing
((mapped == others)) || why=$(head -n 1 err)
row "data truncated while mapped, explain" "$others" "$mapped" "$why"

cat > clock.c << 'C'
/* A wall clock that jumps by years, back and forth, at every look. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long jump(void)
{
    static unsigned state = 7;
    return (long)(rand_r(&state) % 20 - 10) * 365 * 86400;
}
int clock_gettime(clockid_t id, struct timespec *t)
{
    int code = (int)syscall(SYS_clock_gettime, id, t);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
        t->tv_sec += jump();
    return code;
}
time_t time(time_t *out)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    if (out)
        *out = t.tv_sec;
    return t.tv_sec;
}
int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec t;
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    *out = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return 0;
}
C
if cc -shared -fPIC -O1 clock.c -o clock.so 2> /dev/null && LD_PRELOAD=$scratch/clock.so ./combinex --version > out 2>&1; then
    export LD_PRELOAD=$scratch/clock.so
    for work in bench train explain; do
        rm -rf clocked
        status=0
        case_of "wall clock that jumps by years, $work" again $work clocked
    done
    unset LD_PRELOAD
else
    skipped "wall clock that jumps by years" "takes cc, and a command without sanitizers"
fi

if ((losses)); then
    echo "$losses kinds of faults were not survived"
    exit 1
fi
echo "nothing was lost"
