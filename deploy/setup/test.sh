#!/usr/bin/env bash
# Runs `go test` with the given arguments through gotestsum: a line per package as
# it ends, failed tests at once and again at the end, the slowest tests, and the
# totals last. It fails where go test fails, and also when a test was skipped or
# no test ran, because neither proves anything.
#
# `test.sh proof` runs what deploy/proof plans for this tree, instead of go test with arguments.
#
# With TROUPE_TEST_RETRIES=1 a test that failed is run once more, alone, unless it raced or many
# failed. The summary names each test that passed only then. Flags are written as -name=value.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
gotestsum=$(go -C "$root/deploy/tools" tool -n gotestsum)

scratch=$(mktemp -d)
events=$scratch/events summary=$scratch/summary
touch "$events"
# A package may take minutes. The line shows that the run is alive.
(
	while sleep 30 >/dev/null 2>&1; do
		echo "... $SECONDS s: $(grep -c '"Action":"pass".*"Test":' "$events") tests passed"
	done
) &
progress=$!
trap 'kill $progress 2>/dev/null || true; rm -rf "$scratch"' EXIT

raw=() retry=()
if [ "$1" = proof ]; then
	go -C "$root" build -o .cache/proof/proof ./deploy/proof
	raw=(--raw-command --ignore-non-json-output-lines)
	set -- "$root/.cache/proof/proof" test
	"$1" plan
fi
if [ "${TROUPE_TEST_RETRIES:-0}" -gt 0 ]; then
	retry=(--rerun-fails="$TROUPE_TEST_RETRIES" --rerun-fails-max-failures=10
		--rerun-fails-run-root-test --rerun-fails-abort-on-data-race --rerun-fails-report="$scratch/retried")
	if [ ${#raw[@]} -eq 0 ]; then
		retry+=(--packages="$(printf '%s\n' "$@" | grep -v '^-' | tr '\n' ' ')")
		mapfile -t flags < <(printf '%s\n' "$@" | grep '^-')
		set -- "${flags[@]}"
	fi
fi
status=0
"$gotestsum" --format pkgname-and-test-fails --format-hide-empty-pkg --jsonfile "$events" "${raw[@]}" "${retry[@]}" -- "$@" | tee "$summary" || status=$?

# A fuzz target skips the inputs in its corpus that its format does not allow;
# that leaves out no test.
skipped=$(grep '"Action":"skip".*"Test":' "$events" | grep -v '"Test":"Fuzz[^"]*/' || true)
if [ -n "$skipped" ]; then
	echo
	echo "skipped, which counts as failed:"
	sed 's/.*"Package":"\([^"]*\)","Test":"\([^"]*\)".*/    \1 \2/' <<<"$skipped"
	status=$((status ? status : 1))
fi
again=$(
	sed -n 's/.*passed on retry: \(.*\)\\n".*/    \1/p' "$events" | sed 's/\\"/"/g'
	[ ! -e "$scratch/retried" ] || awk '$(NF-1) < $(NF-3) { print "    " $0 }' "$scratch/retried" # "NAME: 2 runs, 1 failures"
)
if [ -n "$again" ]; then
	echo
	echo "passed only on retry:"
	echo "$again"
fi
if ! grep -q '"Action":"pass".*"Test":' "$events"; then
	echo "no test passed, which proves nothing" >&2
	status=$((status ? status : 1))
fi
echo
echo "slowest tests:"
"$gotestsum" tool slowest --num 10 --jsonfile "$events" | sed 's/^/    /'
grep '^DONE ' "$summary" | tail -n 1
exit "$status"
