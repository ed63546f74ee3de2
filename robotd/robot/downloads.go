package robot

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"troupe/robotd/download"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/score"
)

const (
	// progressEvery is the minimum interval between reports of a download's progress.
	progressEvery = 500 * time.Millisecond
	// leftovers bounds the bytes of files in incoming that are not being fetched: partial ones that
	// no content waits for, and complete ones whose content is not saved yet. Story, activities and
	// places can each wait with all of their files.
	leftovers = 3 * score.MaxAssetBytes
)

// downloads fetches large files from fleetd, each in a goroutine of its own, so that nothing
// else waits for them.
type downloads struct {
	ctx    context.Context
	fleetd func() (*download.Fleetd, error)
	assets *assets
	loop   *loop
	log    *slog.Logger

	work   sync.WaitGroup
	wanted map[string]*wantedFile // owned by the loop
}

// wantedFile is a file that is fetched for a number of users.
type wantedFile struct {
	users  int
	cancel context.CancelFunc
	over   chan struct{} // closed when its download has ended
}

func (w *wantedFile) ended() bool {
	select {
	case <-w.over:
		return true
	default:
		return false
	}
}

func newDownloads(ctx context.Context, c Config, a *assets, l *loop, log *slog.Logger) *downloads {
	return &downloads{ctx: ctx, fleetd: c.fleetd, assets: a, loop: l, log: log, wanted: map[string]*wantedFile{}}
}

// fetch fetches a file until end was called for it as often as fetch.
func (d *downloads) fetch(f download.File) {
	was := d.wanted[f.SHA256]
	if was != nil && was.users > 0 {
		was.users++ // the running download reports to this one too
		return
	}
	ctx, cancel := context.WithCancel(d.ctx)
	w := &wantedFile{1, cancel, make(chan struct{})}
	d.wanted[f.SHA256] = w
	live := map[string]bool{}
	for sha, w := range d.wanted {
		live[sha] = w.users > 0
		if !live[sha] && w.ended() {
			delete(d.wanted, sha)
		}
	}
	d.work.Go(func() {
		defer close(w.over)
		if was != nil {
			<-was.over // two downloads must not write to one file
		}
		if err := d.assets.incoming.tidy(leftovers, func(sha string) bool { return live[sha] }); err != nil {
			d.log.Warn("partial downloads not removed", "error", err)
		}
		err := d.get(ctx, f)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			d.log.Warn("file not fetched", "sha256", f.SHA256, "error", err)
		}
		d.loop.send(ctx, fetchedFile(f, err))
	})
}

func (d *downloads) get(ctx context.Context, f download.File) error {
	if d.assets.isComplete(score.Asset{SHA256: f.SHA256, Size: f.Size}) {
		return nil // a file of an older story
	}
	fleetd, err := d.fleetd()
	if err != nil {
		return err
	}
	var reported time.Time
	return fleetd.Get(ctx, f, d.assets.incoming.path(f.SHA256), func(bytes int64) {
		if now := time.Now(); now.Sub(reported) >= progressEvery {
			reported = now
			d.loop.send(ctx, event.Arriving{SHA256: f.SHA256, Bytes: bytes})
		}
	})
}

func fetchedFile(f download.File, err error) event.Fetched {
	var why *download.Failure
	switch {
	case err == nil:
		return event.Fetched{SHA256: f.SHA256, Stored: true}
	case errors.As(err, &why):
		return event.Fetched{SHA256: f.SHA256, Reason: why.Reason, Detail: why.Detail}
	}
	return event.Fetched{SHA256: f.SHA256, Reason: schema.ReasonInternal, Detail: err.Error()}
}

// end releases a file once, and reports whether it was being fetched. The last release ends
// the download; the partial file stays.
func (d *downloads) end(sha string) bool {
	w := d.wanted[sha]
	if w == nil || w.users == 0 {
		return false
	}
	if w.users--; w.users == 0 {
		w.cancel()
	}
	return true
}

// close ends all downloads and waits for them.
func (d *downloads) close() {
	for _, w := range d.wanted {
		w.cancel()
	}
	d.work.Wait()
}
