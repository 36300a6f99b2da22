//go:build !linux

package demo

import "syscall"

// ownGroupDiesWithParent keeps an interrupt at the terminal away from the
// child. Without the parent death signal of Linux a child outlives a demo that
// is killed with SIGKILL.
func ownGroupDiesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
