package e2e

import "syscall"

// killWithParent has the kernel kill a process when the thread that started it is
// gone, so that a killed test binary leaves nothing behind.
func killWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
