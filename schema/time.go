package schema

import (
	"fmt"
	"time"
)

// Time is a time in milliseconds since 1970 UTC; on the wire RFC 3339 in UTC with
// milliseconds. Zero means that no time is given.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// TimeOf truncates t to milliseconds.
func TimeOf(t time.Time) Time { return Time(t.UnixMilli()) }

// Time returns t in UTC.
func (t Time) Time() time.Time { return time.UnixMilli(int64(t)).UTC() }

// Sub returns the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t-u) * time.Millisecond }

// Add returns t+d.
func (t Time) Add(d time.Duration) Time { return t + Time(d/time.Millisecond) }

func (t Time) String() string { return t.Time().Format(timeLayout) }

// MarshalText returns the wire form.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText parses any RFC 3339 time of the years 1970 to 9999.
func (t *Time) UnmarshalText(b []byte) error {
	v, err := time.Parse(time.RFC3339Nano, string(b))
	if year := v.UTC().Year(); err != nil || year < 1970 || year > 9999 {
		return fmt.Errorf("%q is not a time such as 2026-01-31T09:30:00.000Z", b)
	}
	*t = TimeOf(v)
	return nil
}
