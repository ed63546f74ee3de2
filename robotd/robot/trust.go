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

// trustFile is a file in the data directory with one key per line, as sign.Key writes it;
// lines that begin with # are comments.
const trustFile = "trust.keys"

// trusted reads the keys of trustFile. A file that cannot be read is an error, because a
// robot that trusts too few keys would refuse its own fleet without a visible cause.
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

// ringOf parses the keys that fleetd sent at the enrolment.
func ringOf(lines []string) (ring sign.Ring, err error) {
	for _, line := range lines {
		key, err := sign.ParseKey(line)
		if err != nil {
			return nil, fmt.Errorf("parse trusted key of the enrolment: %w", err)
		}
		ring = append(ring, key)
	}
	return ring, nil
}
