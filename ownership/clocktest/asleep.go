// Package clocktest makes readings of a clock that package time cannot make.
package clocktest

import (
	"reflect"
	"time"
	"unsafe"
)

// Asleep is the reading of the local clock after t and a sleep of the machine
// for d: the wall clock went on, the monotonic one did not. With a negative d
// the wall clock was set back. The reading t has to be monotonic, as those of
// [time.Now] are.
func Asleep(t time.Time, d time.Duration) time.Time {
	later := t.Add(d)
	monotonic := reflect.ValueOf(&later).Elem().FieldByName("ext")
	*(*int64)(unsafe.Pointer(monotonic.UnsafeAddr())) -= int64(d)
	return later
}
