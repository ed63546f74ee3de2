package monitor

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"troupe/schema/golden"
	"troupe/schema/metric"
)

func TestMetricsPageIsGenerated(t *testing.T) { golden.Compare(t, "../../docs/metrics.md", Page()) }

// promtool runs Prometheus's own checks.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v (deploy/setup/debian.sh installs it)\n%s", strings.Join(args, " "), err, out)
	}
}

func TestEachAlertFiresAndIsQuietBefore(t *testing.T) {
	promtool(t, "check", "rules", "rules.yml")
	promtool(t, "test", "rules", "rules_test.yml")
	tested := map[string]int{}
	var tests struct {
		Tests []struct {
			Alerts []struct {
				Name string `json:"alertname"`
				Exp  []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}
	read(t, "rules_test.yml", &tests)
	for _, one := range tests.Tests {
		for _, a := range one.Alerts {
			tested[fmt.Sprint(a.Name, len(a.Exp) > 0)]++
		}
	}
	for _, r := range rules(t) {
		if tested[r.Alert+"true"] != 1 || tested[r.Alert+"false"] != 1 {
			t.Errorf("the test of %s does not show it both firing and quiet", r.Alert)
		}
	}
}

// TestScrapeConfiguration follows docs/monitor.md: fleetd and the broker first, then the robots, whose lines wait behind
// a # for their token.
func TestScrapeConfiguration(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"prometheus.yml", "rules.yml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		here := strings.ReplaceAll(string(text), "/etc/prometheus/", dir+"/")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(here), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(dir, "prometheus.yml")
	promtool(t, "check", "config", config)
	for name, text := range map[string]string{"troupe-robots.token": "0123456789abcdef", "troupe-robots.json": `[{"targets": ["10.0.0.11:8090"]}]`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile("../../docs/monitor.md")
	if err != nil {
		t.Fatal(err)
	}
	edit := regexp.MustCompile(`sed -i ('[^']+') /etc/prometheus/prometheus.yml`).FindSubmatch(page)
	if edit == nil {
		t.Fatal("docs/monitor.md does not say how to take the # from the lines")
	}
	if out, err := exec.Command("sh", "-c", "sed -i "+string(edit[1])+` "$1"`, "sh", config).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", edit[0], err, out)
	}
	promtool(t, "check", "config", config)
	text, err := os.ReadFile(config)
	if err != nil || !strings.Contains(string(text), "\n  - job_name: robotd\n    authorization:") {
		t.Errorf("%v; after %s:\n%s", err, edit[0], text)
	}
}

// TestDashboardsAndAlertsReadMetricsThatExist looks at every query.
func TestDashboardsAndAlertsReadMetricsThatExist(t *testing.T) {
	queries := map[string]string{}
	for _, r := range rules(t) {
		queries["alert "+r.Alert] = r.Expr
	}
	for _, name := range []string{"fleet", "robot"} {
		for title, expr := range panels(t, "grafana/"+name+".json") {
			queries[name+": "+title] = expr
		}
	}
	var check strings.Builder
	check.WriteString("groups:\n- name: queries\n  rules:\n")
	used := map[string]bool{}
	n := 0
	for at, query := range queries {
		for _, found := range regexp.MustCompile(`troupe_(fleetd|broker|robotd)_[a-z_]+`).FindAllString(query, -1) {
			row := rowOf(found)
			if row.Name == "" {
				t.Errorf("%s: there is no metric %s", at, found)
			}
			used[row.Name] = true
			for _, label := range regexp.MustCompile(regexp.QuoteMeta(found)+`\{([^}]*)\}`).FindAllStringSubmatch(query, -1) {
				for _, pair := range strings.Split(label[1], ",") {
					name, _, _ := strings.Cut(strings.TrimSpace(pair), "=")
					if name != "instance" && !slices.Contains(row.Labels, name) {
						t.Errorf("%s: %s has no label %s", at, found, name)
					}
				}
			}
		}
		text, err := json.Marshal(strings.ReplaceAll(query, "$instance", "r1"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&check, "  - {record: \"troupe:query%d\", expr: %s}\n", n, text)
		n++
	}
	if len(used) < 30 {
		t.Errorf("only %d metrics are looked at", len(used))
	}
	file := filepath.Join(t.TempDir(), "queries.yml")
	if err := os.WriteFile(file, []byte(check.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", "--lint=none", file)
}

// rowOf is the row of a metric as queries name it; a histogram has three suffixes.
func rowOf(name string) metric.Row {
	for _, table := range Tables {
		for _, r := range table.Rows {
			full := table.Prefix + r.Name
			if full == name || r.Type == metric.Histogram && slices.Contains([]string{full + "_bucket", full + "_count", full + "_sum"}, name) {
				return r
			}
		}
	}
	return metric.Row{}
}

type rule struct{ Alert, Expr string }

func rules(t *testing.T) []rule {
	t.Helper()
	var file struct{ Groups []struct{ Rules []rule } }
	read(t, "rules.yml", &file)
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) != 12 {
		t.Fatalf("the rules are %v", file)
	}
	return file.Groups[0].Rules
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dashboard is what Grafana needs of its JSON model.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type string }
	}
	Panels []struct {
		ID          int
		Type, Title string
		GridPos     struct{ X, Y, W, H int }
		Datasource  struct{ Type, UID string }
		Targets     []struct{ RefID, Expr string }
	}
}

// panels checks the model of a dashboard, and returns its queries by the titles of their panels.
func panels(t *testing.T, name string) map[string]string {
	t.Helper()
	var d dashboard
	read(t, name, &d)
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 36 || len(d.Templating.List) == 0 || d.Templating.List[0].Type != "datasource" {
		t.Errorf("%s: %q %q schema %d, variables %v", name, d.UID, d.Title, d.SchemaVersion, d.Templating.List)
	}
	queries, ids, taken := map[string]string{}, map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if p.ID == 0 || ids[p.ID] || p.Title == "" || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 || p.Type != "stat" &&
			p.Type != "timeseries" {
			t.Errorf("%s: panel %d %q is incomplete: %+v", name, p.ID, p.Title, p)
		}
		ids[p.ID] = true
		if g := p.GridPos; g.W < 1 || g.H < 1 || g.X+g.W > 24 {
			t.Errorf("%s: panel %q does not fit into 24 columns: %+v", name, p.Title, g)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" && other != p.Title {
					t.Fatalf("%s: the panels %q and %q lie over each other", name, other, p.Title)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			queries[fmt.Sprint(p.ID, " ", p.Title, " ", target.RefID)] = target.Expr
		}
	}
	return queries
}
