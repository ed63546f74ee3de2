// Package shard says which part of the tests a run has. A change is proved by one of five shards,
// which is most of the tests, whole, and of what tests repeat (on another broker, on the other
// database, with other random seeds) a fifth each. All five together prove everything.
package shard

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
)

// Count is how many shards there are.
const Count = 5

// Variable is the environment variable that has the number of the shard, from 0. If it is unset or
// All, a run has every shard: so has a test that somebody runs by itself.
const (
	Variable = "TROUPE_SHARD"
	All      = "all"
)

// A Shard is the number of one shard, or every one of them.
type Shard int

// Every is all shards.
const Every Shard = -1

// Parse reads a number from 0, or "all".
func Parse(text string) (Shard, error) {
	if text == "" || text == All {
		return Every, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= Count {
		return Every, fmt.Errorf("%q is no shard: give a number from 0 to %d, or %s", text, Count-1, All)
	}
	return Shard(n), nil
}

// Current returns the shard of this run.
func Current() (Shard, error) { return Parse(os.Getenv(Variable)) }

func (s Shard) String() string {
	if s == Every {
		return All
	}
	return strconv.Itoa(int(s))
}

// Has reports whether the shard has part n of something that is distributed over the shards.
func (s Shard) Has(n int) bool { return s == Every || n%Count == int(s) }

// Variants returns which of the variants of a test the shard has, by their indexes: one, or all of
// them if the run has every shard. A test with at most Count variants has each of them in some
// shard. The name lets tests of one shard differ in what they run on.
func (s Shard) Variants(name string, variants int) []int {
	if s != Every {
		h := fnv.New32a()
		_, _ = h.Write([]byte(name))
		return []int{int((h.Sum32()%uint32(variants) + uint32(s)) % uint32(variants))}
	}
	all := make([]int, variants)
	for i := range all {
		all[i] = i
	}
	return all
}

// Seeds returns the random seeds of the shard, of so many in all, which begin with 1.
func (s Shard) Seeds(all uint64) (first, count uint64) {
	if s == Every {
		return 1, all
	}
	return 1 + uint64(s)*all/Count, (uint64(s)+1)*all/Count - uint64(s)*all/Count
}
