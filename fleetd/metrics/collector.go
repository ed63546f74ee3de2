package metrics

import (
	"cmp"
	"context"
	"database/sql"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"troupe/fleetd/api"
	"troupe/fleetd/certificate"
	"troupe/fleetd/change"
	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/measurer"
	"troupe/fleetd/notifier"
	"troupe/fleetd/presence"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/teleop"
	"troupe/fleetd/trace"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/host"
	"troupe/schema/metric"
)

// Deps is what a Collector reads.
type Deps struct {
	Now     func() time.Time
	Started time.Time
	Dir     string // a folder on the disk with this instance's files

	Status       func() api.Status
	View         *view.View
	Dispatcher   *dispatch.Dispatcher
	Teleop       *teleop.Hub
	Certificates func() ([]certificate.Own, error)
	Backups      *change.Backups
	Measurer     *measurer.Measurer
	Notifier     *notifier.Notifier
	Tracer       *trace.Tracer // nil without traces
	Store        func() (*store.Store, error)
}

// Collector has fleetd's metrics.
type Collector struct {
	deps     Deps
	refused  atomic.Int64 // messages of robots
	commands *prometheus.HistogramVec
	requests *prometheus.HistogramVec
	writes   *prometheus.HistogramVec
}

// New makes a collector, whose histograms can be filled before it has its Deps.
func New() *Collector {
	return &Collector{
		commands: Table.Histogram("command_duration_seconds"), requests: Table.Histogram("http_request_duration_seconds"),
		writes: Table.Histogram("database_transaction_duration_seconds"),
	}
}

// Handler answers scrapes.
func (c *Collector) Handler(d Deps) http.Handler {
	c.deps = d
	return metric.Handler(Table.Collector(c.collect), c.commands, c.requests, c.writes)
}

// CommandSettled counts a command that has ended, or stays unanswered.
func (c *Collector) CommandSettled(of command.Command, now time.Time) {
	c.commands.WithLabelValues(of.Verb, strings.ToLower(string(of.State))).Observe(now.Sub(of.CreatedAt).Seconds())
}

// MessageRefused counts a message of a robot that cannot be read.
func (c *Collector) MessageRefused() { c.refused.Add(1) }

// MeasureTransaction begins the measurement of one transaction; now is the clock.
func (c *Collector) MeasureTransaction(now func() time.Time) (end func(error)) {
	began := now()
	return func(err error) {
		result := "ok"
		if err != nil {
			result = "failed"
		}
		c.writes.WithLabelValues(result).Observe(now().Sub(began).Seconds())
	}
}

// RequestServed counts a request.
func (c *Collector) RequestServed(method string, status int, took time.Duration) {
	c.requests.WithLabelValues(MethodOf(method), strconv.Itoa(status/100)+"xx").Observe(took.Seconds())
}

// MethodOf is the method of a request, or other: clients cannot make up labels.
func MethodOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// scrapeWithin bounds the queries of the database of one scrape, which a scraper waits for.
const scrapeWithin = 3 * time.Second

func (c *Collector) collect(out *metric.Samples) {
	status := c.deps.Status()
	out.Set("build_info", 1, status.Version)
	out.Set("start_timestamp_seconds", float64(c.deps.Started.Unix()))
	c.robots(out)
	out.Set("stops_latched", float64(len(status.Latched)))
	out.Set("commands_in_progress", float64(c.deps.Dispatcher.InProgress()))
	out.Set("command_events_dropped_total", float64(c.deps.Dispatcher.Dropped()))
	out.Set("messages_received_total", float64(status.Messages))
	out.Set("messages_refused_total", float64(c.refused.Load()))
	out.Set("events_dropped_total", float64(status.Dropped))
	out.Set("measurements_written_total", float64(c.deps.Measurer.Written()))
	out.Set("measurements_dropped_total", float64(c.deps.Measurer.Dropped()))
	tries := c.deps.Notifier.Counts()
	out.Set("notification_tries_total", float64(tries.Sent), "sent")
	out.Set("notification_tries_total", float64(tries.Failed-tries.Dead), "failed")
	out.Set("notification_tries_total", float64(tries.Dead), "given_up")
	spans := c.deps.Tracer.Counts()
	out.Set("trace_spans_total", float64(spans.Sent), "sent")
	out.Set("trace_spans_total", float64(spans.Dropped), "dropped")
	out.Set("stream_clients", float64(c.deps.View.Feeds()))
	out.Set("driving_sessions", float64(c.deps.Teleop.Sessions()))
	out.Flag("broker_connected", status.Broker.OK)
	out.Flag("leader", status.Leadership.Leads)
	out.Set("instances", float64(1+len(status.Others)))
	c.certificates(out)
	if free, size, err := host.Disk(c.deps.Dir); err == nil {
		out.Set("disk_free_bytes", float64(free))
		out.Set("disk_size_bytes", float64(size))
	}
	out.Flag("database_up", status.Database.OK && c.database(out) == nil)
}

// certificates has one sample of each use: that of the certificate that ends first.
func (c *Collector) certificates(out *metric.Samples) {
	all, err := c.deps.Certificates()
	if err != nil {
		return // a file that cannot be read was reported when it was needed
	}
	first := map[certificate.Use]time.Time{}
	for _, own := range all {
		if end, known := first[own.Use]; !known || own.NotAfter.Before(end) {
			first[own.Use] = own.NotAfter
		}
	}
	for use, end := range first {
		out.Set("certificate_end_timestamp_seconds", float64(end.Unix()), string(use))
	}
}

// database reads what only the database knows.
func (c *Collector) database(out *metric.Samples) error {
	db, err := c.deps.Store()
	if err != nil {
		return err
	}
	for pool, s := range db.Pools() {
		setPool(out, pool, s)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeWithin)
	defer cancel()
	backlog, err := db.Backlog(ctx)
	if err != nil {
		return err
	}
	out.Set("outbox_messages", float64(backlog.Messages))
	age := time.Duration(0)
	if !backlog.Oldest.IsZero() {
		age = c.deps.Now().Sub(backlog.Oldest)
	}
	out.Set("outbox_oldest_seconds", max(0, age.Seconds()))
	backup, _, err := c.deps.Backups.Newest(ctx)
	if err != nil {
		return err
	}
	out.Set("backup_timestamp_seconds", float64(backup.Unix()))
	deliveries, err := db.Deliveries(ctx)
	if err != nil {
		return err
	}
	var waiting, dead int64
	for _, d := range deliveries {
		waiting, dead = waiting+d.Waiting, dead+d.Dead
	}
	out.Set("notifications", float64(waiting), "waiting")
	out.Set("notifications", float64(dead), "given_up")
	rollouts, err := db.RolloutStates(ctx)
	if err != nil {
		return err
	}
	for _, state := range rolloutStates {
		out.Set("rollouts", float64(rollouts[state]), strings.ToLower(string(state)))
	}
	return nil
}

func setPool(out *metric.Samples, pool string, s sql.DBStats) {
	out.Set("database_connections", float64(s.InUse), pool, "in_use")
	out.Set("database_connections", float64(s.Idle), pool, "idle")
	out.Set("database_waits_total", float64(s.WaitCount), pool)
	out.Set("database_wait_seconds_total", s.WaitDuration.Seconds(), pool)
}

var rolloutStates = []rollout.State{
	rollout.WaitingForApproval, rollout.Ready, rollout.Scheduled, rollout.Running, rollout.Paused, rollout.Succeeded,
	rollout.CompletedWithFailures,
	rollout.Aborted, rollout.RollingBack, rollout.RolledBack, rollout.RollbackIncomplete,
}

// counts are the robots by the value of a label, with zeros for values without a robot: a series that comes and goes
// breaks alerts and graphs.
type counts map[string]int

func countsOf[T ~string](values ...T) counts {
	n := counts{}
	for _, v := range values {
		n[string(v)] = 0
	}
	return n
}

func (n counts) set(out *metric.Samples, name string) {
	for value, robots := range n {
		out.Set(name, float64(robots), value)
	}
}

func (c *Collector) robots(out *metric.Samples) {
	byPresence := countsOf(presence.Unknown, presence.Online, presence.Degraded, presence.Lost, presence.Offline, presence.Sleeping)
	bySafety := countsOf(schema.SafetyDisabled, schema.SafetyEnabled, schema.SafetySoftStop, schema.SafetyStop, schema.SafetyHalt,
		schema.SafetyEStop, schema.SafetyReset)
	byMode := countsOf(schema.ModeStr, schema.ModeMnl, schema.ModeAto, schema.ModeSafe)
	byDoing, byStory := countsOf(selector.Doings()...), countsOf(selector.StoryNone, selector.StoryCurrent, selector.StoryPending,
		selector.StoryRefused)
	byAlert := counts{}
	for _, row := range schema.Alerts {
		byAlert[row.Type] = 0
	}
	now := c.deps.Now()
	unknown, stopped := 0, 0
	var trips, lost top
	for _, r := range c.deps.View.Robots() {
		if !r.Adopted {
			unknown++
			continue
		}
		byPresence[r.Presence.Status]++
		byDoing[string(r.Doing)]++
		byStory[string(r.Desired.State())]++
		for _, a := range r.Alerts {
			if _, listed := byAlert[a.Type]; listed { // a robot of a later release may have others
				byAlert[a.Type]++
			}
		}
		if len(r.Latches) > 0 {
			stopped++
		}
		if r.Presence.Status == string(presence.Lost) {
			lost = append(lost, robotValue{r.ID, now.Sub(r.Presence.Since.Time()).Seconds()})
		}
		if !presence.Status(r.Presence.Status).Reachable() {
			continue
		}
		if _, listed := bySafety[string(r.Safety)]; listed {
			bySafety[string(r.Safety)]++
		}
		if r.Mode != "" {
			byMode[string(r.Mode)]++
		}
		if r.Presence.RoundTripMS > 0 {
			trips = append(trips, robotValue{r.ID, float64(r.Presence.RoundTripMS) / 1000})
		}
	}
	byPresence.set(out, "robots")
	bySafety.set(out, "robots_safety")
	byMode.set(out, "robots_mode")
	byDoing.set(out, "robots_doing")
	byStory.set(out, "robots_story")
	byAlert.set(out, "alerts")
	out.Set("robots_unknown", float64(unknown))
	out.Set("robots_stopped", float64(stopped))
	trips.set(out, "robot_round_trip_seconds")
	lost.set(out, "robot_lost_seconds")
}

type robotValue struct {
	robot string
	value float64
}

// top are the robots with the highest values.
type top []robotValue

func (t top) set(out *metric.Samples, name string) {
	slices.SortFunc(t, func(a, b robotValue) int { return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.robot, b.robot)) })
	for _, one := range t[:min(len(t), topRobots)] {
		out.Set(name, one.value, one.robot)
	}
}
