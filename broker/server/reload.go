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
	// settleDelay lets a change of several files be completed before they are read.
	settle = 200 * time.Millisecond
	// rereadInterval finds changes that the file system does not report, as on network
	// disks.
	reread = time.Minute
	// expiryWarning is how long before the expiry of a certificate or CRL the log warns.
	soon = 14 * 24 * time.Hour
)

// fileWatcher holds the newest valid credentials. If a file is invalid or missing, that is
// logged and its previous contents remain in effect.
type fileWatcher struct {
	now   atomic.Pointer[credentials]
	parts []*part
	// exposed decides whether users without a password are acceptable.
	exposed exposure
	log     *slog.Logger
	// refused is called when a changed file was not accepted.
	refused func()
	// changed is called after now has changed.
	changed func()

	watcher *fsnotify.Watcher // nil: there are no files
	done    chan struct{}
}

// newFileWatcher reads the files of cfg for the first time, when all of them must be
// valid.
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

// renew reads the files that have changed.
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

// watch follows the files until close, and also reads them at every signal on now. It
// watches their folders, because a file that is replaced by a rename is a new file.
func (k *fileWatcher) watch(files Files, now <-chan os.Signal) (err error) {
	if len(k.parts) == 0 {
		return nil
	}
	if k.watcher, err = fsnotify.NewWatcher(); err != nil {
		return fmt.Errorf("watch files of users and certificates: %w", err)
	}
	for _, path := range files.all() {
		if err := k.watcher.Add(filepath.Dir(path)); err != nil {
			return errors.Join(fmt.Errorf("watch folder of %s: %w", path, err), k.watcher.Close())
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
			k.log.Error("watching files of users and certificates failed", "error", err)
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
		k.log.Error("changed file refused; its previous contents remain in effect", "error", err)
	}
	if len(changed) > 0 {
		k.log.Info("credentials reloaded", "files", changed)
		k.complain()
		k.changed()
	}
}

// warn logs which credentials expire soon, and which users anybody on this machine can
// impersonate.
func (k *fileWatcher) complain() {
	now := k.now.Load()
	if names := k.exposed.byNameAlone(now.users); len(names) > 0 {
		k.log.Warn("users without a password can be impersonated by any local process", "names", listed(names))
	}
	for what, end := range now.ends() {
		if left := time.Until(end); left < soon {
			k.log.Warn("certificate or CRL expires soon", "what", what, "at", end.UTC().Format(time.RFC3339), "days_left", days(left))
		}
	}
}

// expiries returns when each certificate or list has to be renewed.
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

// days returns whole days; negative once the time is over.
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
