package monitor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/fleet"
	"troupe/schema/host"
	"troupe/schema/metric/metrictest"
	"troupe/schema/testlog"
)

// running starts a fleetd without a broker, whose certificate for HTTP is valid for so long, with its files in dir.
func running(t *testing.T, dir string, valid time.Duration) *fleet.Fleet {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(valid), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pair := fleet.PairFiles{Cert: filepath.Join(t.TempDir(), "cert.pem"), Key: filepath.Join(t.TempDir(), "key.pem")}
	for name, block := range map[string]*pem.Block{
		pair.Cert: {Type: "CERTIFICATE", Bytes: certificate}, pair.Key: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := fleet.Start(context.Background(), fleet.Config{
		Database: "sqlite:" + filepath.Join(dir, "fleet.db"), Broker: "mqtt://127.0.0.1:1", HTTP: "127.0.0.1:0", HTTPFiles: pair,
		Observation: fleet.Observation{Metrics: "127.0.0.1:0"}, Dev: true,
		Logger: slog.New(slog.NewTextHandler(testlog.Writer(t, "fleetd"), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// scrape returns the series that Prometheus has of an address after a scrape, with times in seconds from now.
func scrape(t *testing.T, url string) map[string]float64 {
	t.Helper()
	const labels = `job="fleetd",instance="a"`
	answer, err := http.Get(url)
	if err != nil {
		return map[string]float64{"up{" + labels + "}": 0}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", url, answer.StatusCode, err)
	}
	series := map[string]float64{"up{" + labels + "}": 1}
	for name, value := range metrictest.Values(t, string(text)) {
		before, own, _ := strings.Cut(strings.TrimSuffix(name, "}"), "{")
		if strings.HasSuffix(before, "_timestamp_seconds") {
			value -= float64(time.Now().Unix())
		}
		series[before+"{"+strings.Trim(own+","+labels, ",")+"}"] = value
	}
	return series
}

// wantAlert has Prometheus's own rules decide whether an alert fires once the series have had these values for half an hour.
func wantAlert(t *testing.T, series map[string]float64, alert string, fires bool) {
	t.Helper()
	rules, err := filepath.Abs("rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var input strings.Builder
	for name, value := range series {
		fmt.Fprintf(&input, "  - {series: '%s', values: '%fx60'}\n", name, value)
	}
	samples := "[]"
	if fires {
		samples = "[{labels: '{}', value: 1}]"
	}
	test := filepath.Join(t.TempDir(), "test.yml")
	text := fmt.Sprintf("rule_files: [%s]\nevaluation_interval: 1m\ntests:\n- interval: 1m\n  input_series:\n%s  promql_expr_test:\n"+
		"  - {expr: 'count(ALERTS{alertname=\"%s\", alertstate=\"firing\"})', eval_time: 30m, exp_samples: %s}\n", rules, &input, alert, samples)
	if err := os.WriteFile(test, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "test", "rules", test)
}

func TestFleetdThatEndsFiresAnAlert(t *testing.T) {
	f := running(t, t.TempDir(), 365*24*time.Hour)
	url := f.MetricsURL()
	wantAlert(t, scrape(t, url), "TroupeFleetdDown", false)
	wantAlert(t, scrape(t, url), "TroupeCertificateEndsSoon", false)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	wantAlert(t, scrape(t, url), "TroupeFleetdDown", true)
}

func TestCertificateNearItsEndFiresAnAlert(t *testing.T) {
	f := running(t, t.TempDir(), 10*24*time.Hour)
	wantAlert(t, scrape(t, f.MetricsURL()), "TroupeCertificateEndsSoon", true)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// The alert follows the disk that the test is given: make full-disk gives it a small one that is nearly full.
func TestFullDiskFiresAnAlert(t *testing.T) {
	dir, small := os.Getenv("TROUPE_FULL_DISK"), true
	if dir == "" {
		dir, small = t.TempDir(), false
	}
	f := running(t, dir, 365*24*time.Hour)
	free, size, err := host.Disk(dir)
	if err != nil {
		t.Fatal(err)
	}
	full := free < size/10
	if small && !full {
		t.Errorf("the disk of %s has %d of %d bytes free", dir, free, size)
	}
	wantAlert(t, scrape(t, f.MetricsURL()), "TroupeDiskFull", full)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
