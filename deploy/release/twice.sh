#!/usr/bin/env bash
# Builds the release of the last commit twice, in two folders from two clones, and compares each file that would be published. With COLD=1
# the second build also compiles everything again, which takes ten times as long. The first of the builds stays in
# bin/release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
commit=$(git rev-parse HEAD)
for folder in first second/at/another/path; do
	git clone -q --no-checkout "$PWD" "$scratch/$folder"
	git -C "$scratch/$folder" checkout -q "$commit"
done

build() (
	cd "$1"
	if ! { deploy/release/release.sh && deploy/container/images.sh; } >"$scratch/log" 2>&1; then
		tail -n 20 "$scratch/log" >&2
		exit 1
	fi
)
build "$scratch/first"
if [ -n "${COLD:-}" ]; then
	export GOCACHE=$scratch/cache
fi
build "$scratch/second/at/another/path"

cd "$scratch/first/bin/release"
other=$scratch/second/at/another/path/bin/release
same=0
while read -r file; do
	cmp -- "$file" "$other/$file"
	same=$((same + 1))
done < <(find . -maxdepth 1 -type f \( -name '*_*' -o -name '*.rpm' -o -name 'SHA256SUMS*' \) | sort)
diff <(find . -maxdepth 1 -type f | sort) <(cd "$other" && find . -maxdepth 1 -type f | sort)
if [ "$same" -lt 15 ]; then
	echo "only $same files were compared" >&2
	exit 1
fi
echo "$same files of two builds of $commit are the same"
cd - >/dev/null
rm -rf bin/release
mkdir -p bin
mv "$scratch/first/bin/release" bin/release
