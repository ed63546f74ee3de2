package measure

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A packed list of points is one byte for the version, and for each point
//
//	uvarint   intervals since the point before it, or since the beginning of the row
//	uvarint   two bits for each series: whether it has values, and whether they differ
//
// and for each series with values
//
//	uvarint   how many
//	varint    mean, in steps, minus the mean of the point before that has the series
//	uvarint   mean minus least, and greatest minus mean, in steps; left out if all values are the same
const packVersion = 1

// Pack packs points in the order of time. start is where the row begins, and length how long the interval of a point is, both
// in seconds.
func Pack(points []Point, start, lengthS int64) []byte {
	out := append(make([]byte, 0, 1+24*len(points)), packVersion)
	var means [SeriesCount]int64
	before := start - lengthS
	for _, p := range points {
		var mask uint64
		var steps [SeriesCount]struct{ mean, below, above int64 }
		for i, a := range p.Values {
			if a.Count == 0 {
				continue
			}
			s := &steps[i]
			s.mean = inSteps(Series(i), a.Mean())
			s.below, s.above = max(0, s.mean-inSteps(Series(i), a.Min)), max(0, inSteps(Series(i), a.Max)-s.mean)
			mask |= 1 << (2 * i)
			if s.below > 0 || s.above > 0 {
				mask |= 2 << (2 * i)
			}
		}
		out = binary.AppendUvarint(out, uint64((p.Start-before)/lengthS-1))
		out = binary.AppendUvarint(out, mask)
		before = p.Start
		for i, a := range p.Values {
			if a.Count == 0 {
				continue
			}
			s := steps[i]
			out = binary.AppendUvarint(out, uint64(a.Count))
			out = binary.AppendVarint(out, s.mean-means[i])
			means[i] = s.mean
			if mask&(2<<(2*i)) != 0 {
				out = binary.AppendUvarint(out, uint64(s.below))
				out = binary.AppendUvarint(out, uint64(s.above))
			}
		}
	}
	return out
}

// mostSteps keeps any value within what adds up without an overflow.
const mostSteps = 1 << 40

func inSteps(s Series, v float64) int64 {
	return int64(math.Round(min(max(v*Table[s].perUnit, -mostSteps), mostSteps)))
}

// Unpack returns the points of a packed list.
func Unpack(row []byte, start, lengthS int64) (points []Point, err error) {
	if len(row) == 0 || row[0] != packVersion {
		return nil, fmt.Errorf("measurements of another version of fleetd")
	}
	r := reader{rest: row[1:]}
	var means [SeriesCount]int64
	at := start - lengthS
	for len(r.rest) > 0 && !r.broken {
		at += int64(r.uvarint()+1) * lengthS
		mask := r.uvarint()
		p := Point{Start: at}
		for i := 0; i < 32 && mask != 0; i, mask = i+1, mask>>2 {
			if mask&1 == 0 {
				continue
			}
			count, change := int64(r.uvarint()), r.varint()
			var below, above int64
			if mask&2 != 0 {
				below, above = int64(r.uvarint()), int64(r.uvarint())
			}
			if i >= SeriesCount { // of a later version of fleetd
				continue
			}
			means[i] += change
			per := Table[i].perUnit
			mean := float64(means[i]) / per
			p.Values[i] = Aggregate{count, float64(means[i]-below) / per, float64(means[i]+above) / per, mean * float64(count)}
		}
		points = append(points, p)
	}
	if r.broken {
		return nil, fmt.Errorf("measurements cannot be read: a row of %d bytes is damaged", len(row))
	}
	return points, nil
}

type reader struct {
	rest   []byte
	broken bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.rest, r.broken = nil, true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.rest, r.broken = nil, true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}
