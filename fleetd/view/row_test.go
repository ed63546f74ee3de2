package view_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/view"
	"troupe/schema"
)

// pages are feeds of as many open pages.
type pages []*view.Feed

func (f *fleet) open(n int) (p pages) {
	for range n {
		p = append(p, f.Subscribe(view.AllButFresh, 0))
	}
	return p
}

func (p pages) close() {
	for _, feed := range p {
		feed.Close()
	}
}

// counts are what all pages were sent.
type counts struct {
	rows    int            // sent to the pages together
	encoded map[*byte]bool // first bytes of the rows as JSON: rows that were encoded together have one
	bytes   int
}

// send hands what changed to each page, as the API does.
func (p pages) send(t testing.TB) counts {
	t.Helper()
	c := counts{encoded: map[*byte]bool{}}
	for _, feed := range p {
		deltas, err := feed.Next(context.Background(), time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range deltas {
			body, err := d.Row.CompactJSON()
			if err != nil {
				t.Fatal(err)
			}
			c.rows++
			c.encoded[&body[0]] = true
			c.bytes += len(body)
		}
	}
	return c
}

// A list and a page show the same version of a robot, until it changes.
func TestListsAndPagesShareRows(t *testing.T) {
	f := newFleet(t, 3)
	p := f.open(1)
	defer p.close()
	f.state("r1", schema.SafetyEnabled)
	first := f.Robots()
	deltas, err := p[0].Next(t.Context(), time.Second)
	if err != nil || len(deltas) != 1 || deltas[0].Row != first[1] || f.Robots()[1] != first[1] {
		t.Fatalf("%v: the page got %+v, the list has %p", err, deltas, first[1])
	}
	f.state("r1", schema.SafetyDisabled)
	if next := f.Robots(); next[1] == first[1] || next[1].Safety != schema.SafetyDisabled || first[1].Safety != schema.SafetyEnabled ||
		next[0] != first[0] {
		t.Errorf("after a change of r1 the list has %+v", next)
	}
}

func TestRowReadsAsItsRobotInJSON(t *testing.T) {
	f := newFleet(t, 1)
	f.robots[0].Labels = map[string]string{"hall": "<a & b>"}
	f.robots[0].Story, f.robots[0].StoryRev, f.robots[0].SHA256 = "show", 2, strings.Repeat("a", 64)
	f.reload()
	row := f.Robots()[0]
	want, err := json.Marshal(row.Robot)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(row); err != nil || string(got) != string(want) { // in lists
		t.Errorf("the row in a list is encoded as %s, its robot as %s (%v)", got, want, err)
	}
	less := row.Robot
	less.StateAt, less.Presence.Why, less.Desired.Story = 0, "", &schema.StoryRef{ID: "show", Rev: 2}
	less.Desired.DesiredRev, less.Desired.ReportedRev = 0, 0
	short, err := json.Marshal(less)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := row.CompactJSON(); err != nil || string(got) != string(short) {
		t.Errorf("the row is encoded as %s, want %s (%v)", got, short, err)
	}
	if row.Desired.Story.SHA256 == "" {
		t.Error("encoding a row changed it")
	}
}

// BenchmarkPages is what 50 open pages of 10,000 robots cost: a round of heartbeats, and the
// change of one robot.
func BenchmarkPages(b *testing.B) {
	const robots, open = 10_000, 50
	for _, c := range []struct {
		name    string
		happens func(f *fleet, i int)
	}{
		{"heartbeats", func(f *fleet, _ int) { f.beat() }},
		{"change", func(f *fleet, i int) {
			f.state("r3", []schema.SafetyState{schema.SafetyEnabled, schema.SafetyDisabled}[i%2])
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			f := newFleet(b, robots)
			p := f.open(open)
			defer p.close()
			c.happens(f, 1)
			p.send(b)
			var sum counts
			b.ResetTimer()
			for i := range b.N {
				b.StopTimer()
				c.happens(f, i)
				b.StartTimer()
				got := p.send(b)
				sum.rows, sum.bytes = sum.rows+got.rows, sum.bytes+got.bytes
				b.ReportMetric(float64(len(got.encoded)), "rows-encoded")
			}
			b.ReportMetric(float64(sum.rows)/float64(b.N*open), "rows/page")
			b.ReportMetric(float64(sum.bytes)/float64(b.N*open), "bytes/page")
		})
	}
}
