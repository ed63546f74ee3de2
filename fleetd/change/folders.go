package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/folder"
	"troupe/fleetd/library"
	"troupe/fleetd/policy"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Folders makes the fleet as a folder of files says, and writes it as one.
type Folders struct {
	Deps
	Rollouts *Rollouts // that bring what policies say to robots
}

// FolderApply says how a folder is applied.
type FolderApply struct {
	folder.Options
	// Digest is that of the plan that the caller saw; another one is a conflict. Empty = any that takes no robots from open rollouts.
	Digest string
	// Deletes is how many objects the caller expects to be deleted; nil = none.
	Deletes *int
}

// FolderApplied is what an apply did, or would do.
type FolderApplied struct {
	folder.Plan
	Missing []string // digests of files that fleetd does not have yet
}

// Codes of problems of folders.
const (
	CodePlanChanged = "plan_changed" // something changed since the plan was made
	CodeNoFile      = "no_file"      // a file of an asset was not uploaded
	CodeNeedsRight  = "needs_right"
)

// Export returns the fleet as files.
func (d *Folders) Export(ctx context.Context, name string) (out folder.Exported, err error) {
	var state folder.State
	err = d.query(ctx, func(tx *store.Tx) (err error) {
		state, err = d.state(ctx, tx, everything(ctx, tx))
		return err
	})
	if err != nil {
		return out, err
	}
	return folder.Write(name, state)
}

// everything reads all entries with their newest revisions, and all assets.
func everything(ctx context.Context, tx *store.Tx) func() (library.Reading, error) {
	return func() (library.Reading, error) {
		ids := map[library.Kind][]string{}
		for _, kind := range []library.Kind{library.KindAct, library.KindStory, library.KindActivity} {
			entries, err := tx.Entries(ctx, kind, false)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				ids[kind] = append(ids[kind], e.ID)
			}
		}
		return func(r library.Reader) {
			r.Assets()
			for kind, names := range ids {
				r.Newest(kind, names...)
			}
		}, nil
	}
}

// state reads what a plan of a folder looks at.
func (d *Folders) state(ctx context.Context, tx *store.Tx, reading func() (library.Reading, error)) (s folder.State, err error) {
	owners, err := tx.FolderOwners(ctx)
	if err != nil {
		return s, err
	}
	s.Owners = map[folder.Ref]string{}
	for ref, owner := range owners {
		s.Owners[folder.Ref{Kind: folder.Kind(ref.Kind), ID: ref.ID}] = owner
	}
	if s.Policies, err = tx.Policies(ctx, ""); err != nil {
		return s, err
	}
	for _, p := range s.Policies {
		s.Owners[folder.Ref{Kind: folder.KindPolicy, ID: p.ID}] = p.Owner
	}
	sites, err := tx.Sites(ctx)
	if err != nil {
		return s, err
	}
	for _, one := range sites {
		s.Sites = append(s.Sites, folder.SiteRow{ID: one.ID, Owner: one.Owner, Calendar: one.Calendar})
		s.Owners[folder.Ref{Kind: folder.KindSite, ID: one.ID}] = one.Owner
	}
	schedules, err := tx.Schedules(ctx)
	if err != nil {
		return s, err
	}
	for _, one := range schedules {
		s.Schedules = append(s.Schedules, folder.ScheduleRow{ID: one.ID, Owner: one.Owner, OfSite: one.OfSite, Schedule: one.Schedule})
		if one.OfSite == "" {
			s.Owners[folder.Ref{Kind: folder.KindSchedule, ID: one.ID}] = one.Owner
		}
	}
	read, err := reading()
	if err != nil {
		return s, err
	}
	s.Library, err = tx.LibraryFor(ctx, read, selector.Selector{})
	s.Library.Catalogue = d.Catalogue()
	return s, err
}

// read reads what the plan of one folder looks at, fills in what fleetd knows of the files of its assets, and names those that it
// does not have.
func (d *Folders) read(
	ctx context.Context, tx *store.Tx, f *folder.Fleet, o folder.Options, objects folder.Objects,
) (s folder.State, missing []string, err error) {
	digests := make([]string, len(f.Library.Assets))
	for i, a := range f.Library.Assets {
		digests[i] = a.SHA256
	}
	files, err := tx.Files(ctx, digests)
	if err != nil {
		return s, nil, err
	}
	assets := make([]library.FolderAsset, len(f.Library.Assets))
	for i, a := range f.Library.Assets {
		if known, ok := files[a.SHA256]; ok {
			a.Size, a.Media, a.Details = known.Size, known.Media, known.Details
		} else {
			missing = append(missing, a.SHA256)
		}
		assets[i] = a
	}
	f.Library.Assets = assets
	s, err = d.state(ctx, tx, func() (library.Reading, error) {
		owners, err := tx.FolderOwners(ctx)
		if err != nil {
			return nil, err
		}
		of := map[folder.Ref]string{}
		for ref, owner := range owners {
			of[folder.Ref{Kind: folder.Kind(ref.Kind), ID: ref.ID}] = owner
		}
		whole, _ := f.WithRemovals(of, o)
		policies, err := tx.Policies(ctx, "")
		if err != nil {
			return nil, err
		}
		for _, of := range objects.Policies {
			policies = append(policies, of.Is)
		}
		named := policyEntries(policies)
		return func(r library.Reader) {
			library.ForFolder(whole.Library)(r)
			for kind, ids := range named { // their newest revisions, for the texts of policies
				r.Entries(kind, ids...)
			}
		}, nil
	})
	return s, missing, err
}

// Plan says what an apply of a folder would do. It carries the apply out in a transaction that it rolls back, so that it says what the
// apply does: which revisions policies mean then, and which robots that reaches. If the library part has errors, nothing is written
// before the rollback.
func (d *Folders) Plan(
	ctx context.Context, p auth.Principal, f folder.Fleet, a FolderApply, by audit.Attribution,
) (done FolderApplied, found []library.FileProblem, err error) {
	err = d.transact(ctx, p, func(tx *store.Tx) error {
		run := folderRun{Folders: d, tx: tx, principal: p, ask: a, by: by.WithTime(d.Now()), dryRun: true}
		if found, err = run.apply(ctx, f); err != nil {
			return err
		}
		done = run.done()
		return errRefused // nothing is written
	})
	if errors.Is(err, errRefused) {
		return done, found, nil
	}
	return done, found, err
}

// Apply makes the fleet as a folder says, all or nothing. It is refused if the plan is not the one that the caller saw.
func (d *Folders) Apply(
	ctx context.Context, p auth.Principal, f folder.Fleet, a FolderApply, by audit.Attribution,
) (done FolderApplied, found []library.FileProblem, err error) {
	var touched []string
	changed := false
	err = d.transact(ctx, p, func(tx *store.Tx) error {
		run := folderRun{Folders: d, tx: tx, principal: p, ask: a, by: by.WithTime(d.Now())}
		if found, err = run.apply(ctx, f); err != nil {
			return err
		}
		if done = run.done(); len(found) == 0 {
			found = refusePlan(run.made.Plan, a, run.folder, run.missing)
		}
		if len(found) > 0 {
			return errRefused
		}
		touched = run.touched
		if changed = len(run.made.Changes)+len(run.made.Owned) > 0; !changed {
			return nil
		}
		return tx.Note(ctx, run.by.At, audit.Note{Who: by.Who, Why: by.Why, What: audit.ActionApplyFolder, Target: "folder " + f.Name,
			Detail: run.made.Counts().String()})
	})
	if errors.Is(err, errRefused) {
		return done, found, nil
	}
	if err == nil && changed {
		d.Changed(ctx, touched)
	}
	return done, nil, err
}

// folderRun is one apply in its transaction.
type folderRun struct {
	*Folders
	tx        *store.Tx
	principal auth.Principal
	ask       FolderApply
	by        audit.Attribution
	dryRun    bool

	folder  folder.Fleet // with what fleetd knows of its files
	missing []string
	before  folder.State
	made    folder.Made
	touched []string // robots that get something at once
	ends    []RolloutEnd
	found   []library.FileProblem
}

func (r *folderRun) done() FolderApplied { return FolderApplied{r.made.Plan, r.missing} }

// apply writes everything, and returns the problems of all files.
func (r *folderRun) apply(ctx context.Context, f folder.Fleet) (found []library.FileProblem, err error) {
	objects, found, warnings := f.Parse()
	r.folder, r.found = f, found
	if r.before, r.missing, err = r.read(ctx, r.tx, &r.folder, r.ask.Options, objects); err != nil {
		return nil, err
	}
	made, problems := folder.Make(r.before, r.folder, r.ask.Options, r.by)
	r.found = append(r.found, problems...)
	r.made = made
	r.made.Warnings = append(r.made.Warnings, warnings...)
	if len(problems) > 0 { // what is written below would miss the library
		r.checkSchedules(objects)
		err := r.checkPolicies(ctx, objects)
		return folder.Sorted(r.found), err
	}
	for _, sha := range r.missing { // revisions may need them; refusePlan refuses an apply without their bytes
		made.Library.Files = append(made.Library.Files, library.File{SHA256: sha, Media: r.mediaOf(sha)})
	}
	if err := r.tx.Apply(ctx, made.Library, r.by.At); err != nil {
		return nil, err
	}
	if err := r.own(ctx); err != nil {
		return nil, err
	}
	if err := r.policies(ctx, objects); err != nil {
		return nil, err
	}
	if err := r.schedules(ctx, objects); err != nil {
		return nil, err
	}
	r.made.Finish()
	return folder.Sorted(r.found), nil
}

func (r *folderRun) mediaOf(sha256 string) library.Media {
	for _, a := range r.folder.Library.Assets {
		if a.SHA256 == sha256 {
			return a.Media
		}
	}
	return ""
}

// own records what of the library belongs to the folder from now on.
func (r *folderRun) own(ctx context.Context) error {
	var owned []library.Ref
	for _, ref := range r.made.Owned {
		if ref.OfLibrary() {
			owned = append(owned, library.Ref{Kind: library.Kind(ref.Kind), ID: ref.ID})
		}
	}
	return r.tx.SetFolderOwner(ctx, r.folder.Name, owned)
}

func (r *folderRun) refuse(o folder.Object, problems []schema.Problem) {
	r.found = append(r.found, o.Refuse(problems)...)
}

// needs refuses an apply that changes what the principal may not change. Everybody who may view may see what it would do.
func (r *folderRun) needs(path string, rights auth.Rights, what string) {
	if !r.dryRun && !r.principal.May(rights) {
		r.found = append(r.found, library.FileProblem{Path: path, Problem: schema.NewProblem("", CodeNeedsRight,
			fmt.Sprintf("%s needs the right to %v, which %s does not have", what, rights,
				r.principal.ID), "this needs the role "+auth.RolesWith(rights))})
	}
}

// policyEntries lists the stories and activities that policies name.
func policyEntries(all []policy.Policy) map[library.Kind][]string {
	ids := map[library.Kind][]string{}
	for _, p := range all {
		if s := p.Content.Story; s != nil && s.ID != "" {
			ids[library.KindStory] = append(ids[library.KindStory], s.ID)
		}
		if a := p.Content.Activities; a != nil {
			for _, pin := range a.Pins {
				ids[library.KindActivity] = append(ids[library.KindActivity], pin.ID)
			}
		}
	}
	return ids
}

// refusePlan says why a plan must not be carried out.
func refusePlan(p folder.Plan, a FolderApply, f folder.Fleet, missing []string) (found []library.FileProblem) {
	refuse := func(path string, problem schema.Problem) {
		found = append(found, library.FileProblem{Path: path, Problem: problem})
	}
	if a.Digest != "" && a.Digest != p.Digest {
		saw := "something else"
		if c, ok := folder.CountsOf(a.Digest); ok {
			saw = c.String()
		}
		refuse("", schema.NewProblem("/digest", CodePlanChanged,
			fmt.Sprintf("the fleet or the folder changed meanwhile: it would be %s now, and was %s when you looked", p.Counts(), saw),
			"look again with fleetd diff, then apply again"))
	}
	deleted := fmt.Sprintf("%d of its objects would be deleted", p.Deletes)
	switch {
	case a.Deletes == nil && p.Deletes > 0:
		refuse("", schema.NewProblem("/expected_deletes", library.CodeConfirm, deleted,
			fmt.Sprintf("confirm the number with expected_deletes: %d", p.Deletes)))
	case a.Deletes != nil && *a.Deletes != p.Deletes:
		refuse("", schema.NewProblem("/expected_deletes", library.CodeCountChanged, fmt.Sprintf("%s, %d were expected", deleted, *a.Deletes),
			"repeat the number that a dry run shows"))
	}
	if taken := p.Taken(); a.Digest == "" && taken > 0 {
		refuse("", schema.NewProblem("/digest", library.CodeConfirm, fmt.Sprintf("%d of its robots would be taken from open rollouts", taken),
			"confirm the plan with digest: "+p.Digest))
	}
	for _, sha := range missing {
		for _, asset := range f.Library.Assets {
			if asset.SHA256 == sha {
				refuse(asset.Path, schema.NewProblem("", CodeNoFile, "its bytes were not uploaded", "upload them first: PUT /assets/sha256/"+sha))
			}
		}
	}
	return found
}

// PutFile stores the bytes of an asset without a name: an apply of a folder gives it one. Bytes without a name are deleted later.
func (d *Folders) PutFile(
	ctx context.Context, p auth.Principal, digest string, body []byte, by audit.Attribution,
) ([]schema.Problem, error) {
	l := Library{d.Deps}
	return l.applyLibraryPlan(ctx, p, library.ForPutFile(), func(rows library.Rows, now time.Time) (library.Changes, []schema.Problem) {
		return library.PutFile(rows, digest, body, by.WithTime(now))
	})
}
