package access

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/verb"
)

const ns = schema.DefaultNamespace

func rightsOf(role schema.Role, name string) *Rights {
	return Compile(Identity{Name: name, ClientID: name, Role: role}, ns)
}

func consoleRights(name, robot string) *Rights {
	return Compile(Identity{Name: name, ClientID: name, Role: schema.RoleConsole, Robot: robot}, ns)
}

func TestTreeEqualsIntersectsOfItsFilters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := names{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "own"), rapid.SampledFrom([]string{"a", "b"}).Draw(t, "robot")}
		in := rapid.SliceOfN(filters, 0, 6).Draw(t, "filters")
		with := slices.Clone(in)
		for i, f := range in {
			v := rapid.SampledFrom([]string{ownLevel, robotLevel, "a"}).Draw(t, "variable")
			with[i] = strings.ReplaceAll(f, "a", v)
			in[i] = strings.NewReplacer(ownLevel, n.own, robotLevel, n.robot).Replace(with[i])
		}
		tr := treeOf(with)
		for _, ask := range []string{filters.Draw(t, "filter"), topics.Draw(t, "topic")} {
			want := slices.ContainsFunc(in, func(f string) bool { return Intersects(f, ask) })
			if got := tr.intersects(ask, &n); got != want {
				t.Fatalf("tree of %q intersects %q: %v, want %v", in, ask, got, want)
			}
		}
	})
}

func TestMayReadDoesNotAllocate(t *testing.T) {
	r := rightsOf(schema.RoleOperator, "op1")
	if n := testing.AllocsPerRun(100, func() { r.MayRead("troupe/v1/robots/r1/state") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMayRead(b *testing.B) {
	r := rightsOf(schema.RoleOperator, "op1")
	for b.Loop() {
		r.MayRead("troupe/v1/robots/r1/reported/story")
	}
}

func BenchmarkJudge(b *testing.B) {
	r := rightsOf(schema.RoleOperator, "op1")
	for what, m := range map[string]Publish{
		"command": {Topic: "troupe/v1/robots/r1/cmd/op1/mode/set", Size: 20},
		"stop":    {Topic: "troupe/v1/fleet/cmd/op1/stop", Size: 20},
		"refused": {Topic: "troupe/v1/robots/r1/state", Size: 20},
	} {
		b.Run(what, func(b *testing.B) {
			for b.Loop() {
				r.Judge(m)
			}
		})
	}
}

// tableTopics draws topics of the table and similar ones.
var tableTopics = rapid.Custom(func(t *rapid.T) string {
	row := rapid.SampledFrom(schema.Topics).Draw(t, "row")
	fill := map[string]*rapid.Generator[string]{
		"{rid}": rapid.SampledFrom([]string{"r1", "r2", "R1", "+"}), "{cid}": rapid.SampledFrom([]string{"op1", "op2", "r1", "fleetd", "admin"}),
		"{sha256}": rapid.SampledFrom([]string{strings.Repeat("a", 64), "x"}),
		"{name}":   rapid.SampledFrom([]string{"drive", "a b"}),
		"{group}":  rapid.SampledFrom([]string{"safety", "mode", "sys", "intent", "x"}),
		"{verb}":   rapid.SampledFrom([]string{"stop", "set", "adopt", "enable", "x"}),
	}
	levels := strings.Split(row.Pattern, "/")
	for i, l := range levels {
		if g, ok := fill[l]; ok {
			levels[i] = g.Draw(t, l)
		}
	}
	return ns.Root() + strings.Join(levels, "/") + rapid.SampledFrom([]string{"", "", "", "/x"}).Draw(t, "tail")
})

var identities = rapid.Custom(func(t *rapid.T) Identity {
	role := rapid.SampledFrom(append([]schema.Role{"", "x", schema.RoleBroker}, Roles...)).Draw(t, "role")
	name := rapid.SampledFrom([]string{"r1", "op1", "fleetd", "admin"}).Draw(t, "name")
	id := Identity{Name: name, ClientID: name, Role: role, Blobs: role == schema.RoleRobot && rapid.Bool().Draw(t, "blobs")}
	if role == schema.RoleConsole {
		id.Robot = rapid.SampledFrom([]string{"", "r1", "r2"}).Draw(t, "robot")
	}
	return id
})

func message(t *rapid.T) Publish {
	return Publish{Topic: tableTopics.Draw(t, "topic"), Retain: rapid.Bool().Draw(t, "retain"),
		Size: rapid.SampledFrom([]int{0, 1, 600, 10 << 10, 400 << 10}).Draw(t, "size")}
}

func TestPassingMessagesAreGrantedByTheTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id, m := identities.Draw(t, "who"), message(t)
		v := Compile(id, ns).Judge(m)
		if v.Decision == Refuse {
			if v.Reason == "" || v.Detail == "" {
				t.Fatalf("%+v by %+v: refused without a reason or detail", m, id)
			}
			if v.Exempt != stopTopic(m.Topic) {
				t.Fatalf("%+v by %+v: refused with exempt %v", m, id, v.Exempt)
			}
			return
		}
		row, params, ok := ns.Match(m.Topic)
		if !ok {
			t.Fatalf("%+v by %+v: not in the topic table, but %+v", m, id, v)
		}
		granted := slices.ContainsFunc(row.Publish, func(g schema.Grant) bool {
			return g.Role == id.Role && (g.Own == "" || params.Get(g.Own) == id.Name) &&
				(id.Role != schema.RoleConsole || params.RID == "" || params.RID == id.Robot)
		})
		deletes := row.Retain && m.Retain && m.Size == 0 && (id.Role == schema.RoleFleetd || id.Role == schema.RoleAdmin)
		kept := m.Retain && v.Decision == Pass
		asked, known := verb.Of(params.Group, params.Verb)
		stop := stopTopic(m.Topic)
		switch {
		case !granted && !deletes:
			t.Fatalf("%+v by %+v: not granted, but %+v", m, id, v)
		case kept != row.Retain:
			t.Fatalf("%+v by %+v: retained %v, declared %v", m, id, kept, row.Retain)
		case m.Size > row.MaxBytes && !stop:
			t.Fatalf("%+v by %+v: too big, but %+v", m, id, v)
		case row.Kind == schema.TopicCmd && !known && !verb.AllowsUnknown(params.Group, id.Role):
			t.Fatalf("%+v by %+v: verb is not in the table, but %+v", m, id, v)
		case known && !asked.Allows(id.Role):
			t.Fatalf("%+v by %+v: verb not allowed, but %+v", m, id, v)
		case id.Blobs:
			t.Fatalf("%+v by a blob connection: %+v", m, v)
		}
	})
}

func stopTopic(topic string) bool {
	row, at, _ := ns.Match(topic)
	v, known := verb.Of(at.Group, at.Verb)
	return row.Kind == schema.TopicFleetStopCmd || row.Kind == schema.TopicCmd && known && v.Class == verb.ClassStop
}

func TestStopFromAllowedRoleAlwaysPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		role := rapid.SampledFrom([]schema.Role{schema.RoleOperator, schema.RoleResponder, schema.RoleStop, schema.RoleFleetd,
			schema.RoleAdmin}).Draw(t, "role")
		stop := rapid.SampledFrom([]string{"stop", "soft-stop", "halt", "estop"}).Draw(t, "verb")
		m := message(t)
		m.Topic = rapid.SampledFrom([]string{ns.Topic(schema.TopicCmd, "r1", "me", "safety", stop),
			ns.Topic(schema.TopicFleetStopCmd, "me")}).Draw(t, "topic")
		v := rightsOf(role, "me").Judge(m)
		if v.Decision == Refuse || !v.Exempt || m.Retain != (v.Decision == Strip) {
			t.Fatalf("%+v by %s: %+v", m, role, v)
		}
	})
}

func TestPresenceAndDocumentsThatLatchStopsAreExempt(t *testing.T) {
	if v := rightsOf(schema.RoleRobot, "r1").Judge(
		Publish{Topic: ns.Topic(schema.TopicPresence, "r1"), Retain: true, Size: 300}); v.Decision != Pass || !v.Exempt {
		t.Errorf("presence of a robot: %+v", v)
	}
	for _, topic := range []string{ns.Topic(schema.TopicFleetPresence), ns.Topic(schema.TopicDesiredStop, "r1"),
		ns.Topic(schema.TopicFleetStop)} {
		for _, size := range []int{0, 300} {
			if v := rightsOf(schema.RoleFleetd, "fleetd").Judge(Publish{Topic: topic, Retain: true, Size: size}); v.Decision != Pass || !v.Exempt {
				t.Errorf("%s of %d bytes: %+v", topic, size, v)
			}
		}
	}
	if v := rightsOf(schema.RoleFleetd, "fleetd").Judge(
		Publish{Topic: ns.Topic(schema.TopicDesiredStory, "r1"), Retain: true, Size: 300}); v.Exempt {
		t.Errorf("a desired story is exempt from limits: %+v", v)
	}
}

func TestRobotPublishesOnlyOnItsOwnTopics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id, m := identities.Draw(t, "who"), message(t)
		id.Role, id.Name = schema.RoleRobot, "r1"
		if v := Compile(id, ns).Judge(m); v.Decision != Refuse && !strings.HasPrefix(m.Topic, "troupe/v1/robots/r1/") {
			t.Fatalf("%+v: %+v", m, v)
		}
	})
}

func TestConsoleOperatesItsOwnRobotOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := message(t)
		v := consoleRights("op1", "r1").Judge(m)
		if v.Decision != Refuse && !strings.HasPrefix(m.Topic, "troupe/v1/robots/r1/cmd/op1/") && m.Topic != "troupe/v1/robots/r1/heartbeat/op1" {
			t.Fatalf("%+v: %+v", m, v)
		}
		if v := consoleRights("op1", "").Judge(m); v.Decision != Refuse {
			t.Fatalf("console without a robot: %+v: %+v", m, v)
		}
	})
	own, op := consoleRights("op1", "r1"), rightsOf(schema.RoleOperator, "op1")
	for _, v := range verb.All {
		m := Publish{Topic: ns.Topic(schema.TopicCmd, "r1", "op1", v.Group, v.Name), Size: 2}
		if got, want := own.Judge(m), op.Judge(m); got.Decision != want.Decision {
			t.Errorf("%s: console %+v, operator %+v", v.ID(), got, want)
		}
	}
	for topic, want := range map[string]bool{
		"robots/r1/state": true, "robots/r1/desired/stop": true, "robots/r1/cmd/op2/mode/set": true, "robots/r1/ack/op2": true,
		"robots/r1/#": true,
		"fleet/stop":  true, "fleet/presence": true, "fleet/heartbeat/fleetd": true, "clients/op1/notice": true, "robots/+/state": true,
		"robots/r2/state": false, "robots/r2/presence": false, "robots/r2/#": false, "clients/op2/notice": false, "fleet/revoked": false,
		"fleet/cmd/op2/stop": false,
	} {
		if got := own.MayRead(ns.Root() + topic); got != want {
			t.Errorf("may read %s: %v", topic, got)
		}
	}
	if consoleRights("op1", "").MayRead("troupe/v1/robots/r1/state") {
		t.Error("a console without a robot may read a robot's state")
	}
}

// All robots obey the heartbeat of a fleetd instance, so a console of one robot must not
// be able to send it.
func TestOnlyFleetSideSendsFleetHeartbeat(t *testing.T) {
	for _, role := range Roles {
		r := Compile(Identity{Name: "me", ClientID: "me", Role: role, Robot: "r1"}, ns)
		fleetd := role == schema.RoleFleetd || role == schema.RoleAdmin
		for topic, want := range map[string]bool{
			ns.Topic(schema.TopicFleetHeartbeat, "me"): fleetd, ns.Topic(schema.TopicFleetHeartbeat, "fleetd"): false,
			ns.Topic(schema.TopicLocalHeartbeat, "r1", "me"): role == schema.RoleConsole, ns.Topic(schema.TopicLocalHeartbeat, "r2", "me"): false,
			ns.Topic(schema.TopicLocalHeartbeat, "r1", "op2"): false,
		} {
			if got := r.Judge(Publish{Topic: topic, Size: 100}).Decision == Pass; got != want {
				t.Errorf("%s may publish on %s: %v", role, topic, got)
			}
		}
	}
}

func TestRobotWillIsItsPresence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := message(t)
		v := rightsOf(schema.RoleRobot, "r1").JudgeWill(m)
		if v.Decision == Strip || v.Decision == Pass && (m.Topic != "troupe/v1/robots/r1/presence" || !m.Retain) {
			t.Fatalf("%+v: %+v", m, v)
		}
	})
}

func TestWillMayOnlyReportLossOrStop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id, m := identities.Draw(t, "who"), message(t)
		row, at, _ := ns.Match(m.Topic)
		asked, _ := verb.Of(at.Group, at.Verb)
		presence := m.Size > 0 && (row.Kind == schema.TopicPresence && id.Role == schema.RoleRobot && at.RID == id.Name ||
			row.Kind == schema.TopicFleetPresence)
		stop := row.Kind == schema.TopicFleetStopCmd || row.Kind == schema.TopicCmd && asked.Class == verb.ClassStop
		switch v := Compile(id, ns).JudgeWill(m); {
		case v.Decision == Strip:
			t.Fatalf("%+v by %+v: a will must be refused or pass unchanged", m, id)
		case v.Decision == Pass && !presence && !stop:
			t.Fatalf("%+v by %+v: %+v", m, id, v)
		}
	})
	for _, role := range []schema.Role{schema.RoleFleetd, schema.RoleAdmin} {
		for _, row := range schema.Topics {
			m := Publish{Topic: Identity{Name: "me"}.filterOf(ns, row, schema.Grant{Own: "cid"}), Retain: row.Retain, Size: 100}
			m.Topic = strings.ReplaceAll(m.Topic, "+", "r1")
			want := row.Kind == schema.TopicFleetPresence || row.Kind == schema.TopicFleetStopCmd
			if v := rightsOf(role, "me").JudgeWill(m); (v.Decision == Pass) != want {
				t.Errorf("will of %s on %s: %+v", role, m.Topic, v)
			}
		}
	}
	for _, asked := range verb.All {
		m := Publish{Topic: ns.Topic(schema.TopicCmd, "r1", "me", asked.Group, asked.Name)}
		want := Refuse
		if asked.Class == verb.ClassStop {
			want = Pass
		}
		if v := rightsOf(schema.RoleAdmin, "me").JudgeWill(m); v.Decision != want {
			t.Errorf("will with verb %s: %+v", asked.ID(), v)
		}
	}
	if v := rightsOf(schema.RoleOperator, "me").JudgeWill(Publish{Topic: ns.Topic(schema.TopicFleetStopCmd, "me")}); v.Decision != Pass {
		t.Errorf("will that stops the fleet: %+v", v)
	}
}

func TestReadingFollowsTheTopicTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id, topic := identities.Draw(t, "who"), tableTopics.Draw(t, "topic")
		if strings.Contains(topic, "+") || id.Blobs {
			return
		}
		got := Compile(id, ns).MayRead(topic)
		if id.Role == schema.RoleFleetd || id.Role == schema.RoleAdmin {
			if !got {
				t.Fatalf("%s may not read %s", id.Role, topic)
			}
			return
		}
		row, params, ok := ns.Match(topic)
		want := ok && slices.ContainsFunc(row.Read, func(g schema.Grant) bool {
			return g.Role == id.Role && (g.Own == "" || params.Get(g.Own) == id.Name) &&
				(id.Role != schema.RoleConsole || params.RID == "" || params.RID == id.Robot)
		})
		if want && !got || got && ok && !want {
			t.Fatalf("%+v may read %s: %v, want %v", id, topic, got, want)
		}
	})
}

func TestUnknownRolesHaveNoRights(t *testing.T) {
	for _, role := range []schema.Role{"", "king", schema.RoleBroker} {
		r := rightsOf(role, "x")
		if r.MayRead("#") || r.MayRead("troupe/v1/robots/r1/presence") {
			t.Errorf("role %q may read", role)
		}
	}
}

// What people said is for those who answer them, and only the robot says what it heard.
func TestIntentsAreReadByThoseWhoAnswerThem(t *testing.T) {
	intent, post := ns.Topic(schema.TopicIntent, "r1"),
		func(client string) string { return ns.Topic(schema.TopicCmd, "r1", client, "intent", "post") }
	for role, reads := range map[schema.Role]bool{
		schema.RoleFleetd: true, schema.RoleAdmin: true, schema.RoleOperator: true, schema.RoleResponder: true,
		schema.RoleObserver: false, schema.RoleStop: false, schema.RoleRobot: false,
	} {
		r := rightsOf(role, "x")
		if r.MayRead(intent) != reads {
			t.Errorf("%s may read intents: %v", role, !reads)
		}
		if r.Judge(Publish{Topic: intent}).Decision != Refuse {
			t.Errorf("%s may publish what r1 heard", role)
		}
		if posts := r.Judge(Publish{Topic: post("x")}).Decision == Pass; posts != reads {
			t.Errorf("%s may post intents: %v", role, posts)
		}
	}
	responder := rightsOf(schema.RoleResponder, "x")
	for what, p := range map[string]Publish{
		"a retained intent":          {Topic: post("x"), Retain: true},
		"an intent in another name":  {Topic: post("y")},
		"an intent that is too long": {Topic: post("x"), Size: 8<<10 + 1},
	} {
		if responder.Judge(p).Decision != Refuse {
			t.Errorf("a responder may publish %s", what)
		}
	}
	if r := rightsOf(schema.RoleRobot, "r1"); r.Judge(Publish{Topic: intent}).Decision != Pass ||
		r.Judge(Publish{Topic: intent, Retain: true}).Decision == Pass {
		t.Error("r1 publishes what it heard, and never retained")
	}
}

// A broker serves one namespace: no role may publish or read in another, under whatever name, and generated rules name no other.
func TestNoRoleReachesAnotherNamespace(t *testing.T) {
	const own, other = schema.Namespace("museum"), schema.Namespace("museum-east")
	for _, role := range Roles {
		u := User{Name: "x1", Role: role}
		if role == schema.RoleConsole {
			u.Robot = "x1"
		}
		rights := Compile(Identity{Name: u.Name, ClientID: u.Name, Role: role, Robot: u.Robot}, own)
		for _, row := range schema.Topics {
			topic := other.Root() + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(row.Pattern, "x1")
			if v := rights.Judge(Publish{Topic: topic, Retain: row.Retain, Size: 2}); v.Decision != Refuse {
				t.Errorf("%s publishes on %s", role, topic)
			}
			if v := rights.JudgeWill(Publish{Topic: topic, Retain: row.Retain, Size: 2}); v.Decision != Refuse {
				t.Errorf("%s has a will on %s", role, topic)
			}
			if rights.MayRead(topic) || rights.RefusesFilter(other.Root()+"#") == "" {
				t.Errorf("%s reads %s", role, topic)
			}
		}
		for _, rule := range mosquittoRules(u, own) {
			if _, filter, _ := strings.Cut(rule, " "); !strings.HasPrefix(filter, own.Root()) && filter != "$SYS/#" {
				t.Errorf("%s has the rule %s", role, rule)
			}
		}
	}
}
