//go:build !linux

package e2e

import "syscall"

func killWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
