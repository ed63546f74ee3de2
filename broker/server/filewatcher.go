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
	settleDelay = 200 * time.Millisecond
	// rereadInterval finds changes that the file system does not report, as on network
	// disks.
	rereadInterval = time.Minute
	// expiryWarning is how long before the expiry of a certificate or CRL the log warns.
	expiryWarning = 14 * 24 * time.Hour
)

// fileWatcher holds the newest valid credentials. If a file is invalid or missing, that is
// logged and its previous contents remain in effect.
type fileWatcher struct {
	current atomic.Pointer[credentials]
	parts   []*part
	// exposure decides whether users without a password are acceptable.
	exposure exposure
	log      *slog.Logger
	// onRefused is called when a changed file was not accepted.
	onRefused func()
	// onChanged is called after current has changed.
	onChanged func()

	watcher *fsnotify.Watcher // nil: there are no files
	done    chan struct{}
}

// newFileWatcher reads the files of cfg for the first time, when all of them must be
// valid.
func newFileWatcher(cfg Config) (*fileWatcher, error) {
	k := &fileWatcher{exposure: cfg.exposure(), log: cfg.Logger, onRefused: func() {}, onChanged: func() {}}
	k.parts = parts(cfg.Files, k.exposure)
	first := &credentials{}
	if cfg.Users != nil {
		if err := k.exposure.checkUsers(*cfg.Users); err != nil {
			return nil, err
		}
		first.users = *cfg.Users
	}
	k.current.Store(first)
	if _, err := k.renew(); err != nil {
		return nil, err
	}
	k.warn()
	return k, nil
}

// renew reads the files that have changed.
func (k *fileWatcher) renew() (changed []string, err error) {
	next := *k.current.Load()
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
		k.current.Store(&next)
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
	regular := time.NewTicker(rereadInterval)
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
			settled.Reset(settleDelay)
		case err, ok := <-k.watcher.Errors:
			if !ok {
				return
			}
			k.log.Error("watching files of users and certificates failed", "error", err)
		case <-settled.C:
			k.reload()
		case <-now:
			k.reload()
		case <-regular.C:
			k.reload()
		case <-day.C:
			k.warn()
		}
	}
}

func (k *fileWatcher) reload() {
	changed, err := k.renew()
	if err != nil {
		k.onRefused()
		k.log.Error("changed file refused; its previous contents remain in effect", "error", err)
	}
	if len(changed) > 0 {
		k.log.Info("credentials reloaded", "files", changed)
		k.warn()
		k.onChanged()
	}
}

// warn logs which credentials expire soon, and which users anybody on this machine can
// impersonate.
func (k *fileWatcher) warn() {
	now := k.current.Load()
	if names := k.exposure.impersonable(now.users); len(names) > 0 {
		k.log.Warn("users without a password can be impersonated by any local process; add a hash to their lines (broker hash-password), "+
			"remove the lines of clients with certificates, or close this machine's own addresses (--mqtt '')", "names", shorten(names))
	}
	for what, end := range now.expiries() {
		switch left := time.Until(end); {
		case left <= 0 && what == "crl":
			k.log.Error("CRL has expired: later revocations are missing from it (no client is refused for that); "+
				"fleetd writes ca/crl.pem every day: see whether it runs, and copy that file here", "at", end.UTC().Format(time.RFC3339))
		case left <= 0:
			k.log.Error("certificate has expired: clients refuse the broker, or the broker refuses them; renew it", "what", what, "at",
				end.UTC().Format(time.RFC3339))
		case left < expiryWarning && what == "crl":
			k.log.Warn("CRL expires soon; fleetd writes ca/crl.pem every day: see whether it runs, and copy that file here", "at",
				end.UTC().Format(time.RFC3339), "days_left", wholeDays(left))
		case left < expiryWarning:
			k.log.Warn("certificate expires soon; renew it", "what", what, "at", end.UTC().Format(time.RFC3339), "days_left", wholeDays(left))
		}
	}
}

// expiries returns when each certificate or list has to be renewed.
func (c *credentials) expiries() map[string]time.Time {
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

// wholeDays returns whole days; negative once the time is over.
func wholeDays(left time.Duration) int64 {
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
