package demo

import "syscall"

// ownGroupDiesWithParent keeps an interrupt at the terminal away from the
// child, so that the demo decides the order of things, and has the kernel kill
// it if the demo itself is killed.
func ownGroupDiesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
