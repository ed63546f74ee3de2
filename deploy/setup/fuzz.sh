#!/usr/bin/env bash
# Runs every fuzz target of the tree for the time given, one after the other:
# Go fuzzes one target at a time, on all cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
time=${1:-10s}

# grep finds the packages with fuzz targets quickly; their test binaries list the targets.
count=0
for package in $(grep -rl --include='*_test.go' --exclude-dir=testdata '^func Fuzz' . | xargs -r -n 1 dirname | sort -u); do
	listed=$(go test -list '^Fuzz' "$package")
	for target in $(grep '^Fuzz' <<<"$listed"); do
		echo "$package $target for $time"
		# A whole broker does not cover the same lines twice for one input, so
		# making inputs smaller would take all of the time.
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x "$package"
		count=$((count + 1))
	done
done
if [ "$count" -eq 0 ]; then
	echo "there is no fuzz target" >&2
	exit 1
fi
echo "$count fuzz targets, $time each, found nothing"
