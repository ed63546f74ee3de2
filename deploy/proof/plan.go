package main

import (
	"fmt"
	"slices"
	"strings"

	"troupe/deploy/layers"
	"troupe/deploy/shard"
)

// A folder is one package of this module with what decides how its tests run.
type folder struct {
	name     string   // such as "robotd/brain"
	imports  []string // folders of this module that it or its tests import
	hasTests bool
}

// A plan is what a run of the tests executes.
type plan struct {
	shard   shard.Shard
	seed    uint64   // of properties; the same tree has the same cases
	base    string   // the commit that the change is compared with
	changed []string // folders that differ from the base
	all     bool     // everything counts as changed, because there is nothing to compare with
	raced   []racedFolder
	runs    []run
}

// racedFolder is a folder whose tests run under the race detector, and why.
type racedFolder struct{ name, why string }

// A run is one call of go test.
type run struct {
	what     string
	race     bool
	alone    bool // nothing runs beside it
	packages []string
	only     string   // -run
	skip     string   // -skip
	env      []string // KEY=value
}

// endToEnd is the package whose tests start the programs. They wait for them more than they compute,
// so it begins first, and the others run beside it.
const endToEnd = "deploy/e2e"

// sharded are the end-to-end tests that only one shard has, by a pattern of their names.
var sharded = []struct {
	pattern string
	shard   int
	why     string
}{
	{"Earlier(Robot|Fleetd|Release)", 0, "they build the earlier release, to run it beside the current one"},
}

// raceDemo is the shard in which the demo, where a broker, a fleetd and robots are one process, runs
// under the race detector.
const raceDemo = 1

// apart are tests, by a pattern and by their packages, that do not run under the race detector with
// the rest: their fleetd runs as programs, each of which would start with it.
var apart = map[string]string{"fleetd/cli": "^TestScripts$"}

// growthShard is the shard that runs make bench-quick, too: whether something takes longer than its number of robots says.
const growthShard = 3

// longProperties is how many cases of a property are checked in the packages whose turn it is.
const longProperties = 300

// newPlan decides what a run executes. A package runs once: without the race detector if nothing in
// it runs at once; otherwise under it, if the change reaches the package or it is in the shard.
func newPlan(folders []folder, changed []string, all bool, s shard.Shard) (plan, error) {
	p := plan{shard: s, changed: changed, all: all}
	raced := run{what: "under the race detector", race: true}
	races := []run{raced, raced} // two, so that none is alone at work for long
	plain := run{what: "without the race detector"}
	long := run{what: "without it, with many cases of each property", env: []string{fmt.Sprintf("RAPID_CHECKS=%d", longProperties)}}
	var parted []run // of packages of which a part is raced
	part := 0        // counts the packages that are distributed over the shards
	for _, f := range folders {
		l, ok := layers.Of(f.name)
		if !ok {
			return plan{}, fmt.Errorf("%s is in no layer: add it to its layer in deploy/layers", f.name)
		}
		if !f.hasTests || f.name == endToEnd {
			continue
		}
		inShard := s.Has(part)
		part++
		why := ""
		switch {
		case l.Pure && inShard:
			long.packages = append(long.packages, f.name)
			continue
		case l.Pure, l.Processes:
		case all:
			why = "nothing to compare with"
		case inShard:
			why = "shard"
		default:
			why = whyReached(f, changed)
		}
		if why == "" {
			plain.packages = append(plain.packages, f.name)
			continue
		}
		p.raced = append(p.raced, racedFolder{f.name, why})
		if test, ok := apart[f.name]; ok {
			both := []string{f.name}
			parted = append(parted, run{what: raced.what, race: true, packages: both, skip: test}, run{what: plain.what, packages: both, only: test})
			continue
		}
		half := &races[len(p.raced)%len(races)]
		half.packages = append(half.packages, f.name)
	}
	e2e := run{what: "with programs, end to end", packages: []string{endToEnd}}
	for _, t := range sharded {
		if !s.Has(t.shard) {
			e2e.skip = either(e2e.skip, t.pattern)
		}
	}
	demo := run{what: "the demo under the race detector", race: true, alone: true, only: "Demo"} // its robots have to keep their time
	if s.Has(raceDemo) {
		demo.packages, e2e.skip = e2e.packages, either(e2e.skip, demo.only)
	}
	p.runs = slices.DeleteFunc(slices.Concat([]run{e2e}, races, parted, []run{plain, long, demo}),
		func(r run) bool { return len(r.packages) == 0 })
	return p, nil
}

// either joins two patterns; an empty one matches nothing.
func either(a, b string) string { return strings.TrimPrefix(a+"|"+b, "|") }

// whyReached returns what of the change reaches a package: itself or a package that it imports. A
// change further away is seen by the package between the two.
func whyReached(f folder, changed []string) string {
	if slices.Contains(changed, f.name) {
		return "changed"
	}
	for _, name := range f.imports {
		if slices.Contains(changed, name) {
			return "imports " + name
		}
	}
	return ""
}
