package robot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"troupe/schema/sign"
)

// trustFile lies in the data directory: one key a line, as sign.Key writes it;
// lines that begin with # say what a key is for.
const trustFile = "trust.keys"

// trusted reads the keys that the robot was given when it was set up. A file that cannot
// be read is an error: a robot that trusts fewer keys than it should refuses its own
// fleet, and must say so.
func trusted(dir string) (sign.Ring, error) {
	path := filepath.Join(dir, trustFile)
	text, err := os.ReadFile(filepath.Clean(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the trusted keys: %w", err)
	}
	var ring sign.Ring
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		key, err := sign.ParseKey(line)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
		ring = append(ring, key)
	}
	return ring, nil
}

// ringOf reads the keys that fleetd named when the robot was enrolled.
func ringOf(lines []string) (ring sign.Ring, err error) {
	for _, line := range lines {
		key, err := sign.ParseKey(line)
		if err != nil {
			return nil, fmt.Errorf("a key that the robot was enrolled with: %w", err)
		}
		ring = append(ring, key)
	}
	return ring, nil
}
