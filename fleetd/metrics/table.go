// Package metrics makes Prometheus metrics of what the parts of fleetd know. Table lists them; a Collector reads the
// parts when it is scraped, so nothing is counted twice and an instance that nobody scrapes does no work for it.
package metrics

import "troupe/schema/metric"

// topRobots is of how many robots at most there are samples with their names: a fleet may have ten thousand robots.
const topRobots = 10

// Table is fleetd's metrics. Robots are those that the fleet has adopted.
var Table = metric.Table{Prefix: "troupe_fleetd_", Rows: []metric.Row{
	{Name: "build_info", Type: metric.Gauge, Labels: []string{"version"}, Help: "Version of this instance; always 1."},
	{Name: "start_timestamp_seconds", Type: metric.Gauge, Unit: "seconds", Help: "When this instance started, in Unix time."},

	{Name: "robots", Type: metric.Gauge, Labels: []string{"presence"},
		Help: "Robots by presence. lost: disconnected without saying so, or silent for too long."},
	{Name: "robots_safety", Type: metric.Gauge, Labels: []string{"safety"}, Help: "Connected robots by the state of their safety core."},
	{Name: "robots_mode", Type: metric.Gauge, Labels: []string{"mode"}, Help: "Connected robots by mode of operation."},
	{Name: "robots_doing", Type: metric.Gauge, Labels: []string{"doing"},
		Help: "Robots by what they do now, in the words of the selector doing."},
	{Name: "robots_story", Type: metric.Gauge, Labels: []string{"state"},
		Help: "Robots by how far they are with the story that is assigned to them: none, current, pending, or refused, which includes what " +
			"could not be fetched."},
	{Name: "robots_unknown", Type: metric.Gauge, Help: "Robots that publish and that the fleet has not adopted."},
	{Name: "robot_round_trip_seconds", Type: metric.Gauge, Unit: "seconds", Labels: []string{"robot"},
		Help: "Round trip of a heartbeat to a robot and back, of the ten robots with the longest."},
	{Name: "robot_lost_seconds", Type: metric.Gauge, Unit: "seconds", Labels: []string{"robot"},
		Help: "For how long a robot has been lost, of the ten robots that have been for longest."},
	{Name: "alerts", Type: metric.Gauge, Labels: []string{"type"},
		Help: "Alerts of robots by type; fleetd alert list has them with their texts."},
	{Name: "stops_latched", Type: metric.Gauge, Help: "Latched stops."},
	{Name: "robots_stopped", Type: metric.Gauge, Help: "Robots that report a latched stop."},

	{Name: "command_duration_seconds", Type: metric.Histogram, Unit: "seconds", Labels: []string{"verb", "outcome"}, Buckets: metric.Latencies,
		Help: "Time from the request for a command to its end, by verb and by how it ended; unknown: no robot answered in time."},
	{Name: "commands_in_progress", Type: metric.Gauge, Help: "Commands of this instance that have not ended."},
	{Name: "command_events_dropped_total", Type: metric.Counter,
		Help: "Answers and presence changes that the dispatcher of commands dropped, because too many waited."},
	{Name: "outbox_messages", Type: metric.Gauge, Help: "Documents that the database has and the broker does not have yet."},
	{Name: "outbox_oldest_seconds", Type: metric.Gauge, Unit: "seconds", Help: "For how long the oldest of them has waited; 0 if none waits."},

	{Name: "messages_received_total", Type: metric.Counter, Help: "MQTT messages received."},
	{Name: "messages_refused_total", Type: metric.Counter, Help: "Messages of robots that could not be read."},
	{Name: "events_dropped_total", Type: metric.Counter, Help: "Events of robots that were lost, because they could not be stored."},

	{Name: "measurements_written_total", Type: metric.Counter, Help: "Minutes of measurements of robots that this instance has written."},
	{Name: "measurements_dropped_total", Type: metric.Counter,
		Help: "Minutes of measurements that were lost, because they could not be stored."},

	{Name: "notification_tries_total", Type: metric.Counter, Labels: []string{"result"},
		Help: "Tries of this instance to deliver a notification: sent, failed, or given_up after a failure."},
	{Name: "notifications", Type: metric.Gauge, Labels: []string{"state"},
		Help: "Notifications that wait for their receiver, and those that were given up and that nobody has sent again."},

	{Name: "trace_spans_total", Type: metric.Counter, Labels: []string{"result"},
		Help: "Spans of OpenTelemetry traces that the collector took, and that were dropped because it did not, or too many waited: sent " +
			"or dropped."},

	{Name: "stream_clients", Type: metric.Gauge, Help: "Open event streams (SSE), such as of consoles."},
	{Name: "driving_sessions", Type: metric.Gauge, Help: "Robots that people drive through this instance."},
	{Name: "http_request_duration_seconds", Type: metric.Histogram, Unit: "seconds", Labels: []string{"method", "code"},
		Buckets: metric.Latencies,
		Help:    "Time of HTTP requests by method and by the class of their status; without streams and WebSockets."},

	{Name: "broker_connected", Type: metric.Gauge, Help: "Whether this instance is connected to the broker."},
	{Name: "database_up", Type: metric.Gauge, Help: "Whether the database is open and took the last write."},
	{Name: "database_transaction_duration_seconds", Type: metric.Histogram, Unit: "seconds", Labels: []string{"result"},
		Buckets: metric.Latencies,
		Help:    "Time of transactions that write, with their repetitions; result is ok or failed."},
	{Name: "database_connections", Type: metric.Gauge, Labels: []string{"pool", "state"},
		Help: "Connections to the database: in_use and idle."},
	{Name: "database_waits_total", Type: metric.Counter, Labels: []string{"pool"},
		Help: "Requests that waited for a connection to the database."},
	{Name: "database_wait_seconds_total", Type: metric.Counter, Unit: "seconds", Labels: []string{"pool"},
		Help: "Time that requests waited for a connection to the database."},

	{Name: "leader", Type: metric.Gauge, Help: "Whether this instance leads; of all instances on a database one does."},
	{Name: "instances", Type: metric.Gauge, Help: "Instances of the fleet whose heartbeats arrive, with this one."},
	{Name: "rollouts", Type: metric.Gauge, Labels: []string{"state"}, Help: "Rollouts by state."},
	{Name: "certificate_end_timestamp_seconds", Type: metric.Gauge, Unit: "seconds", Labels: []string{"certificate"},
		Help: "When a certificate of this instance ends, in Unix time: root, intermediate, address (of HTTP) or broker."},
	{Name: "backup_timestamp_seconds", Type: metric.Gauge, Unit: "seconds",
		Help: "When the newest backup was made, in Unix time; of a fleet without one, when its database was made."},
	{Name: "disk_free_bytes", Type: metric.Gauge, Unit: "bytes", Help: "Room on the disk with this instance's files."},
	{Name: "disk_size_bytes", Type: metric.Gauge, Unit: "bytes", Help: "Size of that disk."},
}}
