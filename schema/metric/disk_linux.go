package metric

import "syscall"

// Disk returns how many bytes a program without privileges can still write to the disk of a folder, and how large the
// disk is.
func Disk(dir string) (free, size int64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	block := int64(s.Bsize) // 32 bits on some processors
	return int64(s.Bavail) * block, int64(s.Blocks) * block, nil
}
