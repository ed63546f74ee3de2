package recorder

import "syscall"

// freeBytes returns how many bytes an unprivileged program can write to the disk of dir.
func freeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil // Bsize has 32 bits on some processors
}
