package shard

import (
	"slices"
	"testing"
)

func TestShardsTogetherHaveEverythingOnce(t *testing.T) {
	var parts []int
	var seeds []uint64
	for s := range Shard(Count) {
		for n := range 12 {
			if s.Has(n) {
				parts = append(parts, n)
			}
		}
		first, count := s.Seeds(203)
		for n := range count {
			seeds = append(seeds, first+n)
		}
	}
	slices.Sort(parts)
	if len(parts) != 12 || len(slices.Compact(parts)) != 12 {
		t.Errorf("the shards have these parts of 12: %v", parts)
	}
	for i, seed := range seeds {
		if seed != uint64(i+1) {
			t.Fatalf("seed %d of the shards is %d", i+1, seed)
		}
	}
	if len(seeds) != 203 {
		t.Errorf("the shards have %d of 203 seeds", len(seeds))
	}
}

func TestEachVariantIsInSomeShardAndEachShardHasOne(t *testing.T) {
	for variants := 1; variants <= Count; variants++ {
		for _, name := range []string{"TestStop", "TestStopOfARobotThatIsAway"} {
			seen := map[int]bool{}
			for s := range Shard(Count) {
				got := s.Variants(name, variants)
				if len(got) != 1 {
					t.Fatalf("shard %v of %s has %v of %d variants, want one", s, name, got, variants)
				}
				seen[got[0]] = true
			}
			if len(seen) != variants {
				t.Errorf("the shards of %s have %v of %d variants", name, seen, variants)
			}
			if all := Every.Variants(name, variants); len(all) != variants {
				t.Errorf("every shard of %s has %v of %d variants", name, all, variants)
			}
		}
	}
}

func TestShardIsANumberOrAll(t *testing.T) {
	for text, want := range map[string]Shard{"": Every, "all": Every, "0": 0, "4": 4} {
		if got, err := Parse(text); got != want || err != nil {
			t.Errorf("Parse(%q) is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"5", "-1", "one"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) is %v, want an error", text, got)
		}
	}
}
