package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/fleet"
	"troupe/fleetd/metrics"
	"troupe/fleetd/store"
	"troupe/schema"
	"troupe/schema/metric/metrictest"
	"troupe/schema/profile"
)

// withMetrics serves metrics at the address of the API.
func withMetrics(c *fleet.Config) { c.Metrics = fleet.MetricsOnHTTP }

// scrape asks for the metrics with a header.
func (w *world) scrape(headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/metrics", nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	w.Handler().ServeHTTP(answer, r)
	return answer
}

// metric waits until a sample has a value.
func (w *world) metric(sample string, want func(float64) bool) {
	w.Helper()
	w.until(sample, func() bool {
		values := metrictest.Values(w.T, w.scrape().Body.String())
		v, there := values["troupe_fleetd_"+sample]
		return there && want(v)
	})
}

func is(want float64) func(float64) bool     { return func(v float64) bool { return v == want } }
func above(least float64) func(float64) bool { return func(v float64) bool { return v > least } }

// Each alert of deploy/monitor/rules.yml needs a metric, which is caused here to change.
func TestMetricsShowWhatTheAlertsOfPrometheusNeed(t *testing.T) {
	inWorld(t, func(w *world) {
		r1, r2 := w.robot("r1"), w.robot("r2")
		for sample, v := range map[string]float64{
			`robots{presence="online"}`: 2, `robots{presence="lost"}`: 0, "stops_latched": 0, `robots_story{state="refused"}`: 0, `alerts{type="battery_low"}`: 0,
			"leader": 1, "instances": 1, "database_up": 1, "broker_connected": 1, "outbox_oldest_seconds": 0, `rollouts{state="running"}`: 0,
		} {
			w.metric(sample, is(v))
		}
		metrictest.Check(t, metrics.Table, w.scrape().Body.String())

		r1.Change(func(s *schema.State) {
			s.Alerts = []schema.Alert{{ID: "a1", Type: "battery_low", Level: schema.AlertWarn, Source: "battery", FirstTS: schema.TimeOf(time.Now()),
				Detail: "low"}}
		})
		w.metric(`alerts{type="battery_low"}`, is(1))

		w.command(order("sys/ping", "r1"))
		w.metric(`command_duration_seconds_count{outcome="succeeded",verb="sys/ping"}`, is(1))
		r1.Mute(true)
		w.command(order("sys/ping", "r1"))
		w.metric(`command_duration_seconds_count{outcome="unknown",verb="sys/ping"}`, is(1))
		r1.Mute(false)

		w.publish()
		r2.Silent(true)
		w.assign("museum", "r2")
		w.metric(`robots_story{state="pending"}`, is(1))
		reported := r2.Reported()
		reported.TS, reported.Session, reported.Phase, reported.Reason = schema.TimeOf(time.Now()), "s", schema.DeployRejected,
			schema.ReasonStaleRevision
		text, err := json.Marshal(reported)
		if err != nil {
			t.Fatal(err)
		}
		r2.Raw(schema.TopicReportedStory, string(text))
		w.metric(`robots_story{state="refused"}`, is(1))

		made := time.Now().Add(time.Hour)
		w.metric("backup_timestamp_seconds", func(v float64) bool { return v <= float64(time.Now().Unix()) }) // when the database was made
		db, err := w.Store()
		if err == nil {
			err = db.Tx(context.Background(), func(tx *store.Tx) error {
				return tx.AddBackup(context.Background(), made, store.Backup{ID: "b1", Kind: store.BackupMade, At: made})
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		w.metric("backup_timestamp_seconds", is(float64(made.Unix())))

		stop := w.stopped("r1")
		w.metric("stops_latched", is(1))
		w.metric("robots_stopped", is(1))
		w.persisted(stop.Latch)

		r2.SetHanging(true)
		w.metric(`robots{presence="lost"}`, is(1))
		w.metric(`robot_lost_seconds{robot="r2"}`, above(60))

		if err := w.broker.Load().Close(); err != nil {
			t.Fatal(err)
		}
		w.metric("broker_connected", is(0))
		w.assign("", "r1", "r2")
		w.metric("outbox_messages", above(0))
		w.metric("outbox_oldest_seconds", above(60))
		if w.metric("robots{presence=\"unknown\"}", is(2)); w.scrape().Code != http.StatusOK {
			t.Error("no metrics without a broker")
		}
	}, withMetrics)
}

func TestMetricsSayThatNobodyLeadsWithoutADatabase(t *testing.T) {
	inWorld(t, func(w *world) {
		w.metric("leader", is(0))
		w.metric("database_up", is(0))
	}, withMetrics, func(c *fleet.Config) {
		c.Database, c.Spool = "postgres://nobody@127.0.0.1/none", strings.TrimPrefix(c.Database, "sqlite:")+".stops"
		c.DialDatabase = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route to host") }
	})
}

func TestTooManyRobotsAreNoLabels(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, id := range strings.Fields("a b c d e f g h i j k l") {
			w.robot(id).SetHanging(true)
		}
		w.metric(`robots{presence="lost"}`, is(12))
		if n := strings.Count(w.scrape().Body.String(), "robot_lost_seconds{"); n != 10 {
			t.Errorf("%d robots are named", n)
		}
	}, withMetrics)
}

func TestMetricsHaveAnAddressOfTheirOwn(t *testing.T) {
	inWorld(t, func(w *world) {
		for url, want := range map[string]int{
			"http://127.0.0.1:9102/metrics": http.StatusOK, "http://127.0.0.1:9102/": http.StatusNotFound,
			"http://127.0.0.1:9102/api/v1/version": http.StatusNotFound,
			"http://evil.example:9102/metrics":     http.StatusForbidden,
		} {
			answer, err := w.client().Get(url)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s: %d, want %d", url, answer.StatusCode, want)
			}
		}
		if code := w.scrape().Code; code != http.StatusNotFound {
			t.Errorf("at the address of the API: %d", code)
		}
	}, func(c *fleet.Config) { c.Metrics = "127.0.0.1:9102" })
}

func TestProfilesAreServedOnlyWithPprofAndNeverAtTheAPI(t *testing.T) {
	for pprof, want := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		inWorld(t, func(w *world) {
			for url, want := range map[string]int{
				"http://127.0.0.1:9102" + profile.Path + "heap": want, "http://evil.example:9102" + profile.Path + "heap": http.StatusForbidden,
			} {
				answer, err := w.client().Get(url)
				if err != nil {
					t.Fatal(err)
				}
				_ = answer.Body.Close()
				if answer.StatusCode != want {
					t.Errorf("pprof %v, %s: %d, want %d", pprof, url, answer.StatusCode, want)
				}
			}
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+profile.Path+"heap", nil)
			answer := httptest.NewRecorder()
			if w.Handler().ServeHTTP(answer, r); answer.Code != http.StatusNotFound {
				t.Errorf("at the address of the API: %d", answer.Code)
			}
		}, func(c *fleet.Config) { c.Metrics, c.Pprof = "127.0.0.1:9102", pprof })
	}
}

func TestMetricsAtTheAPINeedSomebodyWhoSeesEveryRobot(t *testing.T) {
	ofOneSite := auth.Dev()
	ofOneSite.Sites = []string{"museum"}
	for want, who := range map[int]auth.Authenticator{
		http.StatusUnauthorized: auth.Everybody{}, http.StatusForbidden: auth.Everybody{Principal: ofOneSite},
		http.StatusOK: auth.Everybody{Principal: auth.Dev()},
	} {
		inWorld(t, func(w *world) {
			if answer := w.scrape(); answer.Code != want {
				t.Errorf("%d %s, want %d", answer.Code, answer.Body, want)
			}
		}, withMetrics, func(c *fleet.Config) { c.Dev, c.Authenticator = false, who })
	}
}

func TestMetricsAreOffUnlessAskedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		if answer := w.scrape(); answer.Code != http.StatusNotFound || strings.Contains(answer.Body.String(), "<html") {
			t.Errorf("/metrics: %d %s", answer.Code, answer.Body)
		}
	})
}
