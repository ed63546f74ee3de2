package site

import (
	"fmt"
	"slices"
	"time"
)

// Instants returns when clocks of a zone show the date and the time of day of wall, whose own zone does not count: once on
// most days; never if they skip it, as when summer time begins; twice if they are put back over it.
func Instants(wall time.Time, zone *time.Location) (all []time.Time) {
	wall = time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, time.UTC)
	for _, near := range []time.Duration{-26 * time.Hour, 26 * time.Hour} {
		_, offset := wall.Add(near).In(zone).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		if _, there := at.In(zone).Zone(); there == offset && !slices.ContainsFunc(all, at.Equal) {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// First is the first of Instants; if clocks skip the time of day, when they do.
func First(wall time.Time, zone *time.Location) time.Time {
	if all := Instants(wall, zone); len(all) > 0 {
		return all[0]
	}
	wall = time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, time.UTC)
	_, offset := wall.Add(-26 * time.Hour).In(zone).Zone()
	skipped, _ := wall.Add(-time.Duration(offset) * time.Second).In(zone).ZoneBounds()
	return skipped.UTC()
}

// ClockChange says how clocks of a zone change between two instants; empty if they do not.
func ClockChange(from, to time.Time, zone *time.Location) string {
	_, change := from.In(zone).ZoneBounds()
	if change.IsZero() || !change.Before(to) {
		return ""
	}
	_, before := change.Add(-time.Second).In(zone).Zone()
	_, after := change.In(zone).Zone()
	if before == after { // only the name of the zone changes
		return ClockChange(change, to, zone)
	}
	shown := change.UTC().Add(time.Duration(before) * time.Second)
	put := "forward"
	if after < before {
		put = "back"
	}
	return fmt.Sprintf("clocks are put %s from %s to %s", put, shown.Format("15:04"), change.In(zone).Format("15:04"))
}
