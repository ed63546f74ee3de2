package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/measure"
)

const (
	hourS = 3600
	dayS  = 24 * hourS
	// foldAtOnce bounds the robots of one transaction of FoldMeasurements, each of which has 60 rows.
	foldAtOnce = 10
)

// measuredMinute is a row of measurement_minutes.
type measuredMinute struct {
	minute  int64
	robot   string
	samples int64
	points  []byte
}

var minuteColumns = []column[measuredMinute]{
	number("minute", func(m measuredMinute) int64 { return m.minute }),
	text("robot", func(m measuredMinute) string { return m.robot }),
	number("samples", func(m measuredMinute) int64 { return m.samples }),
	binary("points", func(m measuredMinute) []byte { return m.points }),
}

func scanMinute(scan func(...any) error) (m measuredMinute, err error) {
	return m, scan(&m.minute, &m.robot, &m.samples, &m.points)
}

const selectMinutes = `SELECT minute, robot, samples, points FROM measurement_minutes`

// AddMeasurements writes minutes of robots of the fleet, and leaves out those of others. A minute that the database has with
// as many values or more stays. It returns how many rows it wrote.
func (s *Store) AddMeasurements(ctx context.Context, minutes []measure.Minute) (n int64, err error) {
	rows := make([]measuredMinute, len(minutes))
	for i, m := range minutes {
		rows[i] = measuredMinute{m.Start, m.Robot, m.Count(), measure.Pack([]measure.Point{m.Point}, m.Start, measure.MinuteS)}
	}
	err = s.plainTx(ctx, func(tx *Tx) error {
		n, err = writeRows(ctx, tx, rows, minuteColumns, `INSERT INTO measurement_minutes (minute, robot, samples, points)
			SELECT minute, robot, samples, points FROM given WHERE EXISTS (SELECT 1 FROM robots WHERE id = given.robot AND archived_at = 0)
			ON CONFLICT (minute, robot) DO UPDATE SET samples = excluded.samples, points = excluded.points
			WHERE measurement_minutes.samples < excluded.samples`)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("write measurements: %w", err)
	}
	return n, nil
}

// FoldMeasurements moves the minutes of one hour that ended at or before then into rows with all minutes of an hour and all
// quarter hours of a day. It writes in several short transactions and calls pause after each; it ends early if that reports
// false. It returns how many minutes it moved, 0 if there was none.
func (s *Store) FoldMeasurements(ctx context.Context, then time.Time, pause func() bool) (n int64, err error) {
	var oldest int64
	if err := s.queryRow(ctx, `SELECT COALESCE(MIN(minute), 0) FROM measurement_minutes`).Scan(&oldest); err != nil {
		return 0, fmt.Errorf("look for measurements to fold: %w", err)
	}
	hour := oldest - oldest%hourS
	if oldest == 0 || hour+hourS > then.Unix() {
		return 0, nil
	}
	all, err := queryAll(ctx, s.reads, scanMinute, selectMinutes+` WHERE minute >= $1 AND minute < $2 ORDER BY minute`, hour, hour+hourS)
	if err != nil {
		return 0, fmt.Errorf("read measurements to fold: %w", err)
	}
	slices.SortStableFunc(all, func(a, b measuredMinute) int { return strings.Compare(a.robot, b.robot) })
	for len(all) > 0 {
		end, robots := 0, 0
		for ; end < len(all); end++ {
			if end == 0 || all[end].robot != all[end-1].robot {
				if robots++; robots > foldAtOnce {
					break
				}
			}
		}
		if err := s.plainTx(ctx, func(tx *Tx) error { return tx.fold(ctx, hour, all[:end]) }); err != nil {
			return n, fmt.Errorf("fold measurements: %w", err)
		}
		n, all = n+int64(end), all[end:]
		if !pause() {
			break
		}
	}
	return n, nil
}

// packed is a row of measurement_hours or measurement_days.
type packed struct {
	robot  string
	start  int64
	points []byte
}

var packedColumns = []column[packed]{
	text("robot", func(p packed) string { return p.robot }),
	number("start", func(p packed) int64 { return p.start }),
	binary("points", func(p packed) []byte { return p.points }),
}

func scanPacked(scan func(...any) error) (p packed, err error) {
	return p, scan(&p.robot, &p.start, &p.points)
}

// fold moves minutes of one hour, sorted by robot. Minutes that the tables have already stay if they have as many values.
func (t *Tx) fold(ctx context.Context, hour int64, minutes []measuredMinute) error {
	day := hour - hour%dayS
	var hours, days []packed
	for some := range byRobot(minutes) {
		robot := some[0].robot
		fresh, err := minutePoints(some)
		if err != nil {
			return fmt.Errorf("robot %s: %w", robot, err)
		}
		old, err := t.packedPoints(ctx, `SELECT robot, hour, points FROM measurement_hours WHERE robot = $1 AND hour = $2`, measure.MinuteS, robot, hour)
		if err != nil {
			return err
		}
		ofHour := measure.Union(old, fresh)
		hours = append(hours, packed{robot, hour, measure.Pack(ofHour, hour, measure.MinuteS)})
		if old, err = t.packedPoints(ctx, `SELECT robot, day, points FROM measurement_days WHERE robot = $1 AND day = $2`, measure.QuarterS, robot, day); err != nil {
			return err
		}
		ofDay := measure.Union(old, measure.Buckets(ofHour, measure.QuarterS))
		days = append(days, packed{robot, day, measure.Pack(ofDay, day, measure.QuarterS)})
	}
	for _, write := range []struct {
		query string
		rows  []packed
	}{
		{`INSERT INTO measurement_hours (robot, hour, points) SELECT robot, start, points FROM given WHERE true
			ON CONFLICT (robot, hour) DO UPDATE SET points = excluded.points`, hours},
		{`INSERT INTO measurement_days (robot, day, points) SELECT robot, start, points FROM given WHERE true
			ON CONFLICT (robot, day) DO UPDATE SET points = excluded.points`, days},
	} {
		if _, err := writeRows(ctx, t, write.rows, packedColumns, write.query); err != nil {
			return err
		}
	}
	// A minute that got more values meanwhile stays for the next time.
	_, err := writeRows(ctx, t, minutes, minuteColumns[:3], `DELETE FROM measurement_minutes
		WHERE (minute, robot) IN (SELECT minute, robot FROM given)
		AND samples = (SELECT samples FROM given WHERE given.minute = measurement_minutes.minute AND given.robot = measurement_minutes.robot)`)
	return err
}

// byRobot yields the rows of each robot; they are sorted by robot.
func byRobot(rows []measuredMinute) func(yield func([]measuredMinute) bool) {
	return func(yield func([]measuredMinute) bool) {
		for len(rows) > 0 {
			n := slices.IndexFunc(rows, func(m measuredMinute) bool { return m.robot != rows[0].robot })
			if n < 0 {
				n = len(rows)
			}
			if !yield(rows[:n]) {
				return
			}
			rows = rows[n:]
		}
	}
}

func minutePoints(rows []measuredMinute) (all []measure.Point, err error) {
	for _, m := range rows {
		points, err := measure.Unpack(m.points, m.minute, measure.MinuteS)
		if err != nil {
			return nil, err
		}
		all = append(all, points...)
	}
	return all, nil
}

// packedPoints returns the points of rows that a query selects.
func (r reads) packedPoints(ctx context.Context, query string, lengthS int64, args ...any) (all []measure.Point, err error) {
	rows, err := queryAll(ctx, r, scanPacked, query, args...)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		points, err := measure.Unpack(row.points, row.start, lengthS)
		if err != nil {
			return nil, fmt.Errorf("robot %s: %w", row.robot, err)
		}
		all = append(all, points...)
	}
	return all, nil
}

// openMinutes bounds how many minutes are looked up one by one in the table of minutes.
const openMinutes = 300

// Measurements lists the points of a robot in the order of time that begin at or after since and before until: a point for
// each minute, or with quarters for each 15 minutes.
func (r reads) Measurements(ctx context.Context, robot string, since, until time.Time, quarters bool) ([]measure.Point, error) {
	first, last := since.Unix(), until.Unix()
	length, row, query := int64(measure.MinuteS), int64(hourS), `SELECT robot, hour, points FROM measurement_hours WHERE robot = $1 AND hour >= $2 AND hour < $3 ORDER BY hour`
	if quarters {
		length, row, query = measure.QuarterS, dayS, `SELECT robot, day, points FROM measurement_days WHERE robot = $1 AND day >= $2 AND day < $3 ORDER BY day`
	}
	folded, err := r.packedPoints(ctx, query, length, robot, first-first%row, last)
	if err != nil {
		return nil, fmt.Errorf("read measurements of %s: %w", robot, err)
	}
	open, err := r.openMinutes(ctx, robot, first-first%length, last)
	if err != nil {
		return nil, fmt.Errorf("read the newest measurements of %s: %w", robot, err)
	}
	if quarters {
		open = measure.Buckets(open, length)
	}
	return slices.DeleteFunc(measure.Union(folded, open), func(p measure.Point) bool { return p.Start < first || p.Start >= last }), nil
}

// openMinutes lists the points of a robot that no row of an hour has yet.
func (r reads) openMinutes(ctx context.Context, robot string, first, last int64) ([]measure.Point, error) {
	var oldest, newest int64
	if err := r.queryRow(ctx, `SELECT COALESCE(MIN(minute), 0), COALESCE(MAX(minute), 0) FROM measurement_minutes`).Scan(&oldest, &newest); err != nil {
		return nil, err
	}
	first, last = max(first-first%measure.MinuteS, oldest), min(last, newest+1)
	if first >= last {
		return nil, nil
	}
	query := selectMinutes + ` WHERE minute >= $1 AND minute < $2 AND robot = $3 ORDER BY minute`
	if (last-first)/measure.MinuteS <= openMinutes { // the key begins with the minute: this finds the rows of one robot without reading all
		query = `WITH RECURSIVE wanted (at) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT at + 60 FROM wanted WHERE at + 60 < $2)
			SELECT m.minute, m.robot, m.samples, m.points FROM wanted JOIN measurement_minutes m ON m.minute = wanted.at AND m.robot = $3 ORDER BY m.minute`
	}
	rows, err := queryAll(ctx, r, scanMinute, query, first, last, robot)
	if err != nil {
		return nil, err
	}
	return minutePoints(rows)
}

// FleetMeasurements calls take with the points of all robots that begin at or after since and before until, in no order: one
// for each 15 minutes, and one for each minute of the hour that is not over.
func (r reads) FleetMeasurements(ctx context.Context, since, until time.Time, take func(robot string, p measure.Point)) error {
	first, last := since.Unix(), until.Unix()
	each := func(robot string, points []measure.Point) {
		for _, p := range points {
			if p.Start >= first && p.Start < last {
				take(robot, p)
			}
		}
	}
	// They are taken while they are read: all rows together need much memory.
	_, err := queryAll(ctx, r, func(scan func(...any) error) (none struct{}, err error) {
		row, err := scanPacked(scan)
		if err != nil {
			return none, err
		}
		points, err := measure.Unpack(row.points, row.start, measure.QuarterS)
		if err != nil {
			return none, fmt.Errorf("robot %s: %w", row.robot, err)
		}
		each(row.robot, points)
		return none, nil
	}, `SELECT robot, day, points FROM measurement_days WHERE day >= $1 AND day < $2`, first-first%dayS, last)
	if err != nil {
		return fmt.Errorf("read measurements of the fleet: %w", err)
	}
	_, err = queryAll(ctx, r, func(scan func(...any) error) (none struct{}, err error) {
		row, err := scanMinute(scan)
		if err != nil {
			return none, err
		}
		points, err := minutePoints([]measuredMinute{row})
		each(row.robot, points)
		return none, err
	}, selectMinutes+` WHERE minute >= $1 AND minute < $2`, first, last)
	if err != nil {
		return fmt.Errorf("read the newest measurements of the fleet: %w", err)
	}
	return nil
}

const (
	oldMeasuredHours = `DELETE FROM measurement_hours WHERE (robot, hour) IN (SELECT robot, hour FROM measurement_hours WHERE hour < $1 ORDER BY hour LIMIT $2)`
	oldMeasuredDays  = `DELETE FROM measurement_days WHERE (robot, day) IN (SELECT robot, day FROM measurement_days WHERE day < $1 ORDER BY day LIMIT $2)`
)

// PruneMinuteMeasurements deletes up to limit rows of hours that ended before then.
func (s *Store) PruneMinuteMeasurements(ctx context.Context, then time.Time, limit int) (int64, error) {
	return s.prune(ctx, "measurements", oldMeasuredHours, then.Unix()-hourS, limit)
}

// PruneQuarterMeasurements deletes up to limit rows of days that ended before then.
func (s *Store) PruneQuarterMeasurements(ctx context.Context, then time.Time, limit int) (int64, error) {
	return s.prune(ctx, "measurements of earlier days", oldMeasuredDays, then.Unix()-dayS, limit)
}

// deleteMeasurements deletes what was measured of a robot.
func (t *Tx) deleteMeasurements(ctx context.Context, robot string) error {
	for _, table := range []string{"measurement_minutes", "measurement_hours", "measurement_days"} {
		if _, err := t.exec(ctx, `DELETE FROM `+table+` WHERE robot = $1`, robot); err != nil {
			return fmt.Errorf("delete the measurements of %s: %w", robot, err)
		}
	}
	return nil
}
