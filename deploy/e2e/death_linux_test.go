package e2e

import "syscall"

// dieWithUs has the kernel kill a process when the thread that started it is
// gone, so that a killed test binary leaves nothing behind.
func dieWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
