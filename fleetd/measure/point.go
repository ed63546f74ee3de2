package measure

import "time"

// Lengths of what one point covers, in seconds.
const (
	MinuteS  = 60
	QuarterS = 15 * MinuteS
)

// Aggregate is what is kept of the values of one series in one interval.
type Aggregate struct {
	Count    int64 // of values; 0 = none
	Min, Max float64
	Sum      float64
}

// Mean is the mean of the values; there must be one.
func (a Aggregate) Mean() float64 { return a.Sum / float64(a.Count) }

// Add adds one value.
func (a *Aggregate) Add(v float64) { a.Join(Aggregate{1, v, v, v}) }

// Join adds the values of another aggregate.
func (a *Aggregate) Join(b Aggregate) {
	switch {
	case b.Count == 0:
	case a.Count == 0:
		*a = b
	default:
		a.Count, a.Sum = a.Count+b.Count, a.Sum+b.Sum
		a.Min, a.Max = min(a.Min, b.Min), max(a.Max, b.Max)
	}
}

// Values are one aggregate for each series.
type Values [SeriesCount]Aggregate

// Count is how many values all series have.
func (v *Values) Count() (n int64) {
	for _, a := range v {
		n += a.Count
	}
	return n
}

// Join adds the values of another interval.
func (v *Values) Join(w Values) {
	for i := range v {
		v[i].Join(w[i])
	}
}

// Point is what was measured in one interval.
type Point struct {
	Start int64 // Unix seconds
	Values
}

// Time is when the interval begins.
func (p Point) Time() time.Time { return time.Unix(p.Start, 0).UTC() }

// Minute is the point of one robot and minute.
type Minute struct {
	Robot string
	Point
}

// MinuteOf is the beginning of the minute of t, in Unix seconds.
func MinuteOf(t time.Time) int64 { return floor(t.Unix(), MinuteS) }

func floor(t, length int64) int64 {
	if rest := t % length; rest < 0 {
		return t - rest - length
	}
	return t - t%length
}

// Union joins two lists of points in the order of time. If both have a point of one interval, the one with more values stays:
// either the other one is an earlier version of it, or two instances of fleetd measured the same.
func Union(a, b []Point) []Point {
	out := make([]Point, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Start < b[0].Start:
			out, a = append(out, a[0]), a[1:]
		case b[0].Start < a[0].Start:
			out, b = append(out, b[0]), b[1:]
		default:
			more := a[0]
			if b[0].Count() > a[0].Count() {
				more = b[0]
			}
			out, a, b = append(out, more), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Buckets joins points, in the order of time, into intervals of that many seconds. An interval without values has no point.
func Buckets(points []Point, lengthS int64) []Point {
	var out []Point
	for _, p := range points {
		start := floor(p.Start, lengthS)
		if len(out) == 0 || out[len(out)-1].Start != start {
			out = append(out, Point{Start: start})
		}
		out[len(out)-1].Join(p.Values)
	}
	return out
}

// roundLengths are lengths of intervals that people read easily, in seconds.
var roundLengths = []int64{60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400}

// BucketLength is the least round length of intervals of which a time of that many seconds has at most so many, and which
// is a multiple of the length of the points.
func BucketLength(seconds, points, lengthS int64) int64 {
	for _, l := range roundLengths {
		if l%lengthS == 0 && (seconds+l-1)/l <= points {
			return l
		}
	}
	const day = 86400
	return (seconds/points + day) / day * day
}
