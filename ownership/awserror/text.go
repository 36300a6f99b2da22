// Package awserror words the errors of AWS calls for conditions and logs.
package awserror

import (
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/aws/smithy-go"
)

// Text says what AWS, or the network before it, answered. It leaves out what
// differs from one attempt to the next (request IDs, local ports, the state of
// the retries), so that a condition with it is written once.
func Text(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode() + ": " + api.ErrorMessage()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		for inner, more := errors.AsType[*net.OpError](op.Err); more; inner, more = errors.AsType[*net.OpError](op.Err) {
			op = inner
		}
		where := ""
		if op.Addr != nil {
			where = " " + op.Addr.String()
		}
		return fmt.Sprintf("%s %s%s: %v", op.Op, op.Net, where, op.Err)
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Error()
	}
	if answer, ok := errors.AsType[*smithy.DeserializationError](err); ok {
		return "the answer is none of AWS: " + answer.Err.Error()
	}
	return err.Error()
}
