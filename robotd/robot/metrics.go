package robot

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"troupe/robotd/driver"
	"troupe/robotd/event"
	"troupe/robotd/identity"
	"troupe/robotd/page"
	"troupe/robotd/report"
	"troupe/schema"
	"troupe/schema/host"
	"troupe/schema/metric"
)

// shortTimes are the buckets of what a loop with a period of 20 ms does, in seconds.
var shortTimes = []float64{.0001, .0005, .001, .0025, .005, .01, .02, .05, .1, .25, .5, 1}

// Metrics are robotd's metrics.
var Metrics = metric.Table{Prefix: "troupe_robotd_", Rows: []metric.Row{
	{Name: "build_info", Type: metric.Gauge, Labels: []string{"robot", "version"}, Help: "Name of the robot and version of robotd; always 1."},
	{Name: "waiting_for_body", Type: metric.Gauge,
		Help: "Whether robotd waits for its body; until it has one there is nothing of the robot's state."},
	{Name: "answers", Type: metric.Gauge, Help: "Whether the control loop answers; if not, there is nothing of the robot's state."},

	{Name: "loop_lateness_seconds", Type: metric.Histogram, Unit: "seconds", Buckets: shortTimes,
		Help: "By how much the periods of the control loop began late."},
	{Name: "loop_deadlines_missed_total", Type: metric.Counter,
		Help: "Periods that began so late that half of the time was over after which units stop by themselves; the event deadline_missed " +
			"says the same."},
	{Name: "step_duration_seconds", Type: metric.Histogram, Unit: "seconds", Buckets: shortTimes,
		Help: "Time of the steps of one event of the control loop."},
	{Name: "disk_write_duration_seconds", Type: metric.Histogram, Unit: "seconds", Labels: []string{"result"}, Buckets: metric.Latencies,
		Help: "Time of commits to the robot's disk; result is ok or failed."},
	{Name: "broker_round_trip_seconds", Type: metric.Histogram, Unit: "seconds", Buckets: metric.Latencies,
		Help: "Time from an answer to a command until the broker's acknowledgement."},

	{Name: "broker_connected", Type: metric.Gauge, Help: "Whether robotd is connected to the broker."},
	{Name: "link_state", Type: metric.Gauge, Labels: []string{"state"},
		Help: "1 for the state of the link to operators: never, up, degraded or lost; heartbeats of fleetd or of a panel keep it up."},
	{Name: "safety_state", Type: metric.Gauge, Labels: []string{"state"}, Help: "1 for the state of the safety core."},
	{Name: "mode", Type: metric.Gauge, Labels: []string{"mode"}, Help: "1 for the mode in charge."},
	{Name: "stops_latched", Type: metric.Gauge, Help: "Latched stops."},
	{Name: "alerts", Type: metric.Gauge, Labels: []string{"type"}, Help: "Alerts by type."},
	{Name: "units", Type: metric.Gauge, Labels: []string{"state"}, Help: "Units of the body by state: idle, run, halt or error."},
	{Name: "unit_temperature_celsius", Type: metric.Gauge, Unit: "celsius", Labels: []string{"unit"},
		Help: "Temperature of a unit that reports one."},
	{Name: "battery_ratio", Type: metric.Gauge, Unit: "ratio", Help: "Charge of the battery, of a body that has one."},
	{Name: "battery_charging", Type: metric.Gauge, Help: "Whether the battery charges."},

	{Name: "events_dropped_total", Type: metric.Counter, Help: "Events that were not published, because there were too many."},
	{Name: "answers_dropped_total", Type: metric.Counter, Help: "Answers to commands that were dropped."},
	{Name: "records_dropped_total", Type: metric.Counter, Help: "Records that the flight recorder dropped."},
	{Name: "certificate_end_timestamp_seconds", Type: metric.Gauge, Unit: "seconds",
		Help: "When the robot's certificate ends, in Unix time; a robot without one has no sample."},
	{Name: "disk_free_bytes", Type: metric.Gauge, Unit: "bytes", Help: "Room on the disk with the robot's data."},
	{Name: "disk_size_bytes", Type: metric.Gauge, Unit: "bytes", Help: "Size of that disk."},
}}

// meter counts what passes the loop, the writer and the connection. A nil one counts nothing: metrics are off.
type meter struct {
	lateness, steps, trips prometheus.Observer
	collectors             []prometheus.Collector
	writes                 *prometheus.HistogramVec
	missedAfter            time.Duration

	mu           sync.Mutex
	missed       int64
	battery      *driver.Event
	temperatures map[string]float64
}

// newMeter is nil without metrics; tick is the period of the loop.
func newMeter(p Page, tick time.Duration) *meter {
	if p.MetricsToken == "" {
		return nil
	}
	late, steps, trips := Metrics.Histogram("loop_lateness_seconds"), Metrics.Histogram("step_duration_seconds"),
		Metrics.Histogram("broker_round_trip_seconds")
	m := &meter{
		lateness: late.WithLabelValues(), steps: steps.WithLabelValues(), trips: trips.WithLabelValues(),
		writes:      Metrics.Histogram("disk_write_duration_seconds"),
		missedAfter: report.MissedAfter * tick, temperatures: map[string]float64{},
	}
	m.collectors = []prometheus.Collector{late, steps, trips, m.writes}
	return m
}

// step counts the steps of one event.
func (m *meter) step(ev event.Event, took time.Duration) {
	if m == nil {
		return
	}
	m.steps.Observe(took.Seconds())
	switch ev := ev.(type) {
	case event.Tick:
		m.lateness.Observe(max(0, ev.Late).Seconds())
		if ev.Late >= m.missedAfter {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.missed++
		}
	case event.Reported:
		m.reported(ev.Event)
	}
}

// reported notes what the body measures and the robot's state does not have as a number.
func (m *meter) reported(ev driver.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case ev.Kind == driver.Battery:
		m.battery = &ev
	case ev.Kind == driver.Sensed && ev.Signal == driver.Heat:
		m.temperatures[ev.Name] = ev.Level
	}
}

// wrote counts a commit to the disk that began then.
func (m *meter) wrote(began time.Time, err error) {
	if m == nil {
		return
	}
	result := "ok"
	if err != nil {
		result = "failed"
	}
	m.writes.WithLabelValues(result).Observe(time.Since(began).Seconds())
}

// acknowledged counts a message that was published then and that the broker has acknowledged.
func (m *meter) acknowledged(published time.Time) {
	if m != nil {
		m.trips.Observe(time.Since(published).Seconds())
	}
}

// handler answers scrapes; nil without metrics.
func (m *meter) handler(c *Config, robot page.Robot) http.Handler {
	if m == nil {
		return nil
	}
	return metric.Handler(append(m.collectors, Metrics.Collector(func(out *metric.Samples) { m.collect(out, c, robot) }))...)
}

func (m *meter) collect(out *metric.Samples, c *Config, robot page.Robot) {
	out.Set("build_info", 1, c.ID, c.Version)
	m.counted(out)
	if free, size, err := host.Disk(c.dir()); err == nil {
		out.Set("disk_free_bytes", float64(free))
		out.Set("disk_size_bytes", float64(size))
	}
	if i, err := identity.Load(c.dir()); err == nil {
		out.Set("certificate_end_timestamp_seconds", float64(i.Leaf().NotAfter.Unix()))
	}
	v, err := robot.View(context.Background()) // which ends soon, also if the loop hangs
	out.Flag("waiting_for_body", err == nil && v.Waiting != nil)
	out.Flag("answers", err == nil && v.Waiting == nil)
	if err == nil && v.State != nil {
		collectState(out, v.State)
	}
}

// counted has what the meter itself knows.
func (m *meter) counted(out *metric.Samples) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out.Set("loop_deadlines_missed_total", float64(m.missed))
	for unit, celsius := range m.temperatures {
		out.Set("unit_temperature_celsius", celsius, unit)
	}
	if m.battery != nil {
		out.Set("battery_ratio", m.battery.Level)
		out.Flag("battery_charging", m.battery.Charging)
	}
}

// collectState has what the robot's state says.
func collectState(out *metric.Samples, s *schema.State) {
	out.Flag("broker_connected", s.Session != "")
	for _, state := range []schema.LinkState{schema.LinkNever, schema.LinkUp, schema.LinkDegraded, schema.LinkLost} {
		out.Flag("link_state", s.Link.State == state, string(state))
	}
	for _, state := range []schema.SafetyState{schema.SafetyDisabled, schema.SafetyEnabled, schema.SafetySoftStop, schema.SafetyStop,
		schema.SafetyHalt,
		schema.SafetyEStop, schema.SafetyReset} {
		out.Flag("safety_state", s.Safety.State == state, string(state))
	}
	out.Set("mode", 1, string(s.Mode.Active))
	out.Set("stops_latched", float64(len(s.Safety.Latches)))
	alerts := map[string]int{}
	for _, row := range schema.Alerts {
		alerts[row.Type] = 0
	}
	for _, a := range s.Alerts {
		alerts[a.Type]++
	}
	for kind, n := range alerts {
		out.Set("alerts", float64(n), kind)
	}
	units := map[string]int{string(driver.Idle): 0, string(driver.Run): 0, string(driver.Halt): 0, string(driver.Error): 0}
	for _, u := range s.Units {
		units[u.State]++
	}
	for state, n := range units {
		out.Set("units", float64(n), state)
	}
	out.Set("events_dropped_total", float64(s.Dropped.Events))
	out.Set("answers_dropped_total", float64(s.Dropped.Acks))
	out.Set("records_dropped_total", float64(s.Dropped.Records))
}
