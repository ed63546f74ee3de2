//go:build !linux

package launch

import "syscall"

// Only on Linux a program ends with its parent.
func endWithParent() *syscall.SysProcAttr { return nil }
