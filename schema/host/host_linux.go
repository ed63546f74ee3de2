package host

import "golang.org/x/sys/unix"

// ClockSynchronised reports whether the computer's clock follows a source.
func ClockSynchronised() (bool, error) {
	var t unix.Timex
	_, err := unix.Adjtimex(&t)
	return t.Status&unix.STA_UNSYNC == 0, err
}

// LoadAverage returns the load average of the last minute.
func LoadAverage() (float64, error) {
	var i unix.Sysinfo_t
	err := unix.Sysinfo(&i)
	return float64(i.Loads[0]) / (1 << unix.SI_LOAD_SHIFT), err
}

// Disk returns how many bytes a program without privileges can still write to the disk of a directory, and how large the
// disk is.
func Disk(dir string) (free, size uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}

// FreeBytes returns how many bytes of files a directory has room for.
func FreeBytes(dir string) uint64 {
	free, _, _ := Disk(dir) // without an answer there is none
	return free
}
