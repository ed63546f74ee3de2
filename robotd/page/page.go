// Package page serves a robot's own page: what a person who stands at the robot needs of it
// when there is no network. It shows the robot and sends it commands, which pass the same
// checks as those of the broker's clients.
//
// Pages are complete HTML from a template and work without scripts; a small script only
// saves reloading. Each view of a signed-in person counts as an operator's heartbeat.
package page

import (
	"context"
	"crypto/subtle"
	"embed"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/profile"
)

// Robot is what the page needs of the robot. Every call ends soon, also if the robot's loop
// hangs.
type Robot interface {
	View(context.Context) (View, error)
	// Ask sends a command and returns its final answer, or the newest one if that takes long.
	Ask(ctx context.Context, verb string, args any) (schema.Ack, error)
	// ReleaseStops releases the latched stops that fleetd has not recorded.
	ReleaseStops(context.Context) error
	// Heartbeat says that an operator is there.
	Heartbeat(context.Context)
}

// View is what a page shows.
type View struct {
	effect.Snapshot
	Events  []schema.Event // the newest first
	Waiting *Waiting       // the robot has no body yet, and the view nothing else; nil = it has
}

// Waiting is what a robot waits for before it begins.
type Waiting struct {
	For     string // what is missing, and what to do; empty at first
	On      string // the address of the bus; empty = there is none
	Since   time.Time
	Latches []schema.StopLatch // if somebody stopped it meanwhile
}

// ErrSilent is returned by a Robot whose loop does not answer.
var ErrSilent = errors.New("the robot's control loop does not answer")

// Config says whose page it is.
type Config struct {
	ID     string
	Data   string   // the robot's data directory, with the file of the password
	Hosts  []string // names by which browsers may ask for the page, beside localhost and IP addresses
	Broker string
	Robot  Robot
	// Metrics answers scrapers that send MetricsToken; nil: there are no metrics.
	Metrics      http.Handler
	MetricsToken string
	Pprof        bool // add the profiles of package schema/profile
	Now          func() time.Time
	Logger       *slog.Logger
}

// Server serves the page.
type Server struct {
	Config
	sessions sessions
	attempts *attempts // to send the password
	handler  http.Handler
}

const (
	maxBody = 4 << 10
	// policy lets the page load its own files only.
	policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'"
)

//go:embed static
var static embed.FS

// New returns a server. It creates the password if there is none.
func New(c Config) (*Server, error) {
	if err := ensurePassword(c.Data); err != nil {
		return nil, err
	}
	s := &Server{Config: c, attempts: newAttempts()}
	mux := http.NewServeMux()
	for _, name := range []string{"page.css", "page.js", "icon.svg"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, static, "static/"+name)
		})
	}
	mux.HandleFunc("GET /sign-in", s.showSignIn)
	mux.HandleFunc("POST /sign-in", s.signIn)
	mux.HandleFunc("POST /sign-out", s.signOut)
	mux.HandleFunc("GET /status", s.status)
	if c.Metrics != nil {
		mux.HandleFunc("GET /metrics", s.metrics)
	}
	if c.Pprof {
		profile.Register(mux)
	}
	mux.HandleFunc("GET /{$}", s.signedIn(s.show))
	mux.HandleFunc("POST /do/{action}", s.signedIn(s.do))
	s.handler = s.guard(http.NewCrossOriginProtection().Handler(mux))
	return s, nil
}

// ServeHTTP serves one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// guard sets the headers of every answer, and refuses requests under a name that is not the
// robot's: a page of another site can make its own name lead here.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if !s.known(r.Host) {
			http.Error(w, "this robot does not know the name "+r.Host+": use its IP address, or start robotd with --page-host",
				http.StatusMisdirectedRequest)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// metrics answers a scraper.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.MetricsToken)) != 1 {
		http.Error(w, "send the token of robotd's setting metrics_token_file as Authorization: Bearer", http.StatusUnauthorized)
		return
	}
	s.Metrics.ServeHTTP(w, r)
}

func (s *Server) known(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return host == "localhost" || net.ParseIP(host) != nil || slices.Contains(s.Hosts, host)
}

// atRobot reports whether the request comes from the robot's own computer.
func atRobot(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && net.ParseIP(host).IsLoopback()
}
