package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/schema"
	"troupe/schema/score"
)

// Prefix is where the resources lie.
const Prefix = "/api/v1"

// MaxBody bounds the body of a request.
const MaxBody = 1 << 20

const (
	// databasePatience is how long a request waits for each answer of the database:
	// somebody stands there, who has to know whether to do it manually.
	databasePatience = 2500 * time.Millisecond
	// uploadPatience is the same for an asset, which may take long to be written.
	uploadPatience = 12 * time.Second
)

// server holds what the handlers need.
type server struct {
	fleet   Fleet
	log     *slog.Logger
	guesses *guesses
	uploads chan struct{} // places of assets that are being put
	health  health
}

// Register adds the API, its description and its health to mux.
func Register(mux *http.ServeMux, fleet Fleet, log *slog.Logger) {
	s := &server{fleet: fleet, log: log, guesses: newGuesses(), uploads: make(chan struct{}, uploadsAtOnce)}
	config := huma.DefaultConfig("Troupe", "1")
	config.Info.Description = "Fleetd of a fleet of performing robots. No stop here is an emergency stop: each is a message that software carries out."
	config.OpenAPIPath = "/api/openapi"
	config.DocsPath, config.SchemasPath = "", ""
	config.CreateHooks = nil // no $schema links in answers
	config.RejectUnknownQueryParameters = true
	config.Transformers = []huma.Transformer{asProblem}
	config.Formats = map[string]huma.Format{"application/json": strictJSON, "json": strictJSON}
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	config.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[jsontext.Value](), reflect.TypeFor[json.RawMessage]())
	h := humago.New(mux, config)
	h.UseMiddleware(strictParameters)
	s.robots(h)
	s.identities(h)
	s.services(h)
	s.enrolments(h)
	s.leaving(h)
	s.stream(h)
	s.library(h, library.KindAct, "acts")
	s.library(h, library.KindStory, "stories")
	s.assets(h)
	s.assignments(h)
	s.desired(h)
	s.commands(h)
	s.stops(h)
	s.events(h)
	s.audit(h)
	s.schemas(h)
	s.about(h)
	mux.HandleFunc("GET "+TypePrefix+"{kind}", explain)
	mux.HandleFunc("/api/", unknown)
}

// schemaName keeps types of one name but of several packages apart.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	switch pkg := path.Base(t.PkgPath()); pkg {
	case "api", ".":
		return name
	default:
		return strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
}

// Guard stands before everything: foreign pages, other hosts' names, too much,
// and our own faults. hosts are the names under which fleetd may be spoken to
// besides this machine's own; a page of another name that resolves here is not
// ours, whatever its browser believes. A nil hosts takes every name.
func Guard(next http.Handler, log *slog.Logger, hosts []string) http.Handler {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		Write(w, KindNotAllowed.Problem("the request was made by a page of another site", "use fleetd's own page, the command line or the API directly"))
	}))
	guarded := origin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if fault := recover(); fault != nil && fault != http.ErrAbortHandler {
				log.Error("fault while answering", "method", r.Method, "path", r.URL.Path, "fault", fault, "stack", string(debug.Stack()))
				Write(w, KindInternal.Problem("the request met a defect of the program", "tell its makers, with the log"))
			}
		}()
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "same-origin")
		if hosts != nil && !ours(r.Host, hosts) {
			Write(w, KindNotAllowed.Problem(fmt.Sprintf("this instance is not called %q", r.Host), "start it with --host for every name that a reverse proxy gives it"))
			return
		}
		if strings.HasPrefix(r.URL.Path, "/api/") {
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("X-Accel-Buffering", "no") // a stream behind a proxy
		}
		limit, patience := int64(MaxBody), databasePatience
		if r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, Prefix+"/assets/") {
			limit, patience = score.MaxAsset, uploadPatience
		}
		r = r.WithContext(store.WithPatience(r.Context(), patience))
		r.Body = http.MaxBytesReader(w, r.Body, limit+1) // one more, so that the API can say so itself
		guarded.ServeHTTP(w, r)
	})
}

func ours(host string, hosts []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || slices.Contains(hosts, host)
	}
	return host == "localhost" || slices.Contains(hosts, host)
}

// Write answers with a problem outside of the library.
func Write(w http.ResponseWriter, p *Problem) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the asker is gone if it fails
}

func unknown(w http.ResponseWriter, r *http.Request) {
	Write(w, KindNotFound.Problem(r.Method+" "+r.URL.Path+" is nothing of this API", "/api/openapi.json lists what there is"))
}

// explain serves what the type of a problem means.
func explain(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(Kinds(), func(k Kind) bool { return k.Name == r.PathValue("kind") })
	if i < 0 {
		Write(w, KindNotFound.Problem("there is no such kind of problem", ""))
		return
	}
	k := Kinds()[i]
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "%s (%d)\n\n%s\n", k.Title, k.Status, k.Meaning)
}

// fail turns what stands in the way into a problem. what names what was asked
// for, for answers that something is not there.
func (s *server) fail(err error, what string) error {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, store.ErrNotFound):
		return KindNotFound.Problem("there is no "+what, "")
	case errors.Is(err, store.ErrConflict):
		return KindConflict.Problem(what+" was changed at the same time", "look again, then try again")
	case errors.Is(err, store.ErrBusy):
		return KindBusy.Problem("many changed the same at once; nothing was changed", "try again")
	case errors.Is(err, store.ErrUnknown):
		s.log.Error("database did not say whether it committed", "asked for", what, "error", err)
		return KindOutcome.Problem("the change may be done or not ("+what+"): fleetd's database stopped answering while it committed it", "look when the database answers, before you ask again; stops work")
	case errors.Is(err, context.Canceled): // a client that hung up does not read this
		return KindEnding.Problem(what+" was given up: fleetd shuts down", "try again when it runs again; look first whether a change was done")
	}
	s.log.Error("database", "asked for", what, "error", err)
	return KindDatabase.Problem(what+" has to wait: fleetd's database does not answer", "robots go on, and stops work; try again when it answers; fleetd's log says more")
}

// kinds are the problems of plans that are not about the document itself.
var kinds = map[string]Kind{
	library.CodeNotFound:          KindNotFound,
	library.CodeDeleted:           KindNotFound,
	library.CodeConflict:          KindStale,
	library.CodeNotPublished:      KindUnpublished,
	library.CodeActGone:           KindConflict,
	library.CodeCountChanged:      KindCount,
	library.CodeConfirm:           KindConfirm,
	library.CodeInUse:             KindInUse,
	string(schema.ReasonInternal): KindInternal,
}

// refusal turns the problems of a plan into one answer; the first that is not
// about the document gives it its kind.
func refusal(found []Finding) *Problem {
	kind := KindInvalid
	for _, f := range found {
		if k, ok := kinds[f.Code]; ok {
			kind = k
			break
		}
	}
	p := kind.Problem("", "", found...)
	if n := len(schema.Errors(problemsOf(found))); n > 1 {
		p.Detail = fmt.Sprintf("%d things are wrong", n)
	} else if len(found) > 0 {
		p.Detail, p.Hint = found[0].Detail, found[0].Hint
	}
	return p
}

func problemsOf(found []Finding) []schema.Problem {
	out := make([]schema.Problem, len(found))
	for i, f := range found {
		out[i] = f.Problem
	}
	return out
}
