package stage

import "fmt"

// An InUseError is a data directory that another stage has.
type InUseError struct{ Folder, Process string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("another demo uses it (process %s)", e.Process)
}
