package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/fleetd/policy"
	"troupe/fleetd/rollout"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/score"
)

// Prefix is the path prefix of all resources.
const Prefix = operation.Prefix

// MaxBody bounds the body of a request.
const MaxBody = 1 << 20

const (
	// databaseTimeout is how long a request waits for each answer of the database. It is
	// short, because a person waits and has to know whether to act at the robot.
	databaseTimeout = 2500 * time.Millisecond
	// assetTimeout is the same for an asset, which takes longer to write.
	assetTimeout = 12 * time.Second
)

// server is the state that the handlers share.
type server struct {
	Deps
	tokenLimit *tokenLimiter // of enrolment
	loginLimit *tokenLimiter // of codes of the command line
	uploads    chan struct{} // semaphore of uploads
	heavy      *heavyWork
	health     health
	verifying  sync.Mutex // one check of the audit at a time
	stopIDs    stopIDs
	updated    updatedCache
}

// Lists of answers are never null, and a request with null for a list is refused.
func init() { huma.DefaultArrayNullable = false }

// Register adds the API, its description and its health to mux, and returns the description.
func Register(mux *http.ServeMux, deps Deps) *huma.OpenAPI { return routes(mux, deps).OpenAPI() }

// routes is Register, and returns the operations.
func routes(mux *http.ServeMux, deps Deps) huma.API {
	s := &server{Deps: deps, tokenLimit: newTokenLimiter(), loginLimit: newTokenLimiter(), uploads: make(chan struct{}, maxUploads),
		heavy: newHeavyWork()}
	config := huma.DefaultConfig("Troupe", "1")
	config.Info.Description = "Server of a fleet of performing robots. No stop here is an emergency stop: each is a message that software " +
		"carries out."
	config.OpenAPIPath = "/api/openapi"
	config.DocsPath, config.SchemasPath = "", ""
	config.CreateHooks = nil // no $schema links in answers
	config.RejectUnknownQueryParameters = true
	config.Transformers = []huma.Transformer{asProblem, s.logFault}
	config.Formats = map[string]huma.Format{"application/json": strictJSON, "json": strictJSON}
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	config.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[view.Row](), reflect.TypeFor[view.Robot]())
	config.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[jsontext.Value](), reflect.TypeFor[json.RawMessage]())
	h := humago.New(mux, config)
	h.UseMiddleware(strictParameters, s.withinSites)
	for _, o := range s.operations() {
		o.Mount(h, described(o))
	}
	s.signInWithProvider(mux)
	serveDocs(mux, h.OpenAPI())
	mux.HandleFunc("GET "+TypePrefix+"{kind}", serveKind)
	mux.HandleFunc("/api/", servePathNotFound)
	return h
}

// operations lists what the API offers.
func (s *server) operations() []operation.Operation {
	t := &operation.Table{}
	s.robots(t)
	s.documents(t)
	s.identities(t)
	s.instanceCertificates(t)
	s.enrolments(t)
	s.decommissions(t)
	s.stream(t)
	s.teleop(t)
	for _, of := range []struct {
		kind   library.Kind
		plural string
	}{{library.KindAct, "acts"}, {library.KindStory, "stories"}, {library.KindActivity, "activities"}} {
		s.library(t, of.kind, of.plural)
		s.drafts(t, of.kind, of.plural)
		s.timeline(t, of.kind, of.plural)
	}
	s.draftTimeline(t)
	s.conditions(t)
	s.flightRecords(t)
	s.files(t)
	s.tries(t)
	s.validation(t)
	s.publication(t)
	s.folders(t)
	s.assets(t)
	s.assignments(t)
	s.reversion(t)
	s.lastAssignments(t)
	s.robotActivities(t)
	s.desired(t)
	s.rollouts(t)
	s.contentPins(t)
	s.policies(t)
	s.sites(t)
	s.siteMaps(t)
	s.schedules(t)
	s.notifications(t)
	s.commands(t)
	s.intents(t)
	s.stops(t)
	s.events(t)
	s.measurements(t)
	s.auditLog(t)
	s.alerts(t)
	s.backups(t)
	s.schemas(t)
	s.about(t)
	s.sessions(t)
	s.activeSessions(t)
	s.users(t)
	s.accessTokens(t)
	s.logins(t)
	return t.All
}

// Operations lists what the API offers, for those who do not serve it.
func Operations() []operation.Operation { return (&server{}).operations() }

// schemaName adds the package to types of other packages, so that names do not collide.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	switch pkg := path.Base(t.PkgPath()); pkg {
	case "api", "view", "latch", "library", "command", ".":
		return name
	default:
		return strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
}

// Guard is middleware around the whole server: it refuses requests from pages of other
// sites (CSRF) and with unknown host names (DNS rebinding), limits bodies, and recovers
// from panics. It puts the principal of each request, which who determines, into the context of
// the request. allowed says which names the Host header may carry besides those of loopback.
func Guard(next http.Handler, log *slog.Logger, allowed func(host string) bool, who auth.Authenticator) http.Handler {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		Write(w, KindNotAllowed.Problem("the request was made by a page of another site",
			"use fleetd's own page, the command line or the API directly"))
	}))
	guarded := origin.Handler(authenticate(who, next))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			fault := recover()
			if err, ok := fault.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(fault) // net/http ends the connection, so that the client sees that the answer is not whole
			}
			if fault != nil {
				log.ErrorContext(r.Context(), "handler panicked", "method", r.Method, "path", r.URL.Path, "panic", fault, "stack",
					string(debug.Stack()))
				Write(w, KindInternal.Problem("the request triggered a defect of fleetd", "report it to the developers with fleetd's log"))
			}
		}()
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "same-origin")
		if !hostAllowed(r.Host, allowed) {
			Write(w, KindNotAllowed.Problem(fmt.Sprintf("host name %q is not allowed", r.Host),
				"start fleetd with --host for every name that a reverse proxy uses"))
			return
		}
		if strings.HasPrefix(r.URL.Path, "/api/") {
			w.Header().Set("Cache-Control", "no-store")
			// No answer is a page: what people upload or write never runs as one.
			w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
			w.Header().Set("X-Accel-Buffering", "no") // makes nginx pass the stream on unbuffered
		}
		limit, timeout := int64(MaxBody), databaseTimeout
		switch {
		case r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, Prefix+"/assets/"), r.URL.Path == Prefix+importPath,
			r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, Prefix+"/sites/") && strings.HasSuffix(r.URL.Path, "/map"):
			limit, timeout = score.MaxAsset, assetTimeout
		case r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, schema.RecordsPath):
			limit = schema.MaxRecordBytes // which go to the disk as they come
		case r.URL.Path == Prefix+validatePath, r.URL.Path == Prefix+publishPath:
			limit = maxTexts
		case r.URL.Path == Prefix+folderDiffPath, r.URL.Path == Prefix+folderApplyPath:
			limit, timeout = maxFolder, assetTimeout
		}
		r = r.WithContext(change.WithQueryTimeout(r.Context(), timeout))
		r.Body = http.MaxBytesReader(w, r.Body, limit+1) // one more, so that huma finds the excess and answers with a problem
		guarded.ServeHTTP(w, r)
	})
}

func hostAllowed(host string, allowed func(string) bool) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return true
	}
	return allowed(host)
}

// Write answers with a problem outside of huma.
func Write(w http.ResponseWriter, p *Problem) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // an error means that the client is gone
}

func servePathNotFound(w http.ResponseWriter, r *http.Request) {
	Write(w, KindNotFound.Problem(r.Method+" "+r.URL.Path+" is not part of this API", "/api/openapi.json describes the API"))
}

// serveKind serves the meaning of a type of problem.
func serveKind(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(Kinds(), func(k Kind) bool { return k.Name == r.PathValue("kind") })
	if i < 0 {
		Write(w, KindNotFound.Problem("there is no such kind of problem", ""))
		return
	}
	k := Kinds()[i]
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintf(w, "%s (%d)\n\n%s\n", k.Title, k.Status, k.Meaning)
}

// fail turns an error of the database, or of a component that asks it, into a problem. An
// error that it does not know is logged with the answer, which says that the database does not answer. what names the
// resource of the request.
func (s *server) fail(err error, what string) error {
	var p *Problem
	var name *change.NameRefused
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &name) && name.TakenBy == "":
		return invalidName(name.Name)
	case errors.As(err, &name):
		return KindInvalid.Problem(fmt.Sprintf("%q cannot name a robot: the name belongs to %s", name.Name, name.TakenBy),
			"give the robot another name")
	case errors.Is(err, change.ErrNotFound):
		return KindNotFound.Problem("there is no "+what, "")
	case errors.Is(err, change.ErrConflict):
		return KindConflict.Problem(what+" was changed at the same time", "get it again, then try again")
	case errors.Is(err, change.ErrBusy):
		return KindBusy.Problem("too many concurrent changes; this request changed nothing", "try again")
	case errors.Is(err, change.ErrOutcomeUnknown):
		p = KindOutcome.Problem("it is unknown whether the change was made ("+what+"): the database stopped answering during the commit",
			"when the database answers again, check before you repeat the request; you can still stop robots")
		p.fault = &fault{"commit outcome unknown", what, err}
		return p
	case errors.Is(err, context.Canceled): // or the client is gone and does not read this
		return KindEnding.Problem(what+": the request was abandoned because fleetd is shutting down",
			"when fleetd runs again, check whether the change was made before you repeat the request")
	}
	if errors.Is(err, change.ErrSealKey) {
		p = KindSealKey.Problem(what+": this instance cannot read the key that seals the secrets of receivers",
			"see fleetd's log; the key is in the file of --seal-key or beside the database, or follows from --ca: restore it from the backup, or "+
				"correct its owner and mode")
	} else {
		p = KindDatabase.Problem(what+": the database does not answer",
			"robots continue, and you can still stop them; try again when the database answers; fleetd's log has details")
	}
	p.fault = &fault{"request failed", what, err}
	return p
}

// fault is why a request could not be served, for the log: clients learn no more than its Problem.
type fault struct {
	message, resource string
	err               error
}

// logFault logs the fault of an answer with the ids of its request.
func (s *server) logFault(ctx huma.Context, _ string, v any) (any, error) {
	if p, ok := v.(*Problem); ok && p.fault != nil {
		s.Log.ErrorContext(ctx.Context(), p.fault.message, "resource", p.fault.resource, "error", p.fault.err)
	}
	return v, nil
}

// failed is fail for what may also find problems, which it refuses; nil if there is neither.
func (s *server) failed(err error, what string, found []Finding) error {
	switch {
	case err != nil:
		return s.fail(err, what)
	case len(found) > 0:
		return refusal(found)
	}
	return nil
}

// kindsByCode maps the codes of problems that are not about the document itself.
var kindsByCode = map[string]Kind{
	library.CodeNotFound:          KindNotFound,
	library.CodeDeleted:           KindNotFound,
	library.CodeConflict:          KindPreconditionFailed,
	library.CodeNotPublished:      KindUnpublished,
	library.CodeActGone:           KindConflict,
	library.CodeCountChanged:      KindCount,
	library.CodeConfirm:           KindConfirm,
	library.CodeInUse:             KindInUse,
	change.CodeStillUsed:          KindInUse,
	change.CodeWaiting:            KindState,
	policy.CodeVersion:            KindConflict,
	change.CodePlanChanged:        KindConflict,
	change.CodeNoFile:             KindConflict,
	rollout.CodeWrongState:        KindState,
	rollout.CodeNothingFailed:     KindState,
	rollout.CodeOwnRollout:        KindNotAllowed,
	rollout.CodeDigestChanged:     KindConflict,
	string(schema.ReasonInternal): KindInternal,
}

// refusal turns findings into one problem. The first finding with an entry in kindsByCode
// determines its kind.
func refusal(found []Finding) *Problem {
	kind := KindInvalid
	for _, f := range found {
		if k, ok := kindsByCode[f.Code]; ok {
			kind = k
			break
		}
	}
	p := kind.Problem("", "", found...)
	if n := len(schema.Errors(problemsOf(found))); n > 1 {
		p.Detail = fmt.Sprintf("the request has %d errors", n)
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
