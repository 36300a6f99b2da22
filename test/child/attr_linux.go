package child

import "syscall"

// ownGroupDiesWithParent keeps an interrupt at the terminal away from the
// child, so that the parent decides the order of things, and has the kernel
// kill it if the parent is killed.
func ownGroupDiesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
