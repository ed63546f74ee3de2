package fleet

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/auth"
)

// limited serves handler with c until the test ends, and returns its address.
func limited(t *testing.T, c *connections, handler http.Handler) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Fleet{log: slog.New(slog.DiscardHandler)}
	s := f.httpServer(t.Context(), c.admit(handler), c)
	t.Cleanup(func() { s.Close() })
	go func() { _ = s.Serve(l) }()
	return l.Addr().String()
}

// ask sends text over a connection of its own and returns the first line of the answer.
func ask(t *testing.T, address, text string) (string, error) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	c.SetReadDeadline(time.Now().Add(2 * time.Second))
	return bufio.NewReader(c).ReadString('\n')
}

const halfSent = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx"

func TestHalfSentBodiesOfAnsweredRequestsLockNobodyOut(t *testing.T) {
	address := limited(t, newConnections(8, 0, 0), http.NotFoundHandler())
	for i := range 30 {
		if line, err := ask(t, address, halfSent); !strings.Contains(line, "404") {
			t.Fatalf("request %d is answered %q, %v", i, line, err)
		}
	}
}

func TestHalfSentBodiesEvictNoRequestWithASlot(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	address := limited(t, newConnections(8, 2, 0), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush()
		<-release
	}))
	var served []net.Conn
	for range 6 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		served = append(served, c)
	}
	for range 10 {
		half, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer half.Close()
		_, _ = io.WriteString(half, halfSent)
	}
	if line, err := ask(t, address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.Contains(line, "503") {
		t.Errorf("a request beyond the limit is answered %q, %v", line, err)
	}
	for i, c := range served {
		c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := io.Copy(io.Discard, c); err == nil || !strings.Contains(err.Error(), "timeout") {
			t.Errorf("request %d, which has a place, lost its connection: %v", i, err)
		}
	}
}

func TestHalfSentBodiesThatHandlersReadLockNobodyOut(t *testing.T) {
	c := newConnections(8, 2, 0)
	address := limited(t, c, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) }))
	for range 30 {
		half, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer half.Close()
		_, _ = io.WriteString(half, halfSent)
	}
	for _, whole := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"} {
		if line, err := ask(t, address, whole); !strings.Contains(line, "200") {
			t.Errorf("a whole request is answered %q, %v", line, err)
		}
	}
}

// asUser makes the header User the account of a request.
func asUser(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := auth.Principal{ID: r.Header.Get("User"), Kind: auth.KindSession}
		next.ServeHTTP(w, r.WithContext(auth.With(r.Context(), p)))
	})
}

func TestOneAccountHasItsShareOfRequestsOnly(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	c := newConnections(16, 8, 3)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Fleet{log: slog.New(slog.DiscardHandler)}
	s := f.httpServer(t.Context(), asUser(c.admit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush()
		if r.URL.Path == "/stream" {
			<-release
		}
	}))), c)
	t.Cleanup(func() { s.Close() })
	go func() { _ = s.Serve(l) }()
	for _, tt := range []struct{ what, user, method, path, want string }{
		{"the first stream", "vera", "GET", "/stream", "200"},
		{"the second", "vera", "GET", "/stream", "200"},
		{"the third", "vera", "GET", "/stream", "200"},
		{"the fourth", "vera", "GET", "/stream", "503"},
		{"a request with a body", "vera", "POST", "/", "503"},
		{"a sign-in", "", "POST", api.Prefix + "/session", "200"},
		{"a stop", "vera", "POST", api.StopPath, "200"},
		{"the release of a stop", "vera", "POST", api.StopPath + "/release", "200"},
		{"another account", "anna", "GET", "/stream", "200"},
		{"its request with a body", "anna", "POST", "/", "200"},
	} {
		body := ""
		if tt.method == "POST" {
			body = "x"
		}
		text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nUser: %s\r\nContent-Length: %d\r\n\r\n%s", tt.method, tt.path, tt.user, len(body), body)
		if line, err := ask(t, l.Addr().String(), text); !strings.Contains(line, tt.want) {
			t.Errorf("%s is answered %q, %v, want %s", tt.what, line, err, tt.want)
		}
	}
}

func TestStopThatArrivedKeepsItsConnectionUntilItIsAnswered(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	address := limited(t, newConnections(8, 4, 0), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		close(arrived)
		<-release
	}))
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "POST "+api.StopPath+" HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
	<-arrived
	for range 20 {
		other, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
	}
	if line, err := ask(t, address, "GET /"); err == nil { // its header never ends: the server has seen the 20
		t.Errorf("half a header is answered %q", line)
	}
	close(release)
	if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, "200") {
		t.Errorf("the stop is answered %q, %v", line, err)
	}
}
