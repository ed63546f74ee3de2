package setup_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"troupe/fleetd/setup"
	"troupe/schema/envfile"
)

const good = `name: museum
hosts: [fleet.example, 192.0.2.10]
sites: [lobby, hall-2]
`

// wrongAnswers are files with one wrong answer each, in the line that is given.
var wrongAnswers = []struct {
	text string
	line int
	says string // a part of what is wrong, or of the way out
}{
	{"hosts: fleet.example", 1, "write [fleet.example]"},
	{"hosts: []", 1, "hosts has no answer"},
	{"hosts: [https://fleet.example]", 1, "without a scheme"},
	{"hosts: [fleet.example:8080]", 1, "without a port"},
	{"hosts: [0.0.0.0]", 1, "reaches none"},
	{"hosts: [10.0.0]", 1, "neither a name nor an address"},
	{"hosts: [fleet_1.example]", 1, "neither a name nor an address"},
	{"hosts: [a.example, a.example]", 1, "there twice"},
	{"hosts: [a.example]\nhots: [b.example]", 2, "did you mean hosts?"},
	{"hosts: [a.example]\nname: The Museum", 2, "cannot be a name"},
	{"hosts: [a.example]\nname: [museum]", 2, "has one answer"},
	{"hosts: [a.example]\nname: 7", 2, `write "7", in quotes`},
	{"hosts: [a.example]\nsites: [\"\"]", 2, ""},
	{"hosts: [a.example]\nsites: [1]", 2, "in quotes"},
	{"hosts: [a.example]\nfolders:\n  config: etc/troupe", 3, "not an absolute path"},
	{"hosts: [a.example]\nfolders:\n  config: /", 3, "the root of all files"},
	{"hosts: [a.example]\nfolders:\n  data: /etc/troupe/data", 3, "contain each other"},
	{"hosts: [a.example]\nfolders: /etc/troupe", 2, "has answers below it"},
	{"hosts: [a.example]\nfolders:\n  configuration: /etc/troupe", 3, "write one of config, data"},
	{"hosts: [a.example]\ntls:\n  console: mine", 3, "write own or given or proxy"},
	{"hosts: [a.example]\ntls:\n  console: ownn", 3, "did you mean own?"},
	{"hosts: [a.example]\ntls:\n  console: given\n  key: /k.pem", 3, "tls.certificate has no answer"},
	{"hosts: [a.example]\ntls:\n  console: given\n  certificate: /c.pem", 3, "tls.key has no answer"},
	{"hosts: [a.example]\ntls:\n  certificate: /c.pem", 3, "means nothing beside the other answers"},
	{"hosts: [a.example]\ndatabase:\n  address: mysql://db/troupe", 3, "no kind of database"},
	{"hosts: [a.example]\ndatabase:\n  address: \"sqlite:\"", 3, "has no name"},
	{"hosts: [a.example]\ndatabase:\n  address: \"sqlite:fleet.db\"", 3, "not an absolute path"},
	{"hosts: [a.example]\ndatabase:\n  address: postgres://db", 3, "with a host and a name"},
	{"hosts: [a.example]\ndatabase:\n  address: postgres://troupe:pa/ss@db/troupe", 3, "write %40 for @"},
	{"hosts: [a.example]\ndatabase:\n  password_file: /p", 3, "means nothing beside the other answers"},
	{"hosts: [a.example]\ndatabase:\n  address: postgres://t:p@db/troupe\n  password_file: /p", 4, "has a password, too"},
	{"hosts: [a.example]\ndatabase: sqlite", 2, "write one of address, password_file"},
	{"hosts: [a.example]\nhttp:\n  listen: 8080", 3, "in quotes"},
	{"hosts: [a.example]\nhttp:\n  listen: 0.0.0.0", 3, "no address to listen at"},
	{"hosts: [a.example]\nhttp:\n  listen: \"::8080\"", 3, "no address to listen at"},
	{"hosts: [a.example]\nhttp:\n  listen: 0.0.0.0:99999", 3, "not 1 to 65535"},
	{"hosts: [a.example]\nhttp:\n  listen: 0.0.0.0:443", 3, "port 443 needs privileges"},
	{"hosts: [a.example]\nbroker:\n  listen: 0.0.0.0:1023", 3, "choose a port above 1023"},
	{"hosts: [a.example]\nhttp:\n  listen: a.example:8080", 3, "not an address of a machine"},
	{"hosts: [a.example]\nhttp:\n  listen: 0.0.0.0:8443", 4, "the same port 8443"},
	{"hosts: [a.example]\nhttp:\n  public_url: fleet.example", 3, "no URL of a console"},
	{"hosts: [a.example]\nhttp:\n  public_url: https://other.example", 3, "is not one of hosts"},
	{"hosts: [a.example]\nhttp:\n  public_url: http://a.example:8080", 3, "the console speaks TLS"},
	{"hosts: [a.example]\ntls: {console: proxy}\nhttp:\n  listen: 0.0.0.0:8080", 4, "go around the reverse proxy"},
	{"hosts: [a.example]\nrobots:\n  listen: 0.0.0.0:0", 3, "not 1 to 65535"},
	{"hosts: [a.example]\nrobots:\n  first: fleetd", 3, "cannot name a robot"},
	{"hosts: [a.example]\nrobots:\n  first: R1", 3, "cannot be a name"},
	{"hosts: [a.example]\nbroker:\n  where: there", 3, "write here or elsewhere"},
	{"hosts: [a.example]\nbroker:\n  where: existing", 3, "broker.host has no answer"},
	{"hosts: [a.example]\nbroker:\n  where: existing\n  host: b.example\n  users: [wall observer]", 5, "means nothing beside"},
	{"hosts: [a.example]\nbroker:\n  where: existing\n  listen: 0.0.0.0:443", 3, "broker.host has no answer"},
	{"hosts: [a.example]\ninstance: robot", 2, "cannot name a fleetd"},
	{"hosts: [a.example]\nbroker:\n  where: elsewhere", 3, "broker.host has no answer"},
	{"hosts: [a.example]\nbroker:\n  host: b.example", 3, "means nothing beside the other answers"},
	{"hosts: [a.example]\nbroker:\n  listen: 0.0.0.0:8080", 3, "the same port 8080"},
	{"hosts: [a.example]\nbroker:\n  http: 0.0.0.0:9101", 3, "can be reached by others"},
	{"hosts: [a.example]\nbroker:\n  users: [wall]", 3, "a name and a role"},
	{"hosts: [a.example]\nbroker:\n  users: [wall viewer]", 3, "no role of a client"},
	{"hosts: [a.example]\nbroker:\n  users: [fleetd operator]", 3, "cannot name a client"},
	{"hosts: [a.example]\nbroker:\n  users: [wall observer, wall operator]", 3, "the name of another client"},
	{"hosts: [a.example]\nbroker:\n  users: [r1 observer]", 3, "the name of another client"},
	{"hosts: [a.example]\naccounts:\n  admin: Anna Smith", 3, "cannot name a user"},
	{"hosts: [a.example]\naccounts:\n  secrets_file: secrets", 3, "not an absolute path"},
	{"hosts: [a.example\nname: x", 1, ""},
	{"hosts:\n\t- a.example", 2, ""},
	{"", 0, ""},
	{"museum", 1, "no answers by name"},
	{"[museum]", 1, "no answers by name"},
}

func TestEachWrongAnswerIsRefusedWithItsLine(t *testing.T) {
	for _, row := range wrongAnswers {
		_, found := setup.Read([]byte(row.text))
		switch {
		case len(found) != 1:
			t.Errorf("%q: %d problems: %v", row.text, len(found), found)
		// they may be at what should contain them
		case row.line > 0 && found[0].Line != row.line && found[0].Code != "missing" && found[0].Code != "clash":
			t.Errorf("%q: line %d: %v", row.text, found[0].Line, found[0])
		case !strings.Contains(found[0].String(), row.says):
			t.Errorf("%q: %v", row.text, found[0])
		case found[0].Hint == "" && found[0].Code != "syntax":
			t.Errorf("%q: no way out: %v", row.text, found[0])
		}
	}
}

// All wrong answers of a file are named at once.
func TestAllWrongAnswersAreNamedAtOnce(t *testing.T) {
	_, found := setup.Read([]byte(`name: The Museum
hosts: [https://a.example, b.example]
folders: {config: etc, data: /d}
tls: {console: mine}
database: {address: mysql}
http: {listen: "8080", public_url: x}
robots: {first: fleetd}
broker: {users: [wall, fleetd operator], speed: fast}
accounts: {admin: ""}
`))
	var at []string
	for _, p := range found {
		at = append(at, fmt.Sprintf("%d%s", p.Line, p.Pointer))
	}
	want := []string{"1/name", "2/hosts/0", "3/folders/config", "4/tls/console", "5/database/address", "6/http/listen",
		"6/http/public_url", "7/robots/first",
		"8/broker/users/0", "8/broker/users/1", "8/broker/speed"}
	slices.Sort(at)
	slices.Sort(want)
	if !slices.Equal(at, want) {
		t.Errorf("got  %v\nwant %v", at, want)
	}
}

func TestAnswersThatAreWrittenReadBackTheSame(t *testing.T) {
	word := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?`)
	valid := rapid.Custom(func(t *rapid.T) setup.Answers {
		return setup.Answers{
			Name: word.Draw(t, "name"), Hosts: []string{word.Draw(t, "host") + ".example"}, Sites: rapid.SliceOfNDistinct(word, 0, 3,
				rapid.ID).Draw(t, "sites"),
			Console:  rapid.SampledFrom([]string{"", setup.OwnTLS, setup.ProxyTLS}).Draw(t, "console"),
			Database: rapid.SampledFrom([]string{"", "postgres://t@db/x"}).Draw(t, "database"),
			First:    rapid.SampledFrom([]string{"", setup.Nobody, "robot-1"}).Draw(t, "first"), SecretsFile: "/x/" + rapid.StringMatching(`[ -~äß]{1,10}`).Draw(t, "file"),
		}.Complete()
	}).Filter(func(a setup.Answers) bool { return len(a.Problems()) == 0 })
	rapid.Check(t, func(t *rapid.T) {
		a := valid.Draw(t, "answers")
		again, found := setup.Read([]byte(a.Write()))
		if len(found) > 0 || fmt.Sprintf("%q", again) != fmt.Sprintf("%q", a) {
			t.Fatalf("%v\n got %q\nwant %q\n%s", found, again, a, a.Write())
		}
	})
}

// The plan of each way to set a server up, as people see it.
func TestPlanFollowsTheAnswers(t *testing.T) {
	for _, row := range []struct{ more, want, without string }{
		{"", "TROUPE_FLEETD_DATABASE=sqlite:/var/lib/troupe/fleetd/fleet.db", "BEHIND_TLS_PROXY"},
		{"", "TROUPE_FLEETD_BROKER=mqtts://localhost:8883", "ENROL_TLS_CERT"},
		{"", "TROUPE_FLEETD_ROBOT_BROKER=mqtts://fleet.example:8883", "for-the-broker"},
		{"", "TROUPE_FLEETD_PUBLIC_URL=https://fleet.example:8080", ""},
		{"http: {listen: \"[::1]:8081\"}", "TROUPE_FLEETD_HTTP=[::1]:8081\n", ""},
		{"http: {listen: 0.0.0.0:1024}", "TROUPE_FLEETD_PUBLIC_URL=https://fleet.example:1024\n", ""},
		{"tls: {console: proxy}", "TROUPE_FLEETD_PUBLIC_URL=https://fleet.example\n", ""},
		{"tls: {console: proxy}", "TROUPE_FLEETD_BEHIND_TLS_PROXY=true", "HTTP_TLS_CERT"},
		{"tls: {console: given, certificate: /c.pem, key: /k.pem}", "TROUPE_FLEETD_HTTP_TLS_CERT=/c.pem", "BEHIND_TLS_PROXY"},
		{"tls: {console: given, certificate: /c.pem, key: /k.pem}", "TROUPE_FLEETD_ENROL_TLS_CERT=/etc/troupe/fleetd.pem", ""},
		{"broker: {where: elsewhere, host: b.example}", "TROUPE_FLEETD_BROKER=mqtts://b.example:8883", "mqtts://localhost"},
		{"broker: {where: elsewhere, host: b.example}", "/etc/troupe/for-the-broker/broker.env", ""},
		{"broker: {listen: 192.0.2.10:8883}", "TROUPE_FLEETD_BROKER=mqtts://192.0.2.10:8883", "mqtts://localhost"},
		{"broker: {where: existing, host: b.example}\ninstance: fleetd-b", "TROUPE_FLEETD_NAME=fleetd-b", "broker.env"},
		{"database: {address: \"sqlite:/srv/troupe/fleet.db\"}", "/srv/troupe: the database", ""},
		{"robots: {first: none}", "TROUPE_FLEETD_ENROL=0.0.0.0:8443", "token"},
	} {
		a, found := setup.Read([]byte(good + row.more))
		if len(found) > 0 {
			t.Fatal(row.more, found)
		}
		var text strings.Builder
		for _, s := range setup.NewPlan(a, "").Steps {
			text.WriteString(s.Describe() + "\n")
			for _, one := range s.Settings {
				text.WriteString(one.Shown() + "\n")
			}
		}
		if !strings.Contains(text.String(), row.want) || row.without != "" && strings.Contains(text.String(), row.without) {
			t.Errorf("%s: want %s, and not %q in\n%s", row.more, row.want, row.without, text.String())
		}
	}
}

func TestPasswordOfTheDatabaseIsNotShown(t *testing.T) {
	a, found := setup.Read([]byte(good + "database: {address: postgres://troupe@db.example/troupe}"))
	if len(found) > 0 {
		t.Fatal(found)
	}
	p := setup.NewPlan(a, "s3cr@t/word")
	if p.Database != "postgres://troupe:s3cr%40t%2Fword@db.example/troupe" {
		t.Errorf("the address is %s", p.Database)
	}
	for _, s := range p.Steps {
		for _, one := range s.Settings {
			if strings.Contains(one.Shown(), "s3cr") {
				t.Errorf("it shows %s", one.Shown())
			}
		}
	}
}

func TestSettingsAreMergedIntoWhatAPersonWrote(t *testing.T) {
	settings := []setup.Setting{{Name: "TROUPE_FLEETD_HTTP", Value: "0.0.0.0:8080"}, {Name: "TROUPE_FLEETD_CA", Value: "/etc/a b/ca"}}
	template := "# Address of the console.\n# TROUPE_FLEETD_HTTP=127.0.0.1:8080\n"
	first, other := setup.MergeEnv(template, settings)
	if len(other) > 0 || !strings.HasSuffix(first, template) {
		t.Errorf("%v\n%s", other, first)
	}
	if again, other := setup.MergeEnv(first, settings); again != first || len(other) > 0 {
		t.Errorf("a second time: %v\n%s", other, again)
	}
	own := first + "TROUPE_FLEETD_LOG_LEVEL=debug\nTROUPE_FLEETD_BEHIND_TLS_PROXY=true\n"
	changed, other := setup.MergeEnv(own, []setup.Setting{{Name: "TROUPE_FLEETD_HTTP", Value: "127.0.0.1:1"}, settings[1]})
	read, err := envfile.Read(changed)
	if err != nil || len(other) != 2 || read["TROUPE_FLEETD_HTTP"] != "127.0.0.1:1" || read["TROUPE_FLEETD_LOG_LEVEL"] != "debug" ||
		read["TROUPE_FLEETD_BEHIND_TLS_PROXY"] != "" ||
		read["TROUPE_FLEETD_CA"] != "/etc/a b/ca" {
		t.Errorf("%v, %v, %v", err, other, read)
	}
	for _, bad := range []string{"HTTP", "A B=c", `X="open`} {
		if _, err := envfile.Read("A=1\n" + bad); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestEveryValueSurvivesAFileOfSettings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[ -~äß]{0,20}`).Draw(t, "value")
		text, _ := setup.MergeEnv("", []setup.Setting{{Name: "X", Value: value}})
		read, err := envfile.Read(text)
		if err != nil || read["X"] != value {
			t.Fatalf("%v: %q became %q:\n%s", err, value, read["X"], text)
		}
	})
}
