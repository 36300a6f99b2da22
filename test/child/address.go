package child

import (
	"net"
	"testing"
)

// Address is a loopback address, host and port, that nothing listens on: for a
// program that cannot say which port it was given.
func Address(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
