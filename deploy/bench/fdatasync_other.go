//go:build !linux

package main

import "os"

// Benches need /proc, and so Linux; elsewhere they only build.
func fdatasync(f *os.File) error { return f.Sync() }
