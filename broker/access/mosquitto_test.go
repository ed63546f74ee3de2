package access

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/verb"
)

// aclFile is an acl_file as Mosquitto evaluates it: only the rules of the user count, read
// for what is delivered to it, write for what it publishes, and deny for both.
type aclFile map[string][]string // user -> "read FILTER", "write FILTER" or "deny TOPIC"

func parseACL(t *testing.T, text string) aclFile {
	rules, user := aclFile{}, ""
	for _, line := range strings.Split(text, "\n") {
		word := strings.Fields(line)
		switch {
		case len(word) == 0 || line[0] == '#':
		case word[0] == "user" && len(word) == 2:
			user = word[1]
		case word[0] == "topic" && len(word) == 3 && user != "" && (word[1] == "read" || word[1] == "write" || word[1] == "deny"):
			rules[user] = append(rules[user], word[1]+" "+word[2])
		default:
			t.Fatalf("mosquitto would not accept the line %q, or it belongs to no user", line)
		}
	}
	return rules
}

func (r aclFile) may(user, access, topic string) bool {
	return r.has(user, access, topic) && !r.has(user, "deny", topic)
}

func (r aclFile) has(user, access, topic string) bool {
	for _, rule := range r[user] {
		if filter, ok := strings.CutPrefix(rule, access+" "); ok && Matches(filter, topic) {
			return true
		}
	}
	return false
}

func TestMosquittoRulesEqualRights(t *testing.T) {
	var users []User
	for _, role := range Roles {
		u := User{Name: "x-" + string(role), Role: role}
		if role == schema.RoleConsole {
			u.Robot = u.Name // r1 is replaced by the user name below
		}
		users = append(users, u)
	}
	var text strings.Builder
	if err := WriteMosquittoACL(&text, users, ns); err != nil {
		t.Fatal(err)
	}
	rules := parseACL(t, text.String())
	equal := func(t rapid.TB, user User, m Publish) {
		row, _, ok := ns.Match(m.Topic)
		if !ok {
			return // an acl_file does not check whether names are well formed
		}
		own := Compile(Identity{Name: user.Name, ClientID: user.Name, Role: user.Role, Robot: user.Robot}, ns)
		// A console reads the commands to its robot. Nobody sends those that it is denied to send.
		want := own.MayRead(m.Topic) && !rules.has(user.Name, "deny", m.Topic)
		if got := rules.may(user.Name, "read", m.Topic); got != want {
			t.Errorf("%s may read %s: mosquitto %v, troupe %v", user.Name, m.Topic, got, want)
		}
		// An acl_file does not check flags and sizes either.
		m.Retain = row.Retain
		m.Size = 1
		want = own.Judge(m).Decision != Refuse
		m.Size = 0
		want = want || own.Judge(m).Decision != Refuse
		if user.Role == schema.RoleFleetd || user.Role == schema.RoleAdmin {
			// to delete what only mosquitto retains
			want = want || row.Kind == schema.TopicCmd || row.Kind == schema.TopicTeleop || row.Kind == schema.TopicFleetStopCmd
		}
		if got := rules.may(user.Name, "write", m.Topic); got != want {
			t.Errorf("%s may write %s: mosquitto %v, troupe %v", user.Name, m.Topic, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		user := rapid.SampledFrom(users).Draw(t, "user")
		m := message(t)
		m.Topic = strings.NewReplacer("/op1", "/"+user.Name, "/r1", "/"+user.Name).Replace(m.Topic)
		equal(t, user, m)
	})
	for _, user := range users {
		for _, v := range verb.All {
			for _, name := range []string{v.Name, "dream"} {
				equal(t, user, Publish{Topic: ns.Topic(schema.TopicCmd, user.Name, user.Name, v.Group, name)})
			}
		}
	}
}

func TestMosquittoRulesGrantNothingToUnknownUsers(t *testing.T) {
	var text strings.Builder
	if err := WriteMosquittoACL(&text, Dev().All(), ns); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "pattern") {
		t.Error("the file has a pattern line, which applies to every role")
	}
	rules := parseACL(t, text.String()) // fails on a rule before the first user
	if rules.may("obs", "write", "troupe/v1/robots/r1/cmd/obs/safety/enable") || rules.may("no_robot", "read", "troupe/v1/robots/r1/state") {
		t.Error("an observer may write, or an unknown client may read")
	}
	if !rules.may("stop1", "write", ns.Topic(schema.TopicCmd, "r9", "stop1", "safety", "stop")) {
		t.Error("a client of role stop may not stop robots")
	}
}

// A newer robot may know more verbs of the group intent; it decides about them itself.
func TestUnknownIntentPassesForRolesWithIntents(t *testing.T) {
	for role, want := range map[schema.Role]bool{
		schema.RoleResponder: true, schema.RoleOperator: true, schema.RoleAdmin: true, schema.RoleFleetd: true,
		schema.RoleStop: false, schema.RoleObserver: false, schema.RoleRobot: false,
	} {
		user := User{Name: "x", Role: role}
		var text strings.Builder
		if err := WriteMosquittoACL(&text, []User{user}, ns); err != nil {
			t.Fatal(err)
		}
		own := Compile(Identity{Name: "x", ClientID: "x", Role: role}, ns)
		for topic, want := range map[string]bool{
			"troupe/v1/robots/r1/cmd/x/intent/dream": want,
			"troupe/v1/robots/r1/cmd/x/mode/dream":   want && role != schema.RoleResponder,
			"troupe/v1/robots/r1/cmd/y/intent/dream": role == schema.RoleFleetd || role == schema.RoleAdmin,
		} {
			here := own.Judge(Publish{Topic: topic, Size: 1}).Decision == Pass
			if there := parseACL(t, text.String()).may("x", "write", topic); there != want {
				t.Errorf("%s may write %s: mosquitto %v", role, topic, there)
			}
			if !strings.Contains(topic, "/y/") && here != want {
				t.Errorf("%s may write %s: troupe %v", role, topic, here)
			}
		}
	}
}
