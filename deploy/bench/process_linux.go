package main

import (
	"os"
	"syscall"
)

// endWithParent ends a program when the thread that started it ends, see startOnThread.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

func fdatasync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
