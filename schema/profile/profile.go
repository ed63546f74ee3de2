// Package profile serves the profiles of the running program over HTTP, for go tool pprof.
package profile

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
)

// Path is the path below which the profiles are.
const Path = "/debug/pprof/"

// Register adds the profiles to mux.
func Register(mux *http.ServeMux) {
	mux.HandleFunc("GET "+Path, pprof.Index)
	mux.HandleFunc("GET "+Path+"cmdline", pprof.Cmdline)
	mux.HandleFunc("GET "+Path+"profile", pprof.Profile)
	mux.HandleFunc("GET "+Path+"symbol", pprof.Symbol)
	mux.HandleFunc("GET "+Path+"trace", pprof.Trace)
}

// CheckAddress returns an error unless only this machine can reach the address, which may have port 0. Profiles need no
// password, and each request makes the program slower while it is measured.
func CheckAddress(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	ip, notIP := netip.ParseAddr(host)
	if err == nil && (host == "localhost" || notIP == nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("profiles are served only at an address of this machine, such as 127.0.0.1:9102, and other machines may reach %q", addr)
}
