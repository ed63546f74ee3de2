package notify_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/notify"
	"troupe/fleetd/site"
	"troupe/schema"
)

func pointers(found []schema.Problem) []string {
	var all []string
	for _, p := range found {
		all = append(all, p.Pointer+" "+p.Code)
		if p.Detail == "" || p.Hint == "" {
			all = append(all, "without words")
		}
	}
	slices.Sort(all)
	return all
}

func TestWrongInputIsRefusedAllAtOnce(t *testing.T) {
	hook := notify.Receiver{Kind: notify.Webhook, URL: "https://hooks.example/x"}
	mail := notify.Receiver{Kind: notify.Email, Server: "mail.example:587", From: "a@b.example", To: []string{"c@d.example"}}
	with := func(r notify.Receiver, change func(*notify.Receiver)) notify.Receiver { change(&r); return r }
	for _, one := range []struct {
		name string
		of   notify.Receiver
		s    notify.Secrets
		want string
	}{
		{"a good webhook", hook, notify.Secrets{HMACKey: "0123456789abcdef", Token: "t"}, ""},
		{"a good mail", mail, notify.Secrets{}, ""},
		{"a good ntfy", notify.Receiver{Kind: notify.Ntfy, URL: "https://ntfy.example", Topic: "robots"}, notify.Secrets{}, ""},
		{"no kind", notify.Receiver{}, notify.Secrets{}, "/kind bad_kind"},
		{"a language without texts", with(hook, func(r *notify.Receiver) { r.Language = "it" }), notify.Secrets{}, "/language bad_language"},
		{"no URL", with(hook, func(r *notify.Receiver) { r.URL = "" }), notify.Secrets{}, "/url missing"},
		{"a file", with(hook, func(r *notify.Receiver) { r.URL = "file:///etc/passwd" }), notify.Secrets{}, "/url bad_url"},
		{"another protocol", with(hook, func(r *notify.Receiver) { r.URL = "gopher://x.example/" }), notify.Secrets{}, "/url bad_url"},
		{"no host", with(hook, func(r *notify.Receiver) { r.URL = "https://:443/" }), notify.Secrets{}, "/url bad_url"},
		{"a password in the URL", with(hook, func(r *notify.Receiver) { r.URL = "https://u:p@x.example/" }), notify.Secrets{},
			"/url secret_in_url"},
		{"a fragment", with(hook, func(r *notify.Receiver) { r.URL += "#a" }), notify.Secrets{}, "/url bad_url"},
		{"the token in the host", with(hook, func(r *notify.Receiver) { r.URL = "https://{token}.example/" }), notify.Secrets{Token: "t"},
			"/url bad_url"},
		{"a place for a token, and none", with(hook, func(r *notify.Receiver) { r.URL += "/{token}" }), notify.Secrets{}, "/token missing"},
		{"a short key", hook, notify.Secrets{HMACKey: "short"}, "/hmac_key too_short"},
		{"a header in the token", hook, notify.Secrets{Token: "a\r\nHost: b"}, "/token bad_token"},
		{"no topic", notify.Receiver{Kind: notify.Ntfy, URL: "https://ntfy.example"}, notify.Secrets{}, "/topic missing"},
		{"a wrong topic", notify.Receiver{Kind: notify.Ntfy, URL: "https://ntfy.example", Topic: "a/b"}, notify.Secrets{}, "/topic bad_topic"},
		{"no server", with(mail, func(r *notify.Receiver) { r.Server = "" }), notify.Secrets{}, "/server missing"},
		{"no port", with(mail, func(r *notify.Receiver) { r.Server = "mail.example" }), notify.Secrets{}, "/server bad_server"},
		{"a port that is none", with(mail, func(r *notify.Receiver) { r.Server = "mail.example:99999" }), notify.Secrets{}, "/server bad_server"},
		{"a user without a password", with(mail, func(r *notify.Receiver) { r.User = "u" }), notify.Secrets{}, "/password missing"},
		{"a password without a user", mail, notify.Secrets{Password: "p"}, "/user missing"},
		{"a password in clear", with(mail, func(r *notify.Receiver) { r.User, r.TLS = "u", "none" }), notify.Secrets{Password: "p"},
			"/tls password_in_clear"},
		{"a line break in the user", with(mail, func(r *notify.Receiver) { r.User = "u\nv" }), notify.Secrets{Password: "p"}, "/user bad_user"},
		{"no encryption that exists", with(mail, func(r *notify.Receiver) { r.TLS = "ssl" }), notify.Secrets{}, "/tls bad_tls"},
		{"a header in the sender", with(mail, func(r *notify.Receiver) { r.From = "a@b.example\r\nBcc: x@y.example" }), notify.Secrets{},
			"/from bad_address"},
		{"no sender and no recipient", with(mail, func(r *notify.Receiver) { r.From, r.To = "", nil }), notify.Secrets{},
			"/from missing, /to missing"},
		{"one wrong recipient", with(mail, func(r *notify.Receiver) { r.To = []string{"c@d.example", "d"} }), notify.Secrets{},
			"/to/1 bad_address"},
		{"too many recipients", with(mail, func(r *notify.Receiver) { r.To = slices.Repeat(r.To, 21) }), notify.Secrets{}, "/to too_many"},
		{"what another kind has", with(hook, func(r *notify.Receiver) { r.Topic, r.To = "t", []string{"a@b.example"} }),
			notify.Secrets{Password: "p"},
			"/password not_for_kind, /to not_for_kind, /topic not_for_kind"},
	} {
		if got := strings.Join(pointers(one.of.Problems(one.s)), ", "); got != one.want {
			t.Errorf("%s: %s, want %s", one.name, got, one.want)
		}
	}
	_, found := notify.Compile(notify.Route{
		Receiver: "nobody", Alerts: []string{"no_such", "device_late",
			"device_late"}, Events: []string{"nothing"}, Level: "loud", Sites: []string{"", "a", "a"},
		Quiet:  &notify.Quiet{Zone: "Mars/Base", Windows: []site.Window{{Span: "25:00-26:00"}}, Through: "info"},
		GroupS: seconds(-1), RepeatS: seconds(1 << 40), Escalate: &notify.Escalation{AfterS: 1, Receiver: "nobody"},
	}, func(string) bool { return false })
	want := []string{
		"/alerts/0 unknown_type", "/alerts/2 duplicate", "/escalate/after_s out_of_range", "/escalate/receiver not_found",
		"/escalate/receiver same_receiver", "/events/0 unknown_type",
		"/group_s out_of_range", "/level bad_level", "/quiet/through bad_level", "/quiet/windows/0/span bad_span", "/quiet/zone unknown_zone",
		"/receiver not_found", "/repeat_s out_of_range",
		"/sites/0 bad_site", "/sites/2 bad_site",
	}
	if got := pointers(found); !slices.Equal(got, want) {
		t.Errorf("the route has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, found := notify.Compile(notify.Route{Events: []string{"act_failed"}, Quiet: &notify.Quiet{Zone: "UTC"},
		Escalate: &notify.Escalation{AfterS: 60, Receiver: "boss"}},
		func(string) bool { return true }); !slices.Equal(pointers(found), []string{"/escalate no_alerts", "/quiet/windows missing",
		"/receiver missing"}) {
		t.Errorf("an empty route has %q", pointers(found))
	}
}

// The console and notifications call an alert the same.
func TestTitlesAreThoseOfTheConsole(t *testing.T) {
	text, err := os.ReadFile("../console/web/src/text/alerts.ts")
	if err != nil {
		t.Fatal(err)
	}
	const next = "\n  },\n  {\n" // between the texts of two languages
	english, others, _ := strings.Cut(string(text), "export const useAlertWords")
	german, french, _ := strings.Cut(others, next)
	row := regexp.MustCompile(`(?m)^\s+(\w+): \{\s+title: (?:'((?:[^'\\]|\\.)*)'|"([^"]*)")`)
	for l, part := range map[notify.Language]string{notify.English: english, notify.German: german, notify.French: french} {
		all := row.FindAllStringSubmatch(part, -1)
		if len(all) != len(schema.Alerts) {
			t.Errorf("%s: the console has %d types of alerts, the table %d", l, len(all), len(schema.Alerts))
		}
		for _, m := range all {
			if want := strings.ReplaceAll(m[2]+m[3], `\'`, `'`); notify.Title(l, m[1]) != want {
				t.Errorf("%s in %s: %q, and in the console %q", m[1], l, notify.Title(l, m[1]), want)
			}
		}
	}
	events, err := os.ReadFile("../console/web/src/text/events.ts")
	if err != nil {
		t.Fatal(err)
	}
	row = regexp.MustCompile(`(?m)^    (\w+):\s+'((?:[^'\\]|\\.)*)'`)
	german, french, _ = strings.Cut(string(events), next)
	for l, part := range map[notify.Language]string{notify.German: german, notify.French: french} {
		all := row.FindAllStringSubmatch(part, -1)
		if len(all) < 60 {
			t.Errorf("%s: only %d types of events were found", l, len(all))
		}
		for _, m := range all {
			if got := notify.EventTitle(l, m[1]); strings.ReplaceAll(got, "`", "") != strings.NewReplacer("`", "", "[[", "", "]]",
				"").Replace(m[2]) {
				t.Errorf("%s in %s: %q, and in the console %q", m[1], l, got, m[2])
			}
		}
	}
}
