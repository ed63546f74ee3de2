package server

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settle lets a change of several files come to its end.
	settle = 200 * time.Millisecond
	// reread finds what the file system does not tell, as on a network disk.
	reread = time.Minute
	// soon is how long before its end a certificate is complained of.
	soon = 14 * 24 * time.Hour
)

// fileWatcher has the newest credentials that could be read. A file that is broken or
// gone is an error in the log, and what it said before holds.
type fileWatcher struct {
	now   atomic.Pointer[credentials]
	parts []*part
	// exposed is whom the users have to be safe from.
	exposed exposure
	log     *slog.Logger
	// refused is told when a file that changed was not taken.
	refused func()
	// changed is told after now has changed.
	changed func()

	watcher *fsnotify.Watcher // nil: nothing to watch
	done    chan struct{}
}

// newKeeper reads cfg's files for the first time, when all must be well.
func newKeeper(cfg Config) (*fileWatcher, error) {
	k := &fileWatcher{exposed: cfg.exposure(), log: cfg.Logger, refused: func() {}, changed: func() {}}
	k.parts = parts(cfg.Files, k.exposed)
	first := &credentials{}
	if cfg.Users != nil {
		if err := k.exposed.unproven(*cfg.Users); err != nil {
			return nil, err
		}
		first.users = *cfg.Users
	}
	k.now.Store(first)
	if _, err := k.renew(); err != nil {
		return nil, err
	}
	k.complain()
	return k, nil
}

// renew reads what changed.
func (k *fileWatcher) renew() (changed []string, err error) {
	next := *k.now.Load()
	var errs []error
	for _, p := range k.parts {
		ok, err := p.renew(&next)
		if err != nil {
			errs = append(errs, err)
		}
		if ok {
			changed = append(changed, p.name)
		}
	}
	if len(changed) > 0 {
		k.now.Store(&next)
	}
	return changed, errors.Join(errs...)
}

// watch follows the files until close, and reads them at every signal on now. It watches their folders: a file that is
// replaced as a whole is another one afterwards.
func (k *fileWatcher) watch(files Files, now <-chan os.Signal) (err error) {
	if len(k.parts) == 0 {
		return nil
	}
	if k.watcher, err = fsnotify.NewWatcher(); err != nil {
		return fmt.Errorf("watch for new certificates and users: %w", err)
	}
	for _, path := range files.all() {
		if err := k.watcher.Add(filepath.Dir(path)); err != nil {
			return errors.Join(fmt.Errorf("watch the folder of %s: %w", path, err), k.watcher.Close())
		}
	}
	k.done = make(chan struct{})
	go k.run(now)
	return nil
}

func (k *fileWatcher) run(now <-chan os.Signal) {
	defer close(k.done)
	regular := time.NewTicker(reread)
	defer regular.Stop()
	day := time.NewTicker(24 * time.Hour)
	defer day.Stop()
	settled := time.NewTimer(0)
	defer settled.Stop()
	for {
		select {
		case _, ok := <-k.watcher.Events:
			if !ok {
				return
			}
			settled.Reset(settle)
		case err, ok := <-k.watcher.Errors:
			if !ok {
				return
			}
			k.log.Error("watch for new certificates and users", "error", err)
		case <-settled.C:
			k.again()
		case <-now:
			k.again()
		case <-regular.C:
			k.again()
		case <-day.C:
			k.complain()
		}
	}
}

func (k *fileWatcher) again() {
	changed, err := k.renew()
	if err != nil {
		k.refused()
		k.log.Error("a new file is not taken; what was known before holds", "error", err)
	}
	if len(changed) > 0 {
		k.log.Info("read again", "files", changed)
		k.complain()
		k.changed()
	}
}

// complain tells of what ends soon, and of what is open to everybody.
func (k *fileWatcher) complain() {
	now := k.now.Load()
	if names := k.exposed.byNameAlone(now.users); len(names) > 0 {
		k.log.Warn("without a password: whoever is on this machine may call himself so", "names", listed(names))
	}
	for what, end := range now.ends() {
		if left := time.Until(end); left < soon {
			k.log.Warn("ends soon", "what", what, "at", end.UTC().Format(time.RFC3339), "days_left", days(left))
		}
	}
}

// ends are when something has to be renewed.
func (c *credentials) ends() map[string]time.Time {
	out := map[string]time.Time{}
	if c.pair != nil {
		out["certificate"] = c.pair.Leaf.NotAfter
	}
	for _, ca := range c.issuers {
		if end, known := out["client_ca"]; !known || ca.NotAfter.Before(end) {
			out["client_ca"] = ca.NotAfter
		}
	}
	if next := c.lists.NextUpdate(); !next.IsZero() {
		out["crl"] = next
	}
	return out
}

// days are whole ones; negative once it is over.
func days(left time.Duration) int64 {
	if left < 0 {
		return -1
	}
	return int64(left / (24 * time.Hour))
}

func (k *fileWatcher) close() error {
	if k.watcher == nil {
		return nil
	}
	err := k.watcher.Close()
	<-k.done
	return err
}
