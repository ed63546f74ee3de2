package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema/profile"
)

// A web page whose host name resolves to this machine (DNS rebinding) would be of the same
// origin for its browser and could read who is connected.
func TestHTTPRefusesUnknownHosts(t *testing.T) {
	b := brokertest.Start(t, func(c *server.Config) { c.HTTP, c.HTTPHosts = "127.0.0.1:0", []string{"broker.example"} })
	defer http.DefaultClient.CloseIdleConnections()
	port := b.HTTPAddr()[strings.LastIndexByte(b.HTTPAddr(), ':'):]
	for host, want := range map[string]int{
		b.HTTPAddr(): 200, "localhost" + port: 200, "LOCALHOST": 200, "[::1]" + port: 200, "127.0.0.1": 200,
		"192.0.2.7" + port: 200, "[2001:db8::7]" + port: 200, // from another machine by address; a page has a host name
		"broker.example" + port: 200, "Broker.Example.": 200,
		"evil.example" + port: 403, "evil.example": 403, "127.0.0.1.evil.example": 403, "localhost.evil.example" + port: 403,
		"sub.broker.example": 403,
	} {
		for _, path := range []string{"/healthz", "/status", "/clients", "/metrics"} {
			r, err := http.NewRequest("GET", "http://"+b.HTTPAddr()+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s of %s: status %d, want %d", path, host, answer.StatusCode, want)
			}
			if want == 403 && !strings.Contains(string(text), "--http-host") {
				t.Errorf("%s of %s: the refusal does not name the flag: %.100q", path, host, text)
			}
		}
	}
}

func TestProfilesAreServedOnlyWithPprof(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	for pprof, want := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		b := brokertest.Start(t, func(c *server.Config) { c.HTTP, c.Pprof = "127.0.0.1:0", pprof })
		for _, name := range []string{"", "heap"} {
			answer, err := http.Get("http://" + b.HTTPAddr() + profile.Path + name)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("pprof %v, %s: status %d, want %d", pprof, name, answer.StatusCode, want)
			}
		}
	}
}
