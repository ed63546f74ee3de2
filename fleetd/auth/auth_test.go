package auth

import (
	"net/http/httptest"
	"reflect"
	"testing"
)

func TestRequestWithoutPrincipalHasNoRights(t *testing.T) {
	p := Of(t.Context())
	if p.May(All) {
		t.Errorf("a context without a principal gives %q", p.Rights)
	}
	if !p.May(SelfProving) {
		t.Error("a request that proves itself is refused")
	}
	if p.SignedIn() {
		t.Error("nobody is signed in")
	}
	if p.May(0) {
		t.Error("a route that names no right is open")
	}
}

func TestEveryRightHasAName(t *testing.T) {
	for right := Rights(1); right <= All; right <<= 1 {
		if right.String() == "" {
			t.Errorf("right %b has no name", right)
		}
	}
	if got := (Command | Stop).String(); got != "command or stop" {
		t.Errorf("several rights read %q", got)
	}
}

func TestPrincipalIsCarriedByTheContext(t *testing.T) {
	p := Dev()
	if got := Of(With(t.Context(), p)); !reflect.DeepEqual(got, p) || !got.May(Administer) || !got.SignedIn() {
		t.Errorf("the context carries %+v, want %+v", got, p)
	}
}

func TestLimitedTokenChangesNoAccount(t *testing.T) {
	u := User{Name: "anna", Roles: []Role{Operator, Viewer}}
	if got := (Token{User: "anna"}).Principal(u); !got.May(Own) || !got.May(Command) {
		t.Errorf("a token without a limit may %v", got.Rights)
	}
	if got := (Token{User: "anna", Roles: []Role{Viewer}}).Principal(u); got.Rights != View {
		t.Errorf("a token for a viewer may %v", got.Rights)
	}
}

func TestRobotsMayOnlyRead(t *testing.T) {
	p, err := Robots{}.Authenticate(httptest.NewRequest("GET", "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	if p.May(All &^ View) {
		t.Errorf("a robot may %v", p.Rights)
	}
}

func TestRoleOfNoNameHasNoRights(t *testing.T) {
	if got := RightsOf([]Role{"king", ""}); got != 0 {
		t.Errorf("unknown roles have the right to %v", got)
	}
}

func TestEveryRightBelongsToARole(t *testing.T) {
	for right := Rights(1); right < end; right <<= 1 {
		if RolesWith(right) == "" {
			t.Errorf("no role has the right to %v", right)
		}
	}
	if got := RolesWith(Command); got != "operator or admin" {
		t.Errorf("commands may be sent by %q", got)
	}
}

// Whoever makes robots move, or changes what they will do, can stop them too.
func TestWhoeverChangesRobotsMayStopThem(t *testing.T) {
	for _, row := range Roles {
		if row.Rights&(Command|Manual|Try|Edit|Assign|ReleaseStops) != 0 && row.Rights&Stop == 0 {
			t.Errorf("%s may not stop robots", row.Role)
		}
	}
}

func TestPrincipalOfSitesSeesTheirRobotsOnly(t *testing.T) {
	p := Principal{Kind: KindSession, Sites: []string{"lobby", "hall"}}
	for site, want := range map[string]bool{"lobby": true, "hall": true, "cellar": false, "": false} {
		if got := p.Sees(map[string]string{SiteLabel: site}); got != want {
			t.Errorf("a robot at %q is seen: %v", site, got)
		}
	}
	if p.Sees(nil) || !Dev().Sees(nil) {
		t.Error("a robot without a site is seen by those of every site, and only by them")
	}
	if (Principal{}).Sees(nil) {
		t.Error("nobody sees a robot")
	}
}
