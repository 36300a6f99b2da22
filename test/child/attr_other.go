//go:build !linux

package child

import "syscall"

// ownGroupDiesWithParent keeps an interrupt at the terminal away from the
// child, so that the parent decides the order of things. Only Linux can also
// kill it with its parent: elsewhere a child outlives a parent that
// is killed.
func ownGroupDiesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
