package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"troupe/deploy/shard"
	"troupe/fleetd/api"
	"troupe/fleetd/policy"
	"troupe/fleetd/view"
	"troupe/schema"
)

// A robot that is enrolled for the lobby performs the story of the lobby within a minute. Nobody assigns anything to it, and nobody
// permits it to move: this story has no motion.
func TestNewcomerPerformsTheStoryOfItsSite(t *testing.T) {
	t.Parallel()
	mine, err := shard.Current()
	if err != nil {
		t.Fatal(err)
	}
	variants := []variant{ownBroker, postgres}
	for _, n := range mine.Variants(t.Name(), len(variants)) {
		t.Run(variants[n].String(), func(t *testing.T) {
			t.Parallel()
			s := newSecuredIn(t, variants[n])
			s.publishStory("tale", "tell", "nod")
			s.publishStory("round", "nod", "smile")
			s.mustRunCLI("policy", "put", "lobby", "--story", "tale", "-l", "site=lobby", "--place", "10")
			s.mustRunCLI("policy", "put", "show", "--mode", "ato", "-l", "site=lobby")
			s.mustRunCLI("policy", "put", "fleet", "--story", "round", "--all", "--place", "20")

			began := time.Now()
			if out, err := s.runRobotd(s.enrolArgs("r7", "-l", "site=lobby")...); err != nil {
				t.Fatalf("enrol: %v\n%s", err, out)
			}
			s.runEnrolledRobot("r7")
			s.awaitPresenceStatus("r7", "online")
			var d view.Detail
			s.until("r7 to perform the story of the lobby", func() bool {
				return json.Unmarshal([]byte(s.mustRunCLI("robot", "get", "r7", "-o", "json")), &d) == nil && d.State != nil &&
					d.State.Auto.Status == schema.AutoPerforming && d.State.Auto.Story != nil && d.State.Auto.Story.ID == "tale"
			})
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if d.State.Safety.State != schema.SafetyDisabled {
				t.Errorf("it is %s, though nobody enabled it", d.State.Safety.State)
			}
			why := mustRunJSON[api.RobotWhy](s.world, "robot", "why", "r7").Kinds[0]
			if why.DecidedBy != policy.ByPolicy || why.Policy != "lobby" || why.Has != "story tale revision 1" || why.Differs ||
				len(why.Losers) != 1 || !strings.Contains(why.Losers[0].Why, "lobby comes first") {
				t.Errorf("it has its story because of %+v", why)
			}
		})
	}
}
