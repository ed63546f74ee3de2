package auth

import (
	"net"
	"net/http"
	"strings"

	"troupe/fleetd/audit"
)

// CLIAgent begins the User-Agent of fleetd's command line.
const CLIAgent = "fleetd/"

// Origin is where a request came from.
type Origin struct {
	Address string
	Via     audit.Via
	Agent   string // what the program calls itself
}

// OriginOf reads where the request of a principal came from. Which program it was, is what
// the request says.
func OriginOf(r *http.Request, p Principal) Origin {
	o := Origin{Address: r.RemoteAddr, Via: audit.ViaAPI, Agent: r.UserAgent()}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		o.Address = host
	}
	switch {
	case p.Kind == KindCertificate:
		o.Via = audit.ViaRobot
	case strings.HasPrefix(r.UserAgent(), CLIAgent):
		o.Via = audit.ViaCLI
	case p.Kind == KindToken:
		o.Via = audit.ViaToken
	case p.Kind == KindSession:
		o.Via = audit.ViaWeb
	case r.Header.Get("Sec-Fetch-Site") != "": // browsers send it, and pages cannot change it
		o.Via = audit.ViaWeb
	}
	return o
}

// Source is what the audit keeps of the principal; the zero principal is fleetd itself.
func (p Principal) Source() audit.Source {
	s := audit.Source{Principal: p.ID, Address: p.From.Address, Via: p.From.Via}
	if p.Token != "" {
		s.Principal += " with token " + p.Token
	}
	if p.ID == "" && s.Via == "" {
		s.Via = audit.ViaFleetd
	}
	return s
}
