package fleet_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"sync"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/presence"
	"troupe/fleetd/rollout"
	"troupe/fleetd/rolloutrunner"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/schema"
)

// pageRobots are the robots of the fleet whose rollout a page shows, and pageLimit is how many bytes a second the page may cost.
const (
	pageRobots = 10_000
	pageLimit  = 2048
)

// A page of a rollout to 10,000 robots that is offered to 16 robots a second asks for the rollout every 2 seconds, and for the robots of
// its table every 4 seconds, as rollouts/api.ts of the console does. For a minute it costs at most 2 KiB a second.
func TestPageOfARunningRolloutCostsLittle(t *testing.T) {
	storetest.InWorld(t, func(w *storetest.World) {
		t := w.T // of the bubble
		ctx := w.Context()
		deps := change.Deps{
			Now: time.Now, Store: func() (*store.Store, error) { return w.DB, nil }, Changed: func(context.Context, []string) {},
			Catalogue: func() library.Catalogue { return library.Catalogue{} }, Caps: func(string) *schema.Caps { return nil },
		}
		w.Tx(func(tx *store.Tx) error {
			for i := range pageRobots {
				if _, err := tx.AddRobot(ctx, fmt.Sprintf("museum-%d", i), time.Now()); err != nil {
					return err
				}
			}
			return nil
		})
		lib := &change.Library{Deps: deps}
		for _, s := range []library.Source{
			{Kind: library.KindAct, Body: []byte("act: a\nactions: [{type: wait, start_ms: 0, end_ms: 1000}]\n")},
			{Kind: library.KindStory, Body: []byte("story: summer\nname: {en: Summer}\nrepeat: loop\nacts: [{act: a}]\n")},
		} {
			if _, found, err := lib.PublishAll(ctx, auth.Principal{}, []library.Source{s}, nil, false, audit.Attribution{}); err != nil ||
				len(found) > 0 {
				t.Fatal(found, err)
			}
		}
		rollouts := &change.Rollouts{Deps: deps, Name: "fleetd", Candidate: func(id string) (rollout.Candidate, bool) {
			return rollout.Candidate{Robot: selector.Robot{ID: id}, Online: true}, true
		}}
		canary, soak := 5, int64(2)
		o, _, found, err := rollouts.Create(ctx, auth.Principal{}, change.RolloutRequest{
			Name: "summer season", Content: content.Content{Story: &content.Story{ID: "summer"}}, Robots: selector.All(), Start: true,
			Spec: rollout.Spec{Waves: []rollout.WaveSpec{
				{Name: "canary", Count: canary, SoakS: &soak}, {Percent: 10, SoakS: &soak}, {Percent: 50, SoakS: &soak}, {Percent: 100},
			}, OffersPerMin: 960, MaxOffersPerMin: 960},
		}, audit.Attribution{Who: "anna", Why: "the summer begins"})
		if err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}

		var mu sync.Mutex
		var documents map[string]desired.Document
		began := time.Now()
		runner := rolloutrunner.New(rolloutrunner.Deps{
			Log: slog.New(slog.DiscardHandler), Now: time.Now, Leads: w.Leads, Failed: w.Failed, Save: rollouts.Step,
			Fleetd: func() presence.Fleetd { return presence.Fleetd{Connected: true, Since: began.Add(-time.Hour)} },
			Robot: func(robot string, _ schema.TopicKind, now time.Time) (view.Known, bool) {
				mu.Lock()
				defer mu.Unlock()
				rev := documents[robot].Rev
				return view.Known{RobotFacts: rollout.RobotFacts{Online: true, SeenAt: now, Idle: true, DesiredRev: rev,
					Report: rollout.Report{Rev: rev, Phase: schema.DeployActive, Active: true}}}, true
			},
			HealthOfOthers: func(func(string) bool, time.Time) rollout.Health { return rollout.Health{} },
		})
		defer w.Start(func(ctx context.Context) { runner.Run(ctx, w.DB) })()

		mux := http.NewServeMux()
		api.Register(mux, api.Deps{Log: slog.New(slog.DiscardHandler), Now: time.Now, Rollouts: rollouts,
			View: view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now})})
		get := func(path, tag string) *http.Response {
			r := httptest.NewRequestWithContext(auth.With(ctx, auth.Dev()), http.MethodGet, api.Prefix+path, nil)
			r.Header.Set("Accept-Encoding", "gzip")
			if tag != "" {
				r.Header.Set("If-None-Match", tag)
			}
			answer := httptest.NewRecorder()
			mux.ServeHTTP(answer, r)
			if answer.Code != http.StatusOK && answer.Code != http.StatusNotModified {
				t.Fatalf("GET %s: %d %s", path, answer.Code, answer.Body)
			}
			return answer.Result()
		}
		size := func(r *http.Response) int {
			b, err := httputil.DumpResponse(r, true)
			if err != nil {
				t.Fatal(err)
			}
			return len(b)
		}
		total, changes, tag, listed := 0, 0, "", ""
		for second := range 60 {
			all, err := w.DB.NewestDesired(ctx, schema.TopicDesiredStory, selector.All())
			if err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			documents = all
			mu.Unlock()
			runner.Wake()
			w.Sleep(time.Second)
			if second%2 == 0 {
				r := get("/rollouts/"+o.ID, tag)
				if total += size(r); r.StatusCode == http.StatusOK {
					tag, changes = r.Header.Get("ETag"), changes+1
				}
			}
			if second%4 == 0 && listed != tag {
				total += size(get("/rollouts/"+o.ID+"/robots?limit=25", ""))
				listed = tag
			}
		}
		after, err := w.DB.Rollout(ctx, o.ID)
		if err != nil {
			t.Fatal(err)
		}
		offered := 0
		for _, wave := range after.Waves {
			offered += wave.Total - wave.Counts[rollout.Planned]
		}
		t.Logf("a page of a rollout to %d robots, %d of which got the content within a minute: %d bytes a second", pageRobots, offered, total/60)
		if total/60 > pageLimit || offered < 500 || changes < 20 {
			t.Errorf("%d bytes a second, at most %d are allowed; %d robots got it, the rollout was another one %d times", total/60, pageLimit,
				offered, changes)
		}
	})
}
