package access

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/golden"
	"troupe/schema/verb"
)

func TestNATSUsersOfAFile(t *testing.T) {
	users := []User{{Name: "stop1", Role: schema.RoleStop}, {Name: "r1", Role: schema.RoleRobot}, {}} // in order, and without a guest
	var text strings.Builder
	if err := WriteNATSUsers(&text, users, "hall", nil, false); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/nats.golden", text.String())
}

// mayOnNATS evaluates permissions as nats-server does: a topic passes if an allowed subject covers it and no denied one does.
func mayOnNATS(s natsSubjects, topic string) bool {
	covers := func(subjects []string) bool {
		for _, subject := range subjects {
			filter := strings.NewReplacer(".", "/", "*", "+", ">", "#").Replace(subject)
			// Here > is one level at least, while a/# is also a.
			if Matches(filter, topic) && (filter == topic || filter != topic+"/#") {
				return true
			}
		}
		return false
	}
	return covers(s.Allow) && !covers(s.Deny)
}

// The rights on NATS are those on Mosquitto, which the test beside this one compares with those of our broker. What Mosquitto
// denies it does not deliver either.
func TestNATSPermissionsEqualMosquittoRules(t *testing.T) {
	equal := func(t rapid.TB, role schema.Role, topic string) {
		user := User{Name: "op1", Role: role}
		if role == schema.RoleConsole {
			user.Robot = "r1"
		}
		rules := aclFile{user.Name: mosquittoRules(user, ns)}
		may := natsPermissions(user, ns)
		if got, want := mayOnNATS(may.Subscribe, topic), rules.has(user.Name, "read", topic) && !strings.HasPrefix(topic, "$"); got != want {
			t.Errorf("%s may read %s: nats %v, mosquitto %v", user.Role, topic, got, want)
		}
		if got, want := mayOnNATS(may.Publish, topic), rules.may(user.Name, "write", topic); got != want {
			t.Errorf("%s may write %s: nats %v, mosquitto %v", user.Role, topic, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		topic := message(t).Topic
		if ValidTopic(topic) && !strings.ContainsAny(topic, ".*> ") {
			equal(t, rapid.SampledFrom(Roles).Draw(t, "role"), topic)
		}
	})
	for _, role := range Roles {
		for _, v := range verb.All {
			equal(t, role, ns.Topic(schema.TopicCmd, "r1", "op1", v.Group, v.Name))
		}
	}
}

// A dot would become a level of its own, and a user without subjects to write could write everything.
func TestNATSPermissionsAreSubjectsAndNeverEmpty(t *testing.T) {
	for _, role := range Roles {
		for _, rule := range mosquittoRules(User{Name: "x", Role: role, Robot: "r1"}, ns) {
			if strings.ContainsAny(rule, ".*>") {
				t.Errorf("%s has the rule %q", role, rule)
			}
		}
		may := natsPermissions(User{Name: "x", Role: role, Robot: "r1"}, ns)
		if len(may.Publish.Allow)+len(may.Publish.Deny) == 0 || len(may.Subscribe.Allow) == 0 {
			text, _ := json.Marshal(may)
			t.Errorf("%s has an empty list, which allows everything: %s", role, text)
		}
	}
}
