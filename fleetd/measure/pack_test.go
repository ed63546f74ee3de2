package measure_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"troupe/fleetd/measure"
)

// drawPoints draws points of some of the intervals of a row, with values as large as they may be.
func drawPoints(t *rapid.T, start, length int64, intervals int) (points []measure.Point) {
	for i := range intervals {
		if !rapid.Bool().Draw(t, "there") {
			continue
		}
		p := measure.Point{Start: start + int64(i)*length}
		for s := range p.Values {
			for range rapid.IntRange(0, 3).Draw(t, "values") {
				p.Values[s].Add(rapid.Float64Range(-40, 100_000).Draw(t, "value"))
			}
		}
		points = append(points, p)
	}
	return points
}

// steps are the least differences that the packed form keeps.
var steps = measure.Values{measure.Battery: {Min: 0.1}, measure.Temperature: {Min: 0.1}, measure.LoopLateness: {Min: 0.1},
	measure.RoundTrip:    {Min: 0.1},
	measure.HeartbeatGap: {Min: 10}, measure.SilenceBudget: {Min: 10}, measure.Speed: {Min: 0.001}}

func TestPackedPointsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := drawPoints(t, 7200, 60, 10)
		row := measure.Pack(points, 7200, 60)
		got, err := measure.Unpack(row, 7200, 60)
		if err != nil || len(got) != len(points) {
			t.Fatalf("%d points of %d, %v", len(got), len(points), err)
		}
		for i, p := range points {
			if got[i].Start != p.Start {
				t.Fatalf("point %d begins at %d, want %d", i, got[i].Start, p.Start)
			}
			for s, w := range p.Values {
				g, within := got[i].Values[s], steps[s].Min*0.51
				if g.Count != w.Count {
					t.Fatalf("%v has %d values, want %d", measure.Series(s), g.Count, w.Count)
				}
				if w.Count > 0 && (math.Abs(g.Mean()-w.Mean()) > within || math.Abs(g.Min-w.Min) > within || math.Abs(g.Max-w.Max) > within) {
					t.Fatalf("%v is %+v, want %+v", measure.Series(s), g, w)
				}
			}
		}
		if again := measure.Pack(got, 7200, 60); string(again) != string(row) {
			t.Fatal("packing it again changes the row")
		}
		if len(row) > 1 {
			for _, bad := range [][]byte{nil, append([]byte{9}, row[1:]...), row[:len(row)-1]} {
				if points, err := measure.Unpack(bad, 7200, 60); err == nil && len(points) >= len(got) {
					t.Fatalf("a damaged row is read: %v", bad)
				}
			}
		}
	})
}

func TestBucketsKeepCountsAndExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := drawPoints(t, 7200, 60, 40)
		buckets := measure.Buckets(points, 900)
		var all, joined measure.Values
		for _, p := range points {
			all.Join(p.Values)
		}
		for i, b := range buckets {
			if b.Start%900 != 0 || i > 0 && b.Start <= buckets[i-1].Start {
				t.Fatalf("bucket %d begins at %d", i, b.Start)
			}
			joined.Join(b.Values)
		}
		for s, w := range all {
			if g := joined[s]; g.Count != w.Count || g.Min != w.Min || g.Max != w.Max || math.Abs(g.Sum-w.Sum) > 1e-3 {
				t.Fatalf("%v is %+v, want %+v", measure.Series(s), g, w)
			}
		}
		if got := measure.Union(points, points); len(got) != len(points) {
			t.Fatalf("%d points joined with themselves are %d", len(points), len(got))
		}
	})
}

func TestBucketLengths(t *testing.T) {
	for _, c := range []struct{ seconds, points, length, want int64 }{
		{3600, 300, 60, 60}, {86400, 300, 60, 300}, {7 * 86400, 300, 60, 3600}, {365 * 86400, 300, 900, 2 * 86400},
		{365 * 86400, 40000, 900, 900},
		{86400, 300, 900, 900}, {61, 1, 60, 120}, {365 * 86400, 10, 900, 37 * 86400},
	} {
		got := measure.BucketLength(c.seconds, c.points, c.length)
		if got != c.want || (c.seconds+got-1)/got > c.points {
			t.Errorf("%d s in %d points are %d s each, want %d", c.seconds, c.points, got, c.want)
		}
	}
}
