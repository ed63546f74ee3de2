package robot

import "golang.org/x/sys/unix"

// synchronised reports whether the computer's clock follows a source.
func synchronised() (bool, error) {
	var t unix.Timex
	_, err := unix.Adjtimex(&t)
	return t.Status&unix.STA_UNSYNC == 0, err
}

// loadAverage returns the load average of the last minute.
func loadAverage() (float64, error) {
	var i unix.Sysinfo_t
	err := unix.Sysinfo(&i)
	return float64(i.Loads[0]) / (1 << unix.SI_LOAD_SHIFT), err
}

// free returns how many bytes of files a directory has room for.
func free(dir string) uint64 {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0
	}
	return s.Bavail * uint64(s.Bsize)
}
