package launch

import "syscall"

// endWithParent ends a program when the thread that started it ends, see startOnThread.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
