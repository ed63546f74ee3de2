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
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Folders makes the fleet as a folder of files says, and writes it as one.
type Folders struct{ Deps }

// FolderApply says how a folder is applied.
type FolderApply struct {
	folder.Options
	// Digest is that of the plan that the caller saw; empty = any. Another one is a conflict.
	Digest string
	// Deletes is how many objects the caller expects to be deleted; nil = any number.
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
func (d *Folders) read(ctx context.Context, tx *store.Tx, f *folder.Fleet, o folder.Options) (s folder.State, missing []string, err error) {
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
		return library.ForFolder(whole.Library), nil
	})
	return s, missing, err
}

// Plan says what an apply of a folder would do. It plans after the transaction that reads: with many texts that takes long, and would
// keep every other change waiting.
func (d *Folders) Plan(ctx context.Context, f folder.Fleet, o folder.Options, by audit.Attribution) (done FolderApplied, found []library.FileProblem, err error) {
	var state folder.State
	given := f
	err = d.query(ctx, func(tx *store.Tx) (err error) {
		given = f // the transaction may run again
		state, done.Missing, err = d.read(ctx, tx, &given, o)
		return err
	})
	if err != nil {
		return done, nil, err
	}
	made, found := folder.Make(state, given, o, by.WithTime(d.Now()))
	done.Plan = made.Plan
	return done, found, nil
}

// Apply makes the fleet as a folder says, all or nothing. It is refused if the plan is not the one that the caller saw.
func (d *Folders) Apply(ctx context.Context, p auth.Principal, f folder.Fleet, a FolderApply, by audit.Attribution) (done FolderApplied, found []library.FileProblem, err error) {
	if done, found, err = d.Plan(ctx, f, a.Options, by); err != nil || len(found) > 0 {
		return done, found, err
	}
	changed := false
	err = d.transact(ctx, p, func(tx *store.Tx) error {
		given := f
		state, missing, err := d.read(ctx, tx, &given, a.Options)
		if err != nil {
			return err
		}
		by := by.WithTime(d.Now())
		made, problems := folder.Make(state, given, a.Options, by)
		if found = problems; len(found) > 0 {
			return errRefused
		}
		done = FolderApplied{Plan: made.Plan}
		if found = refusePlan(made.Plan, a, given, missing); len(found) > 0 {
			return errRefused
		}
		if changed = len(made.Changes)+len(made.Owned) > 0; !changed {
			return nil
		}
		return d.save(ctx, tx, f, made, by)
	})
	if errors.Is(err, errRefused) {
		return done, found, nil
	}
	if err == nil && changed {
		d.Changed(ctx, nil)
	}
	return done, nil, err
}

// save writes a plan.
func (d *Folders) save(ctx context.Context, tx *store.Tx, f folder.Fleet, made folder.Made, by audit.Attribution) error {
	if err := tx.Apply(ctx, made.Library, by.At); err != nil {
		return err
	}
	var owned []library.Ref
	for _, ref := range made.Owned {
		if ref.OfLibrary() {
			owned = append(owned, library.Ref{Kind: library.Kind(ref.Kind), ID: ref.ID})
		}
	}
	if err := tx.SetFolderOwner(ctx, f.Name, owned); err != nil {
		return err
	}
	return tx.Note(ctx, by.At, audit.Note{Who: by.Who, Why: by.Why, What: audit.ActionApplyFolder, Target: "folder " + f.Name, Detail: made.Counts().String()})
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
		refuse("", schema.NewProblem("/digest", CodePlanChanged, fmt.Sprintf("the fleet or the folder changed meanwhile: it would be %s now, and was %s when you looked", p.Counts(), saw),
			"look again with fleetd diff, then apply again"))
	}
	if a.Deletes != nil && *a.Deletes != p.Deletes {
		refuse("", schema.NewProblem("/expected_deletes", library.CodeCountChanged, fmt.Sprintf("%d objects would be deleted, %d were expected", p.Deletes, *a.Deletes),
			"repeat the number that a dry run shows"))
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
func (d *Folders) PutFile(ctx context.Context, p auth.Principal, digest string, body []byte, by audit.Attribution) ([]schema.Problem, error) {
	l := Library{d.Deps}
	return l.applyLibraryPlan(ctx, p, library.ForPutFile(), func(rows library.Rows, now time.Time) (library.Changes, []schema.Problem) {
		return library.PutFile(rows, digest, body, by.WithTime(now))
	})
}
