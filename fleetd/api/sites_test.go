package api

import (
	"testing"

	"troupe/fleetd/auth"
	"troupe/fleetd/latch"
	"troupe/fleetd/view"
)

// retainedOn is an instance whose broker retained a command on each of these topics.
type retainedOn struct {
	Instance
	topics []string
}

func (k retainedOn) Status() (s Status) {
	for _, topic := range k.topics {
		s.RetainedCommands = append(s.RetainedCommands, RetainedCommand{Topic: topic})
	}
	return s
}

type robots = Robots // embedded under this name, because a field Robots would hide the method Robots

// sited are robots with their site.
type sited struct {
	robots
	sites map[string]string
}

func (s sited) Robot(id string) (d view.Detail, known bool) {
	site, known := s.sites[id]
	d.Labels = map[string]string{auth.SiteLabel: site}
	return d, known
}

// unstopped holds no stop.
type unstopped struct{ Stops }

func (unstopped) Latched() []latch.LatchedStop { return nil }

// loaded has read the robots.
type (
	loaded     struct{ anyTargets }
	anyTargets interface{ Targets }
)

func (loaded) Loaded() bool { return true }

func TestStatusNamesNoRobotOfAnotherSite(t *testing.T) {
	s := &server{Deps: Deps{
		Instance: retainedOn{topics: []string{"robots/r1/cmd/op1/mode/set", "robots/x1/cmd/op1/mode/set", "robots/r9/cmd/op1/mode/set", "fleet/cmd/op1/stop"}},
		Robots:   sited{sites: map[string]string{"r1": "lobby", "x1": "hall"}},
		Targets:  loaded{},
		Stops:    unstopped{},
	}}
	for user, want := range map[string]int{"lobby": 2, "": 4} {
		p := auth.Principal{ID: "anna", Kind: auth.KindSession}
		if user != "" {
			p.Sites = []string{user}
		}
		got := s.statusFor(p).RetainedCommands
		if len(got) != want || got[0].Topic != "robots/r1/cmd/op1/mode/set" || got[want-1].Topic != "fleet/cmd/op1/stop" {
			t.Errorf("a user of the site %q sees the retained commands %+v", user, got)
		}
	}
}
