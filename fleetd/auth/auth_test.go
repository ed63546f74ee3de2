package auth

import (
	"net/http/httptest"
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
	p, err := Local{}.Authenticate(httptest.NewRequest("GET", "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := Of(With(t.Context(), p)); got != p || !got.May(Administer) {
		t.Errorf("the context carries %+v, want %+v", got, p)
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
