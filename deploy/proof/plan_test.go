package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/deploy/shard"
	"troupe/deploy/times"
)

// some are folders of each kind of layer.
var some = []folder{
	{name: "schema", hasTests: true},
	{name: "robotd/safety", hasTests: true, imports: []string{"schema"}},
	{name: "robotd/mode", hasTests: true, imports: []string{"schema"}},
	{name: "broker/link", hasTests: true, imports: []string{"schema"}},
	{name: "broker/server", hasTests: true, imports: []string{"schema", "broker/link"}},
	{name: "fleetd/store", hasTests: true},
	{name: "fleetd/fleet", hasTests: true, imports: []string{"fleetd/store", "broker/server"}},
	{name: "fleetd/cli", hasTests: true, imports: []string{"fleetd/fleet"}},
	{name: "schema/gen"},
	{name: "deploy/e2e", hasTests: true},
	{name: "deploy", hasTests: true},
}

// where returns the runs that have a test, by what they do.
func (p plan) where(folder, test string) (runs []string) {
	for _, r := range p.runs {
		if r.has(folder, test) {
			what := "plain"
			if r.race {
				what = "race"
			}
			runs = append(runs, what)
		}
	}
	return runs
}

func TestEachTestRunsOnceInEachShard(t *testing.T) {
	for s := range shard.Shard(shard.Count) {
		p, err := newPlan(some, []string{"broker/link"}, false, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range some {
			for _, test := range []string{"TestStop", "TestScripts", "TestDemoStarts"} {
				if runs := p.where(f.name, test); f.hasTests && len(runs) != 1 || !f.hasTests && len(runs) != 0 {
					t.Errorf("shard %v runs %s %s in %v", s, f.name, test, runs)
				}
			}
		}
	}
}

func TestWhatRunsAtOnceIsRacedIfTheChangeReachesItOrInItsShard(t *testing.T) {
	raced := map[string]int{}
	for s := range shard.Shard(shard.Count) {
		p, err := newPlan(some, []string{"broker/link"}, false, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range some {
			if slices.Equal(p.where(f.name, "TestStop"), []string{"race"}) {
				raced[f.name]++
			}
		}
	}
	want := map[string]int{"broker/link": 5, "broker/server": 5, "fleetd/store": 1, "fleetd/fleet": 1, "fleetd/cli": 1}
	for _, f := range some {
		if raced[f.name] != want[f.name] {
			t.Errorf("%s is raced in %d shards, want %d", f.name, raced[f.name], want[f.name])
		}
	}
}

func TestTestsOfTheShardTogetherAreThoseOfEveryShard(t *testing.T) {
	exist := []test{{endToEnd, "TestStop"}, {endToEnd, "TestEarlierRobotWorks"}, {endToEnd, "TestDemo"}, {"fleetd/cli", "TestScripts"},
		{"schema", "TestFields"}}
	variants := map[string][]string{"TestStop": {"ownBroker", "postgres", "mosquitto"}}
	of := func(s shard.Shard) []string {
		p, err := newPlan(some, nil, false, s)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, name := range p.tests(exist, variants) {
			names = append(names, strings.TrimSuffix(name, " (race)"))
		}
		return names
	}
	var union []string
	for s := range shard.Shard(shard.Count) {
		union = append(union, of(s)...)
	}
	slices.Sort(union)
	if union, every := slices.Compact(union), of(shard.Every); !slices.Equal(union, every) || len(every) != 7 {
		t.Errorf("the shards have\n%q, and all at once\n%q", union, every)
	}
}

func TestFolderWithoutLayerIsRefused(t *testing.T) {
	if _, err := newPlan([]folder{{name: "robotd/dance", hasTests: true}}, nil, false, 0); err == nil {
		t.Error("a folder in no layer is left out silently")
	}
}

func TestFailedTestRunsAgainAsItRan(t *testing.T) {
	p, err := newPlan(some, []string{"fleetd/cli"}, false, 3)
	if err != nil {
		t.Fatal(err)
	}
	for test, race := range map[string]bool{"TestScripts": false, "TestWatch": true} {
		again := p.again("^"+test+"$", "fleetd/cli")
		if len(again.runs) != 1 || again.runs[0].race != race || again.runs[0].only != "^"+test+"$" ||
			!slices.Equal(again.runs[0].packages, []string{"fleetd/cli"}) {
			t.Errorf("%s runs again in %+v", test, again.runs)
		}
	}
}

func TestFilesBelongToTheNearestPackage(t *testing.T) {
	got := foldersOf([]string{"README.md", "broker/server/limits.go", "broker/server/testdata/a/b.golden", "robotd/safety/step.go",
		"docs/operate.md"}, some)
	if want := []string{"broker/server", "robotd/safety"}; !slices.Equal(got, want) {
		t.Errorf("the files belong to %q, want %q", got, want)
	}
}

func TestVariantsAreReadFromTheSources(t *testing.T) {
	at := t.TempDir()
	text := `package e2e
var anyBroker = []variant{ownBroker, mosquitto}
func TestOne(t *testing.T) { runIn(t, anyBroker, func(w *world) {}) }
func TestTwo(t *testing.T) { runIn(t, []variant{postgres}, func(w *world) {}) }
func TestThree(t *testing.T) {}
`
	if err := os.WriteFile(filepath.Join(at, "a_test.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readVariants(at)
	if err != nil || len(got) != 2 || !slices.Equal(got["TestOne"], []string{"ownBroker", "mosquitto"}) ||
		!slices.Equal(got["TestTwo"], []string{"postgres"}) {
		t.Errorf("the variants are %v, %v", got, err)
	}
}

func TestGrowthOfATargetIsNamedOnAnyMachine(t *testing.T) {
	recorded := times.All{{Kind: times.Target, Name: "check", CPU: 100 * time.Second},
		{Kind: times.Target, Name: "specs", CPU: 200 * time.Second}, {Kind: times.Target, Name: "test", CPU: 400 * time.Second}}
	now := times.All{{Kind: times.Target, Name: "check", CPU: 240 * time.Second}, {Kind: times.Target, Name: "specs", CPU: 700 * time.Second},
		{Kind: times.Target, Name: "test", CPU: 960 * time.Second}}
	var out strings.Builder
	report(&out, now, recorded, "0123456789abcdef")
	for line := range strings.Lines(out.String()) {
		if grew := strings.Contains(line, "GREW"); grew != strings.Contains(line, "specs") {
			t.Errorf("of a machine 2.4 times slower: %s", line)
		}
	}
	if !strings.Contains(out.String(), "2.40 times") {
		t.Errorf("the report does not say how fast the machine is:\n%s", out.String())
	}
}

func TestOneShardMeasuresGrowthAndItsPlanSaysSo(t *testing.T) {
	var says []shard.Shard
	for s := range shard.Shard(shard.Count) {
		var out strings.Builder
		plan{shard: s}.print(&out)
		if strings.Contains(out.String(), "make bench-quick") {
			says = append(says, s)
		}
	}
	if len(says) != 1 || !says[0].Has(growthShard) {
		t.Errorf("the plans of shards %v have make bench-quick", says)
	}
}
