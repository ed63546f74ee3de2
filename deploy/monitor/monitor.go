// Package monitor is what is shipped for watching a fleet: what Prometheus scrapes, its alerts with their tests, and
// dashboards for Grafana. Its tests hold them to the metrics that the programs have, and write docs/metrics.md.
package monitor

import (
	"strings"

	"troupe/broker/server"
	"troupe/fleetd/metrics"
	"troupe/robotd/robot"
	"troupe/schema/metric"
)

// Tables are the metrics of the three programs.
var Tables = []metric.Table{metrics.Table, server.Metrics, robot.Metrics}

// Page is docs/metrics.md.
func Page() string {
	var b strings.Builder
	b.WriteString("# Metrics\n\nWhat fleetd, the broker and robotd serve at `/metrics`, beside what Prometheus's library says of every Go " +
		"program (`go_` and\n" +
		"`process_`). [monitor](monitor.md#metrics) says how to switch them on. This page is generated from the tables in the programs.\n")
	for i, of := range []string{"fleetd", "broker", "robotd"} {
		b.WriteString("\n## " + of + "\n" + Tables[i].Markdown())
	}
	return b.String()
}
