package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRetentionIsGivenInDays(t *testing.T) {
	const day = 24 * time.Hour
	config := filepath.Join(t.TempDir(), "fleetd.yaml")
	if err := os.WriteFile(config, []byte("event-retention-days: 14\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		args    []string
		environ string
		want    time.Duration
		refused bool
	}{
		{name: "audit-retention-days", want: 365 * day},
		{name: "command-retention-days", want: 90 * day},
		{name: "event-retention-days", want: 30 * day},
		{name: "audit-retention-days", args: []string{"--audit-retention-days=7"}, want: 7 * day},
		{name: "audit-retention-days", environ: "TROUPE_FLEETD_AUDIT_RETENTION_DAYS=8", want: 8 * day},
		{name: "event-retention-days", args: []string{"--config", config}, want: 14 * day},
		{name: "command-retention-days", args: []string{"--command-retention-days=0"}, want: -1}, // for ever
		{name: "command-retention-days", args: []string{"--command-retention-days=-1"}, refused: true},
		{name: "command-retention-days", args: []string{"--command-retention-days=99999999"}, refused: true},
		{name: "command-retention-days", environ: "TROUPE_FLEETD_COMMAND_RETENTION_DAYS=90d", refused: true},
		{name: "command-retention-days", environ: "TROUPE_FLEETD_COMMAND_RETENTION_DAYS=", refused: true},
	} {
		sh := &shell{Streams: Streams{Environ: []string{c.environ}}}
		flags := sh.serveCommand().Flags()
		if err := flags.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		k, err := sh.settings(flags)
		if err != nil {
			t.Fatal(err)
		}
		got, err := retention(k, c.name)
		switch {
		case c.refused && (err == nil || !strings.Contains(err.Error(), c.name)):
			t.Errorf("%v %s: got %v, %v, want a refusal that names the setting", c.args, c.environ, got, err)
		case !c.refused && (err != nil || got != c.want):
			t.Errorf("%v %s: got %v, %v, want %v", c.args, c.environ, got, err, c.want)
		}
	}
}
