package api

import (
	"context"
	"fmt"
	"net/http"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/folder"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/fleetd/rollout"
	"troupe/schema"
	"troupe/schema/score"
)

// FolderFiles is a folder, without the bytes of its assets.
type FolderFiles struct {
	audit.Attribution
	Files    []folder.File  `json:"files" maxItems:"1000" doc:"its texts; fleet.yaml names it"`
	Assets   []folder.Asset `json:"assets,omitempty" maxItems:"2000"`
	Prune    bool           `json:"prune,omitempty" doc:"delete what an earlier apply of this folder brought and the folder no longer has"`
	TakeOver bool           `json:"take_over,omitempty" doc:"take over what another folder brought"`
	Now      bool           `json:"now,omitempty" doc:"robots get what policies say at once, without a rollout"`
	Rollout  rollout.Spec   `json:"rollout,omitzero" doc:"how the rollouts go by which robots get what policies say; default: a canary, then waves"`
}

// FolderRequest applies a folder.
type FolderRequest struct {
	FolderFiles
	Digest          string `json:"digest,omitempty" maxLength:"128" doc:"of the plan that you saw: refused if the apply would do something else, or if it is missing and robots are taken from open rollouts"`
	ExpectedDeletes *int   `json:"expected_deletes,omitempty" minimum:"0" doc:"how many objects are deleted: refused if it is another number, or if it is missing and there are any"`
}

// FolderPlan is what an apply of a folder does, or did.
type FolderPlan struct {
	folder.Plan
	Missing []string `json:"missing" doc:"digests of files of assets that fleetd does not have: upload them before the apply"`
}

const (
	folderDiffPath  = "/folder/diff"
	folderApplyPath = "/folder/apply"
	// maxFolder bounds a request with a folder: its texts as JSON.
	maxFolder = 2 * folder.MaxBytes
)

// folders registers the requests of a fleet as files.
func (s *server) folders(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "export-folder", Method: http.MethodGet, Path: "/folder", Tag: "folder", Right: auth.View, FleetWide: true,
		Summary: "Get the fleet as files",
		Description: "What is published, the assets, and the places, policies, sites and schedules. Drafts that were not published are " +
			"only named. To apply the files again changes nothing.",
		Example: "export winter",
	}, func(ctx context.Context, in *struct {
		caller
		Name string `query:"name" required:"true" maxLength:"63" doc:"of the folder: a-z, 0-9 and -"`
	}) (*answer[folder.Exported], error) {
		if !schema.ValidID(in.Name) {
			return nil, refusal([]Finding{{In: "query", Problem: schema.NewProblem("/name", score.CodeBadID,
				fmt.Sprintf("%q cannot name a folder", in.Name), "write a to z, 0 to 9 and -, at most 63 characters")}})
		}
		end, err := s.heavy.begin(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		out, err := s.Folders.Export(ctx, in.Name)
		if err != nil {
			return nil, s.fail(err, "folder")
		}
		return &answer[folder.Exported]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "diff-folder", Method: http.MethodPost, Path: folderDiffPath, Tag: "folder", Right: auth.View, FleetWide: true, ReadOnly: true,
		Summary: "Show what an apply of a folder would do",
		Description: "Each object that changes, with a unified diff, and the robots that it reaches. Every problem of every file is in the " +
			"answer at once, with its line.",
		Example: "diff -f museum",
		MaxBody: maxFolder,
	}, func(ctx context.Context, in *bodyOf[FolderFiles]) (*answer[FolderPlan], error) {
		return s.planFolder(ctx, in.principal, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "apply-folder", Method: http.MethodPost, Path: folderApplyPath, Tag: "folder", Right: auth.Edit, FleetWide: true,
		Summary: "Make the fleet as a folder says",
		Description: "All or nothing: its texts are published, its assets named, and its policies, sites and schedules put. To apply the " +
			"same folder again changes nothing. The files of its assets are uploaded before.",
		Audit:   audit.ActionApplyFolder,
		Example: "apply -f museum",
		MaxBody: maxFolder,
	}, func(ctx context.Context, in *bodyOf[FolderRequest]) (*answer[FolderPlan], error) {
		return s.applyFolder(ctx, in.principal, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "put-file", Method: http.MethodPut, Path: FilesPath + "{digest}", Tag: "folder", Right: auth.Edit,
		Summary: "Upload a file by its digest",
		Description: "WAV, Ogg, MP3, FLAC, PNG, JPEG, or a map in JSON, of at most 16 MiB. An apply of a folder gives it a name; " +
			"without a name " +
			"it is deleted after a while.",
		Audit:   audit.ActionPut,
		NoLine:  "fleetd apply uploads the files of assets with it",
		MaxBody: score.MaxAsset,
		More:    s.upload,
	}, func(ctx context.Context, in *struct {
		caller
		Digest string `path:"digest" pattern:"^[0-9a-f]{64}$" patternDescription:"SHA-256 in lower case"`
		AttributionQuery
		RawBody []byte `contentType:"application/octet-stream"`
	}) (*struct{}, error) {
		problems, err := s.Folders.PutFile(ctx, in.principal, in.Digest, in.RawBody, in.attribution(in.principal))
		return nil, s.failed(err, "file "+in.Digest, findings("body", problems))
	})
}

func (in FolderFiles) options() folder.Options {
	return folder.Options{Now: in.Now, Rollout: in.Rollout, Prune: in.Prune, TakeOver: in.TakeOver}
}

func (s *server) planFolder(ctx context.Context, p auth.Principal, in FolderFiles) (*answer[FolderPlan], error) {
	end, err := s.heavy.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	f, found := folder.Read(in.Files, in.Assets)
	o := in.options()
	o.Prune = o.Prune && len(found) == 0 // what cannot be read is not gone
	done, more, err := s.Folders.Plan(ctx, p, f, change.FolderApply{Options: o}, attribute(p, in.Attribution))
	if err != nil {
		return nil, s.fail(err, "folder")
	}
	if found = append(found, more...); len(found) > 0 {
		return nil, folderRefusal(found)
	}
	return folderAnswer(done), nil
}

func (s *server) applyFolder(ctx context.Context, p auth.Principal, in FolderRequest) (*answer[FolderPlan], error) {
	end, err := s.heavy.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	f, found := folder.Read(in.Files, in.Assets)
	if len(found) > 0 {
		return nil, folderRefusal(found)
	}
	done, found, err := s.Folders.Apply(ctx, p, f, change.FolderApply{Options: in.options(), Digest: in.Digest,
		Deletes: in.ExpectedDeletes}, attribute(p, in.Attribution))
	if err != nil {
		return nil, s.fail(err, "folder "+f.Name)
	}
	if len(found) > 0 {
		return nil, folderRefusal(found)
	}
	return folderAnswer(done), nil
}

func folderAnswer(done change.FolderApplied) *answer[FolderPlan] {
	return &answer[FolderPlan]{FolderPlan{done.Plan, nonNil(done.Missing)}}
}

// folderRefusal refuses a folder with the problems of all its files.
func folderRefusal(found []library.FileProblem) *Problem {
	all := make([]Finding, len(found))
	for i, p := range found {
		all[i] = Finding{File: p.Path, Problem: p.Problem}
		if p.Path == "" {
			all[i].In = "body"
		}
	}
	p := refusal(all)
	if len(all) == 1 && all[0].File == "" {
		return p
	}
	if !p.Of(KindConflict) && !p.Of(KindCount) && !p.Of(KindInUse) {
		p = KindInvalid.Problem("", "", all...)
	}
	p.Detail, p.Hint = fmt.Sprintf("the folder has %d errors; nothing was changed", len(all)), ""
	if len(all) == 1 {
		p.Detail = "the folder has an error; nothing was changed"
	}
	return p
}
