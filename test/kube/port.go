package kube

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// reservePort picks a free loopback port and keeps it until release is
// called. The socket is bound but does not listen: a server that sets
// SO_REUSEPORT as well (kube-apiserver --permit-port-sharing) can take the
// port, and nobody else is given it in between.
func reservePort() (port int, release func(), err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("reserve a port: %w", os.NewSyscallError("socket", err))
	}
	release = func() { _ = unix.Close(fd) }
	unix.CloseOnExec(fd)
	port, err = bindLoopback(fd)
	if err != nil {
		release()
		return 0, nil, fmt.Errorf("reserve a port: %w", err)
	}
	return port, release, nil
}

func bindLoopback(fd int) (int, error) {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	address, err := unix.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	return address.(*unix.SockaddrInet4).Port, nil
}
