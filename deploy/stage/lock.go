package stage

import "fmt"

// An InUseError reports a data directory that another stage uses.
type InUseError struct{ Folder, Process string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("another demo uses it (process %s)", e.Process)
}
