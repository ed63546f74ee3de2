package cli_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/schema"
)

// auditedChange is an operation that changes something, as a person does it with the command line.
type auditedChange struct {
	operation string
	before    func() // brings about what it needs
	line      string // without --why; the words in capitals are those that before sets
	what      string // of its entry in the audit, also if it is refused
	target    string // of its entry, begins so
	outcome   audit.Outcome
	refused   string // line that is refused; default: line, as somebody who may only look
	code      int    // of the line's end
	unsigned  string // why it takes no reason
	unrefused string // why nobody is refused
	body      any    // instead of a command line: what is posted to the path in line
}

// auditedChangeFiles are the files of the lines.
var auditedChangeFiles = map[string]string{
	"berlin.yaml": "site: berlin\nzone: Europe/Berlin\nhours: {mon: [\"09:00-18:00\"]}\nopen: {performance: start}\n",
	"map.yaml":    "image: map.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n",
	"map.pgm":     "P5 1 1 255\n0",
	"morning.yaml": "schedule: morning\ncron: 0 9 * * *\nzone: Europe/Berlin\naction: {mode: ato}\nselector: {all: true}\nwhy: " +
		reason + "\n",
	"phones.yaml":   "receiver: phones\nkind: webhook\nurl: http://127.0.0.1:9/\ntoken: t0ps3cret\nwhy: " + reason + "\n",
	"night.yaml":    "route: night\nreceiver: phones\ngroup_s: 0\nwhy: " + reason + "\n",
	"act.yaml":      "act: bow\nactions:\n- {type: face, start_ms: 0, end_ms: 1000, face: calm}\n",
	"act2.yaml":     "act: bow\nactions:\n- {type: face, start_ms: 0, end_ms: 1000, face: smile}\n",
	"story.yaml":    "story: museum\nname: {en: Museum}\nrepeat: loop\nacts:\n- {act: bow}\n",
	"other.yaml":    "story: other\nname: {en: Other}\nrepeat: loop\nacts:\n- {act: bow}\n",
	"activity.yaml": "activity: greet\nname: {en: Greet}\nnature: interactive\nrepeat: once\nacts:\n- {act: bow}\n",
	"gong.wav": "RIFF....WAVEfmt " +
		"\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x01\x00\x00\x00" + strings.Repeat("gong", 22),
	"sounds/fleet.yaml": "folder: sounds\n",
	"sounds/chime.wav": "RIFF....WAVEfmt " +
		"\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x01\x00\x00\x00" + strings.Repeat("chime", 22),
	"fleet/fleet.yaml": "folder: fleet\n", "fleet/nod.yaml": "act: nod\nactions:\n- {type: wait, start_ms: 0, end_ms: 1000}\n",
	"password": "a long password\n", "wrong": "not the password\n",
	"passwords": "a long password\nanother long password\n", "wrongs": "not the password\nanother long password\n",
}

const reason = "the-show"

// withoutCommand are the operations of robots, and of a sign-in on the page for the command line. Tests of
// fleetd/fleet have their entries.
var withoutCommand = []string{"enrol", "renew", "send-record", "allow-login", "finish-login"}

// Every operation of the API that changes something is done by a command of the command line,
// and leaves one entry in the audit that says who did it, why, to what, and how it ended;
// also if it is refused.
func TestEveryChangeByTheCommandLineIsAudited(t *testing.T) {
	p := newParity(t, auditedChangeFiles)
	r1 := p.robot("r1")
	one := map[string]any{"ids": []string{"r1"}}
	settings := map[string]any{"config": map[string]any{"set": map[string]any{"boot_mode": "mnl"}}}
	var made api.RolloutDetail
	auditedChanges := []auditedChange{
		{operation: "add-user", line: "user add carl --role operator --no-password", what: "user add", target: "user carl"},
		{operation: "change-user", line: "user set carl --role viewer", what: "user set", target: "user carl"},
		{operation: "set-password", line: "user password carl --password-file password", what: "user password", target: "user carl"},
		{operation: "make-access-token", line: "token create nightly", what: "token create", target: "token ",
			refused: "token create nightly --user anna"},
		{operation: "revoke-access-token", line: "token revoke TOKEN", what: "token revoke", target: "token ", before: func() {
			var token api.AccessToken
			p.must("POST", "/tokens", api.NewAccessToken{Name: "old", User: "anna"}, &token)
			p.words["TOKEN"] = token.ID
		}},
		{operation: "end-session", line: "session end SESSION", what: "session end", target: "user carl", before: func() {
			var open struct{ Sessions []api.ActiveSession }
			p.signIn("carl")
			p.must("GET", "/sessions?user=carl", nil, &open)
			p.words["SESSION"] = open.Sessions[0].ID
		}},
		{operation: "end-sessions", line: "session end --all --user carl", what: "session end", target: "user carl", before: func() {
			p.signIn("carl")
		}},

		{operation: "adopt-robot", line: "adopt r1", what: "adopt", target: "robot r1"},
		{operation: "set-labels", line: "robot label r1 site=lobby", what: "label", target: "robot r1"},
		{operation: "label-robots", line: "robot label -l site=lobby floor=2 --expect 1", what: "label", target: "1 robots"},
		{operation: "command", line: "mode set ato r1", what: "command mode/set", target: "robot r1", outcome: audit.Accepted},
		{operation: "post-intent", line: "/robots/r1/intents", body: map[string]any{"name": "greet", "why": reason}, what: "command intent/post",
			target: "robot r1", outcome: audit.Accepted},
		{operation: "ask-record", line: "/robots/r1/records", body: map[string]any{"last_ms": 60000, "why": reason},
			what: "command record/export", target: "robot r1", outcome: audit.Accepted},
		{operation: "cancel-command", line: "command cancel COMMAND", what: "cancel", target: "command ", before: func() {
			p.must("POST", "/robots/r3/adopt", audit.Attribution{}, nil)
			var b api.Batch
			p.must("POST", "/commands", map[string]any{"verb": "mode/set", "args": map[string]any{"mode": "ato"},
				"selector": map[string]any{"ids": []string{"r3"}}}, &b)
			p.words["COMMAND"] = b.Commands[0].ID
		}},
		{operation: "stop", line: "stop r1", what: "stop", target: "stop "},
		{operation: "release-stops", line: "stop release LATCH", what: "release", target: "stop ", before: func() {
			p.words["LATCH"] = p.fleetd.Latched()[0].ID
		}},
		{operation: "ack-alert", line: "alert ack r1 hot", what: "acknowledge", target: "robot r1", before: func() {
			r1.Change(func(s *schema.State) { s.Alerts = []schema.Alert{{ID: "hot", Level: schema.AlertError}} })
			p.until("the alert is seen", func() bool { d, _ := p.fleetd.Robot("r1"); return len(d.Alerts) == 1 })
		}},

		{operation: "put-asset", line: "asset put gong.wav", what: "put", target: "asset gong"},
		{operation: "delete-asset", line: "asset delete gong", what: "delete", target: "asset gong"},
		{operation: "save-act", line: "act save -f act.yaml", what: "save", target: "act bow",
			unsigned: "a draft reaches no robot; publishing it asks for a reason"},
		{operation: "publish-act", line: "act publish bow", what: "publish", target: "act bow"},
		{operation: "restore-act", line: "act restore bow 1 --over 2", what: "save", target: "act bow", before: func() {
			if _, code, out := p.types("anna", "act save -f act2.yaml --over 1"); code != 0 {
				t.Fatal(out)
			}
		}},
		{operation: "duplicate-act", line: "act duplicate bow curtsy", what: "save", target: "act "},
		{operation: "delete-act", line: "act delete curtsy", what: "delete", target: "act curtsy"},
		{operation: "recover-act", line: "act recover curtsy", what: "recover", target: "act curtsy"},
		{operation: "save-story", line: "story save -f story.yaml", what: "save", target: "story museum", unsigned: "as save-act"},
		{operation: "publish-story", line: "story publish museum", what: "publish", target: "story museum"},
		{operation: "restore-story", line: "story restore museum 1", what: "save", target: "story museum"},
		{operation: "duplicate-story", line: "story duplicate museum shop", what: "save", target: "story "},
		{operation: "delete-story", line: "story delete shop", what: "delete", target: "story shop"},
		{operation: "recover-story", line: "story recover shop", what: "recover", target: "story shop"},
		{operation: "save-activity", line: "activity save -f activity.yaml", what: "save", target: "activity greet", unsigned: "as save-act"},
		{operation: "publish-activity", line: "activity publish greet", what: "publish", target: "activity greet"},
		{operation: "restore-activity", line: "activity restore greet 1", what: "save", target: "activity greet"},
		{operation: "duplicate-activity", line: "activity duplicate greet wave", what: "save", target: "activity "},
		{operation: "delete-activity", line: "activity delete wave", what: "delete", target: "activity wave"},
		{operation: "recover-activity", line: "activity recover wave", what: "recover", target: "activity wave"},
		{operation: "publish-texts", line: "publish -f other.yaml", what: "publish", target: "story other"},
		{operation: "put-file", line: "apply -f sounds", what: "put", target: "file "},
		{operation: "apply-folder", line: "apply -f fleet", what: "apply folder", target: "folder fleet"},
		{operation: "import-library", line: "import -f act2.yaml", what: "save", target: "act bow"},
		{operation: "try-text", line: "act try bow --robot r1", what: "command act/perform", target: "robot r1", outcome: audit.Accepted,
			before: func() {
				p.must("POST", "/commands", map[string]any{"verb": "safety/enable", "selector": one}, nil)
				p.must("POST", "/commands", map[string]any{"verb": "mode/set", "args": map[string]any{"mode": "mnl"}, "selector": one}, nil)
			}},

		{operation: "assign", line: "story assign museum r1", what: "assign", target: "story museum"},
		{operation: "revert-assignment", line: "story revert r1", what: "revert", target: "story museum", before: func() {
			p.must("POST", "/assignments", map[string]any{"story": "other", "selector": one}, nil)
		}},
		{operation: "assign-activities", line: "activity assign greet r1", what: "assign", target: "activities greet"},
		{operation: "desired", line: "desired mode ato r1", what: "desired", target: "mode ato"},

		{operation: "put-site", line: "site set berlin.yaml", what: "site", target: "site berlin"},
		{operation: "put-site-map", line: "site map set berlin map.yaml", what: "site map", target: "site berlin"},
		{operation: "delete-site-map", line: "site map delete berlin", what: "site map", target: "site berlin"},
		{operation: "put-schedule", line: "schedule put morning.yaml", what: "schedule", target: "schedule morning"},
		{operation: "delete-schedule", line: "schedule delete morning", what: "delete", target: "schedule morning"},
		{operation: "delete-site", line: "site delete berlin", what: "delete", target: "site berlin"},
		{operation: "put-receiver", line: "receiver put phones.yaml", what: "receiver", target: "receiver phones"},
		{operation: "test-receiver", line: "receiver test phones", what: "receiver test", target: "receiver phones", outcome: audit.Failed,
			code: 1, unsigned: "nothing changes"},
		{operation: "put-route", line: "route put night.yaml", what: "route", target: "route night"},
		{operation: "resend-notification", line: "notification resend NOTIFICATION", what: "notification resend", target: "notification ",
			before: func() {
				r1.Change(func(s *schema.State) {
					s.Alerts = []schema.Alert{{ID: "late", Type: "device_late", Level: schema.AlertError, FirstTS: 1}}
				})
				var got api.NotificationList
				p.until("a notification is given up", func() bool {
					p.must("GET", "/notifications?state=dead", nil, &got)
					return len(got.Notifications) > 0
				})
				p.words["NOTIFICATION"] = got.Notifications[0].ID
			}},
		{operation: "delete-route", line: "route delete night", what: "delete", target: "route night"},
		{operation: "delete-receiver", line: "receiver delete phones", what: "delete", target: "receiver phones"},
		{operation: "put-policy", line: "policy put lobby --story museum -l site=lobby --now", what: "policy", target: "policy lobby"},
		{operation: "delete-policy", line: "policy delete lobby", what: "policy delete", target: "policy lobby"},
		{operation: "create-rollout", line: "rollout create --set boot_mode=mnl r1", what: "rollout", target: "rollout "},
		{operation: "ack-fleet-alert", line: "alert ack-fleet ALERT", what: "acknowledge", target: "alert rollout-", before: func() {
			p.must("POST", "/rollouts", map[string]any{"content": settings, "selector": map[string]any{"ids": []string{"r1", "r3"}}, "supersede": 1},
				&made)
			p.words["ROLLOUT"], p.words["DIGEST"], p.words["ALERT"] = made.ID, made.Digest, "rollout-"+made.ID
		}},
		{operation: "approve-rollout", line: "rollout approve ROLLOUT DIGEST", what: "rollout approve", target: "rollout "},
		{operation: "start-rollout", line: "rollout start ROLLOUT", what: "rollout start", target: "rollout "},
		{operation: "pause-rollout", line: "rollout pause ROLLOUT", what: "rollout pause", target: "rollout "},
		{operation: "resume-rollout", line: "rollout resume ROLLOUT", what: "rollout resume", target: "rollout "},
		{operation: "abort-rollout", line: "rollout abort ROLLOUT", what: "rollout abort", target: "rollout "},
		{operation: "rollback-rollout", line: "rollout rollback ROLLOUT", what: "rollout rollback", target: "rollout "},
		{operation: "retry-rollout", line: "rollout retry ROLLOUT", what: "rollout retry", target: "rollout ", before: func() {
			p.must("POST", "/rollouts", map[string]any{"content": map[string]any{"mode": map[string]any{"mode": "ato"}},
				"selector": map[string]any{"ids": []string{"r3"}}, "spec": map[string]any{"offline": "fail"}, "start": true}, &made)
			p.words["ROLLOUT"] = made.ID
			p.until("r3, which is offline, failed", func() bool {
				p.must("GET", "/rollouts/"+made.ID, nil, &made)
				return slices.Contains(made.Can, "retry")
			})
		}},
		{operation: "set-pin", line: "pin set r1 story", what: "pin", target: "robot r1"},
		{operation: "remove-pin", line: "pin remove r1 story", what: "unpin", target: "robot r1"},

		{operation: "make-enrolment-token", line: "robot enrol r7", what: "make enrolment token", target: "robot r7"},
		{operation: "revoke-robot", line: "robot revoke r1", what: "revoke", target: "robot r1"},
		{operation: "decommission", line: "robot decommission r3 --yes --wait 0s", code: 4, what: "decommission", target: "robot r3"},
		{operation: "revoke-certificate", line: "ca revoke c0ffee", what: "revoke", target: "certificate c0ffee"},
		{operation: "delete-orphan", line: "robot orphans r9 --delete", what: "delete documents", target: "documents of robot r9",
			before: func() {
				p.robot("r9").Close()
				p.until("r9 is gone", func() bool { d, _ := p.fleetd.Robot("r9"); return d.Presence.Status == "offline" })
			}},
		{operation: "change-own-password", line: "user password --password-file passwords", what: "user password", target: "user anna",
			refused: "user password --password-file wrongs", unsigned: "it concerns nobody else"},
		{operation: "sign-in", line: "login --user ben --password-file password", what: "sign in", target: "user ben",
			refused: "login --user ben --password-file wrong", unsigned: "it changes nothing but who is signed in"},
		{operation: "sign-out", line: "login --user ben --password-file password", what: "sign out", target: "user ben", unsigned: "as sign-in",
			unrefused: "everybody may sign out"},
	}
	type seen struct {
		auditedChange
		did, refusedAt string
		said           string
	}
	p.must("POST", "/library/timeline", map[string]any{"kind": "act", "text": auditedChangeFiles["act.yaml"]}, nil)
	looked := p.address
	var all []seen
	last := "" // address of the newest refusal
	for _, d := range auditedChanges {
		s := seen{auditedChange: d}
		if d.before != nil {
			d.before()
		}
		why := " --why " + reason
		if d.body != nil {
			p.moves()
			s.refusedAt = p.address
			_, _ = p.ask("ben", "POST", d.line, d.body)
			p.moves()
			s.did = p.address
			if status, answer := p.ask("anna", "POST", d.line, d.body); status >= 300 {
				t.Errorf("%s is answered with %d %s", d.operation, status, answer)
			}
			all = append(all, s)
			continue
		}
		switch {
		case d.operation == "ack-alert", d.operation == "ack-fleet-alert":
			why = " --note " + reason
		case d.unsigned != "":
			why = ""
		}
		code := 0
		if d.unrefused == "" {
			line := d.line
			if d.refused != "" {
				line = d.refused
			}
			if s.refusedAt, code, s.said = p.types("ben", line+why); code == 0 || !p.called[d.operation] {
				t.Errorf("%s: %s ends with %d, called %v\n%s", d.operation, line, code, slices.Collect(maps.Keys(p.called)), s.said)
			}
			last = s.refusedAt
		}
		if s.did, code, s.said = p.types("anna", d.line+why); code != d.code || !p.called[d.operation] {
			t.Errorf("%s: %s%s ends with %d, called %v\n%s", d.operation, d.line, why, code, slices.Collect(maps.Keys(p.called)), s.said)
		}
		all = append(all, s)
	}
	var got api.Audit
	p.until("the newest refusal is written", func() bool { // after it is answered, and after those before it
		p.must("GET", "/audit?outcome=refused&limit=1", nil, &got)
		return got.Entries[0].Address == last
	})
	p.must("GET", "/audit?limit=1000", nil, &got)
	at := map[string][]audit.Entry{}
	for _, e := range got.Entries {
		if e.Of == "" {
			at[e.Address] = append(at[e.Address], e)
		}
	}
	for _, s := range all {
		of := func(address string) []audit.Entry {
			return slices.DeleteFunc(slices.Clone(at[address]), func(e audit.Entry) bool { return string(e.What) != s.what })
		}
		if found := of(s.did); len(found) != 1 {
			t.Errorf("%s leaves %d entries %q; all are %s", s.operation, len(found), s.what, notesOf(at[s.did]))
		} else if e := found[0]; !strings.HasPrefix(e.Target, s.target) || e.Target == "" || (e.Via == audit.ViaCLI) == (s.body != nil) ||
			!strings.HasPrefix(e.Principal, e.Who) || e.Who == "" ||
			s.unsigned == "" && (!strings.HasSuffix(e.Why, reason) || e.Principal != "anna with token day") || e.Outcome != s.outcome &&
			(s.outcome != "" || e.Outcome != audit.Done) {
			t.Errorf("%s leaves %s", s.operation, notesOf(found))
		}
		if s.unrefused != "" {
			continue
		}
		if found := of(s.refusedAt); len(found) != 1 {
			t.Errorf("%s, refused, leaves %d entries %q; all are %s", s.operation, len(found), s.what, notesOf(at[s.refusedAt]))
		} else if e := found[0]; e.Outcome != audit.Refused || e.Target == "" || e.Why == "" || (e.Via == audit.ViaCLI) == (s.body != nil) ||
			s.operation != "sign-in" && (e.Who != "ben" || e.Principal != "ben with token day") ||
			s.unsigned == "" && !strings.Contains(e.Detail, "the reason given was: "+reason) {
			t.Errorf("%s, refused, leaves %s", s.operation, notesOf(found))
		}
	}
	if found := at[looked]; len(found) > 0 {
		t.Errorf("to look at a timeline leaves %s", notesOf(found))
	}
	for route, operation := range changing() {
		done := slices.ContainsFunc(auditedChanges, func(d auditedChange) bool { return d.operation == operation })
		if done == slices.Contains(withoutCommand, operation) {
			t.Errorf("%s (%s) needs a row in auditedChanges", operation, route)
		}
	}
}

func notesOf(entries []audit.Entry) string {
	var out strings.Builder
	for _, e := range entries {
		text, _ := json.Marshal(e.Note)
		out.WriteString("\n  " + string(text))
	}
	return out.String()
}
