package e2e

import "syscall"

// killWithParent has the kernel kill a process when the thread that started it
// ends, so that a killed test binary leaves no process behind.
func killWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
