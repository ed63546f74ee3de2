//go:build !linux

package main

import (
	"os"
	"syscall"
)

// Benches need /proc, and so Linux; elsewhere they only build.
func endWithParent() *syscall.SysProcAttr { return nil }

func fdatasync(f *os.File) error { return f.Sync() }
