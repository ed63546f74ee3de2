package api

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/schema"
	"troupe/schema/score"
)

// Asset is a sound, an image or a map under the name that acts and places use.
type Asset struct {
	Name   string `json:"name"`
	Kind   string `json:"kind" enum:"sound,face,map" doc:"what may use it: actions of that type, or places a map"`
	Media  string `json:"media" doc:"media type, detected from the bytes"`
	SHA256 string `json:"sha256" doc:"digest of the bytes; GET /assets/sha256/{digest} downloads them"`
	Size   int64  `json:"size" doc:"bytes"`

	Format   string `json:"format,omitempty" doc:"from its header, such as wav-pcm16; left out for a map, and for a file of an earlier release"`
	LengthMS int64  `json:"length_ms,omitempty" doc:"of a sound"`
	RateHz   int64  `json:"rate_hz,omitempty" doc:"samples a second of a sound"`
	Channels int64  `json:"channels,omitempty" doc:"of a sound"`
	Width    int64  `json:"width,omitempty" doc:"pixels of an image"`
	Height   int64  `json:"height,omitempty" doc:"pixels of an image"`

	At   schema.Time `json:"at"`
	By   string      `json:"by,omitempty"`
	Uses []AssetUse  `json:"uses" doc:"published stories and activities that use it"`
}

// AssetUse is a published story or activity that uses an asset: the newest revision, or an
// older one that robots have.
type AssetUse struct {
	Story    string   `json:"story,omitempty"`
	Activity string   `json:"activity,omitempty"`
	Rev      int64    `json:"rev"`
	Newest   bool     `json:"newest"`
	Robots   []string `json:"robots" doc:"robots that have it as default story, or among their activities"`
}

// Uploaded is the result of an upload.
type Uploaded struct {
	Asset     Asset    `json:"asset"`
	Unchanged bool     `json:"unchanged" doc:"the asset had these bytes already"`
	Stale     []string `json:"stale" doc:"stories whose newest revision uses other bytes of this asset; publish them again to update them"`

	StaleActivities []string `json:"stale_activities" doc:"activities whose newest revision uses other bytes of this asset"`
}

const (
	// maxUploads bounds concurrent uploads: each is in memory.
	maxUploads = 4
	// uploadTimeout is the time for the bytes of the largest asset; it sets the minimum rate
	// of uploads. uploadGrace is added for each. A slower upload is ended.
	uploadTimeout = 5 * time.Minute
	uploadGrace   = 10 * time.Second
	// partTimeout is the time for a client to receive each part of a download.
	partTimeout = time.Minute
)

// FilesPath is the path of files by digest, below Prefix.
const FilesPath = "/assets/sha256/"

// AssetList is all assets.
type AssetList struct {
	Assets []Asset `json:"assets"`
}

// PathAsset is the path parameter that names an asset.
type PathAsset struct {
	caller
	Name string `path:"name" maxLength:"63" doc:"a-z, 0-9 and -"`
}

// assets registers the requests for sounds, images and maps.
func (s *server) assets(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-assets", Method: http.MethodGet, Path: "/assets", Tag: "assets", Right: auth.View,
		Use:     "asset list",
		Summary: "List assets",
	}, func(ctx context.Context, in *noInput) (*answer[AssetList], error) {
		return s.listAssets(ctx, in.principal)
	})
	operation.Register(t, operation.Row{
		ID: "get-asset", Method: http.MethodGet, Path: "/assets/{name}", Tag: "assets", Right: auth.View,
		Example: "asset get gong",
		Summary: "Get one asset and the stories and activities that use it",
	}, s.asset)
	operation.Register(t, operation.Row{
		ID: "put-asset", Method: http.MethodPut, Path: "/assets/{name}", Tag: "assets", Right: auth.Edit,
		Summary: "Upload a sound, an image or a map",
		Description: "WAV, Ogg, MP3, FLAC, PNG, JPEG, or a map in JSON, of at most 16 MiB; the type is detected from the bytes. " +
			"Published stories keep the bytes that they were published with.",
		Audit:   audit.ActionPut,
		Example: "asset put gong.wav",
		MaxBody: score.MaxAsset,
		More:    s.upload,
	}, func(ctx context.Context, in *struct {
		PathAsset
		AttributionQuery
		RawBody []byte `contentType:"application/octet-stream"`
	}) (*answer[Uploaded], error) {
		return s.putAsset(ctx, in.principal, in.Name, in.RawBody, in.attribution(in.principal))
	})
	operation.Register(t, operation.Row{
		ID: "delete-asset", Method: http.MethodDelete, Path: "/assets/{name}", Tag: "assets", Right: auth.Edit,
		Audit: audit.ActionDelete, Use: "asset delete NAME", Example: "asset delete gong", Done: "asset {name} is deleted",
		Summary: "Delete an asset",
		Description: "Refused while the newest revision of a story or activity uses it, or an older one that a robot has as its " +
			"default story or among its activities. Published stories keep their bytes.",
	}, func(ctx context.Context, in *struct {
		PathAsset
		AttributionQuery
	}) (*struct{}, error) {
		if err := s.refuseDeleteAsset(ctx, in.principal, in.Name); err != nil {
			return nil, err
		}
		problems, err := s.Library.DeleteAsset(ctx, in.principal, in.Name, in.attribution(in.principal))
		if err := s.failed(err, "asset "+in.Name, findings("path", problems)); err != nil {
			return nil, err
		}
		return nil, nil
	})
	operation.Register(t, operation.Row{
		ID: "get-file", Method: http.MethodGet, Path: FilesPath + "{digest}", Tag: "assets", Right: auth.View,
		Example:     "asset get gong --out gong.wav",
		Summary:     "Download a file by its digest",
		Description: "The bytes of an asset, or bytes that a published story uses. Supports range requests.",
	}, func(ctx context.Context, in *struct {
		caller
		Digest string `path:"digest" pattern:"^[0-9a-f]{64}$" patternDescription:"SHA-256 in lower case"`
	}) (*huma.StreamResponse, error) {
		return s.file(ctx, in.Digest)
	})
}

// upload completes the description of an operation whose body is a file.
func (s *server) upload(o *huma.Operation) {
	o.BodyReadTimeout, o.Middlewares = uploadTimeout, huma.Middlewares{s.limitUploads}
}

// limitUploads is middleware that limits concurrent uploads and enforces a minimum rate.
func (s *server) limitUploads(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if r.ContentLength > score.MaxAsset {
		Write(w, KindTooLarge.Problem("it has "+strconv.FormatInt(r.ContentLength, 10)+" bytes, robots accept at most "+
			strconv.Itoa(score.MaxAsset), "make it shorter, or compress it"))
		return
	}
	select {
	case s.uploads <- struct{}{}:
		defer func() { <-s.uploads }()
		// The answer may be written long after the request began.
		connection := http.NewResponseController(w)
		_ = connection.SetWriteDeadline(s.Now().Add(uploadTimeout + uploadGrace + partTimeout))
		r.Body = &upload{ReadCloser: r.Body, connection: connection, now: s.Now, began: s.Now()}
		next(ctx)
	default:
		full := KindBusy.Problem("too many uploads are in progress", "try again in a moment")
		full.retryAfter = int(heavyWait.Seconds())
		Write(w, full)
	}
}

// upload is a request body that must arrive at a minimum rate.
type upload struct {
	io.ReadCloser
	connection *http.ResponseController
	now        func() time.Time
	began      time.Time
	got        int64
}

func (u *upload) Read(b []byte) (int, error) {
	due := u.began.Add(uploadGrace + uploadTimeout*time.Duration(u.got>>10)/(score.MaxAsset>>10))
	_ = u.connection.SetReadDeadline(due) // if it fails, the deadline of the whole body applies
	n, err := u.ReadCloser.Read(b)
	u.got += int64(n)
	return n, err
}

func (s *server) assetOf(p auth.Principal, a library.Asset, uses []library.Use) Asset {
	out := Asset{Name: a.Name, Kind: string(a.Media.Kind()), Media: string(a.Media), SHA256: a.SHA256, Size: a.Size,
		At: schema.TimeOf(a.ChangedAt), By: a.ChangedBy, Uses: []AssetUse{},
		Format: a.Details.Format, LengthMS: a.Details.LengthMS, RateHz: a.Details.RateHz, Channels: a.Details.Channels, Width: a.Details.Width,
		Height: a.Details.Height}
	for _, u := range uses {
		use := AssetUse{Story: u.Of.ID, Rev: u.Rev, Newest: u.Newest, Robots: s.visibleIDs(p, u.Robots)}
		if u.Of.Kind == library.KindActivity {
			use.Story, use.Activity = "", u.Of.ID
		}
		out.Uses = append(out.Uses, use)
	}
	return out
}

func (s *server) listAssets(ctx context.Context, p auth.Principal) (*answer[AssetList], error) {
	assets, uses, problems, err := s.Library.Assets(ctx)
	if err := s.failed(err, "assets", inDocument(problems)); err != nil {
		return nil, err
	}
	out := AssetList{Assets: []Asset{}}
	for _, a := range assets {
		out.Assets = append(out.Assets, s.assetOf(p, a, uses[a.Name]))
	}
	return &answer[AssetList]{out}, nil
}

func (s *server) asset(ctx context.Context, in *PathAsset) (*answer[Asset], error) {
	all, err := s.listAssets(ctx, in.principal)
	if err != nil {
		return nil, err
	}
	for _, a := range all.Body.Assets {
		if a.Name == in.Name {
			return &answer[Asset]{a}, nil
		}
	}
	return nil, s.fail(change.ErrNotFound, "asset "+in.Name)
}

// refuseDeleteAsset says why a principal may not delete an asset that robots of other sites have; nil = it may.
func (s *server) refuseDeleteAsset(ctx context.Context, p auth.Principal, name string) error {
	if p.SeesAll() {
		return nil
	}
	_, uses, _, err := s.Library.Assets(ctx)
	if err != nil {
		return s.fail(err, "asset "+name)
	}
	for _, u := range uses[name] {
		if err := s.refuseDelete(p, "asset "+name, u.Robots); err != nil {
			return err
		}
	}
	return nil
}

func (s *server) putAsset(ctx context.Context, p auth.Principal, name string, body []byte,
	by audit.Attribution) (*answer[Uploaded], error) {
	up, problems, err := s.Library.PutAsset(ctx, p, name, body, by)
	if err != nil {
		return nil, s.fail(err, "asset "+name)
	}
	if len(problems) > 0 {
		return nil, refusal(findings(requestPart(problems[0]), problems))
	}
	return &answer[Uploaded]{Uploaded{Asset: s.assetOf(p, up.Asset, nil), Unchanged: up.Unchanged, Stale: idsOf(up.Stale, library.KindStory),
		StaleActivities: idsOf(up.Stale, library.KindActivity)}}, nil
}

// requestPart returns the part of the request that a problem of an asset is about.
func requestPart(p schema.Problem) string {
	if p.Pointer == "/name" {
		return "path"
	}
	return "body"
}

// file sends a file in parts: it is never in memory as a whole, and a slow client has
// partTimeout for each part.
func (s *server) file(ctx context.Context, digest string) (*huma.StreamResponse, error) {
	if _, _, err := s.Library.File(ctx, digest); err != nil {
		return nil, s.fail(err, "file "+digest)
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		f, media, err := s.Library.File(r.Context(), digest)
		if err != nil {
			panic(http.ErrAbortHandler) // found above, gone now; no header was written yet
		}
		w.Header().Set("Content-Type", string(media))
		w.Header().Set("Content-Disposition", "attachment") // pages of the console embed it all the same
		w.Header().Set("ETag", strconv.Quote(digest))
		http.ServeContent(w, r, "", time.Time{}, &pacedFile{f, http.NewResponseController(w), s.Now})
	}}, nil
}

// pacedFile extends the write deadline of the connection with each part that is read.
type pacedFile struct {
	io.ReadSeeker
	connection *http.ResponseController
	now        func() time.Time
}

func (u *pacedFile) Read(b []byte) (int, error) {
	_ = u.connection.SetWriteDeadline(u.now().Add(partTimeout)) // if it fails, the server's own deadline applies
	return u.ReadSeeker.Read(b)
}
