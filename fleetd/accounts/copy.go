package accounts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"troupe/fleetd/atomicfile"
	"troupe/fleetd/auth"
)

// copyVersion is the version of the file's format.
const copyVersion = 1

// localCopy is a file on this machine with the accounts as fleetd knew them last. An instance
// that starts while its database is away authenticates with it, so that people can stop
// robots. Once the accounts were read from the database, the file is only written.
type localCopy struct {
	path string // empty: none is kept

	mu      sync.Mutex
	stale   bool // the file is older than what is known
	failing bool
}

// copied is what the file contains.
type copied struct {
	Version   int       `json:"version"`
	WrittenAt time.Time `json:"written_at"`
	auth.Accounts
}

// saveCopy writes the file. A failure is logged, and Run tries again.
func (k *Keeper) saveCopy() {
	c := &k.copy
	if c.path == "" {
		return
	}
	c.mu.Lock() // before the accounts are read, so that an older file does not replace a newer one
	defer c.mu.Unlock()
	k.mu.Lock()
	now := copied{Version: copyVersion, WrittenAt: k.Now(), Accounts: auth.Accounts{
		Users: slices.Collect(maps.Values(k.users)), Tokens: slices.Collect(maps.Values(k.tokens)), Sessions: slices.Collect(maps.Values(k.open)),
	}}
	k.mu.Unlock()
	err := c.write(now)
	if c.stale = err != nil; c.stale && !c.failing {
		k.Log.Error("accounts not kept on this machine: if fleetd starts without its database, it authenticates with older ones", "file", c.path,
			"error", err)
	}
	c.failing = c.stale
}

// saveStaleCopy writes the file again after a failure.
func (k *Keeper) saveStaleCopy() {
	k.copy.mu.Lock()
	stale := k.copy.stale
	k.copy.mu.Unlock()
	if stale {
		k.saveCopy()
	}
}

func (c *localCopy) write(now copied) error {
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return atomicfile.Write(c.path, text, 0o600)
}

// read reads the file.
func (c *localCopy) read() (was copied, err error) {
	info, err := os.Stat(c.path)
	if err != nil {
		return was, err
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return was, fmt.Errorf("others can write to it (mode %v), so it may not be fleetd's", mode)
	}
	text, err := os.ReadFile(c.path)
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	if err == nil && was.Version != copyVersion {
		err = fmt.Errorf("its format is version %d, and this fleetd reads %d", was.Version, copyVersion)
	}
	return was, err
}

// Restore reads the accounts from this machine, unless they were read from the database.
func (k *Keeper) Restore() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.copy.path == "" || k.rev >= 0 {
		return
	}
	was, err := k.copy.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.Log.Warn("nobody can sign in until the database answers: no accounts were kept on this machine", "file", k.copy.path)
		return
	case err != nil:
		k.Log.Error("nobody can sign in until the database answers: the accounts that were kept on this machine cannot be read", "file",
			k.copy.path, "error", err)
		return
	}
	k.replace(was.Accounts)
	k.Log.Warn("using the accounts saved on this machine until the database answers", "file", k.copy.path, "written_at", was.WrittenAt,
		"users", len(was.Users), "tokens", len(was.Tokens))
}
