package elb

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/awserror"
)

// ErrGroupInvalid: what names the target group cannot be a target group.
var ErrGroupInvalid = errors.New("not a valid target group")

// ErrGroupElsewhere: the target group is in another region or account than
// the client works in. It may well exist.
var ErrGroupElsewhere = errors.New("the target group is elsewhere")

// ErrCrossZoneOff: the target is outside the VPC of its group, where AWS takes
// neither a target without a zone nor zone all: in a group of an Application
// Load Balancer with cross-zone load balancing off
// (kubernetes-sigs/aws-load-balancer-controller#4496).
var ErrCrossZoneOff = fmt.Errorf("%w, which is outside the VPC of the group", ownership.ErrInvalidTarget)

// failure is the error of a call, in the class that it belongs to.
type failure struct {
	class   error // one of package ownership
	cause   error
	refused bool // certainly not applied
}

func (f *failure) Error() string {
	if role, ok := errors.AsType[*RoleError](f.cause); ok {
		return f.class.Error() + ": " + role.Error() // awserror would leave out the role
	}
	return f.class.Error() + ": " + awserror.Text(f.cause)
}

// sessionOver reports whether the credentials have expired.
func (f *failure) sessionOver() bool {
	var answer smithy.APIError
	return f != nil && errors.As(f.cause, &answer) && slices.Contains([]string{"ExpiredToken", "ExpiredTokenException"}, answer.ErrorCode())
}

func (f *failure) Unwrap() []error { return []error{f.class, f.cause} }

// classes has the error codes of the operations that we use, and those of all
// AWS services that speak of permission
// (https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_RegisterTargets.html,
// https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/CommonErrors.html).
// All of them are refusals.
var classes = map[string]error{
	"TargetGroupNotFound": ownership.ErrGroupMissing,
	"TooManyTargets":      ownership.ErrGroupFull,

	"InvalidTarget":                   ownership.ErrInvalidTarget,
	"TooManyRegistrationsForTargetId": ownership.ErrInvalidTarget,
	"ValidationError":                 ownership.ErrInvalidTarget,

	"AccessDenied":               ownership.ErrGroupForbidden,
	"AccessDeniedException":      ownership.ErrGroupForbidden,
	"ExpiredToken":               ownership.ErrGroupForbidden,
	"ExpiredTokenException":      ownership.ErrGroupForbidden,
	"IncompleteSignature":        ownership.ErrGroupForbidden,
	"InvalidClientTokenId":       ownership.ErrGroupForbidden,
	"MissingAuthenticationToken": ownership.ErrGroupForbidden,
	"NotAuthorized":              ownership.ErrGroupForbidden,
	"OperationNotPermitted":      ownership.ErrGroupForbidden,
	"OptInRequired":              ownership.ErrGroupForbidden,
	"RequestExpired":             ownership.ErrGroupForbidden,
	"SignatureDoesNotMatch":      ownership.ErrGroupForbidden,
	"UnauthorizedOperation":      ownership.ErrGroupForbidden,
}

var throttles = retry.IsErrorThrottles(retry.DefaultThrottles)

// classify returns nil for nil.
func classify(err error) *failure {
	if err == nil {
		return nil
	}
	if role, ok := errors.AsType[*RoleError](err); ok {
		return &failure{class: role.class(), cause: role, refused: true} // nothing was sent
	}
	if throttles.IsErrorThrottle(err).Bool() {
		return &failure{class: ownership.ErrGroupThrottled, cause: err, refused: true}
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return &failure{class: ownership.ErrGroupUnavailable, cause: err, refused: neverSent(err)}
	}
	if crossZoneOff(api) {
		return &failure{class: ErrCrossZoneOff, cause: err, refused: true}
	}
	if class, known := classes[api.ErrorCode()]; known {
		return &failure{class: class, cause: err, refused: true}
	}
	switch status := httpStatus(err); status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &failure{class: ownership.ErrGroupForbidden, cause: err, refused: fromAWS(api)}
	default:
		return &failure{class: ownership.ErrGroupUnavailable, cause: err, refused: blamesCaller(status, api)}
	}
}

func crossZoneOff(api smithy.APIError) bool {
	return api.ErrorCode() == "ValidationError" && strings.Contains(api.ErrorMessage(), "cross-zone load balancing is disabled")
}

// blamesCaller reports whether the answer is a refusal for something in the
// request. A request timeout blames the caller too, but says little of what
// was read before it.
func blamesCaller(status int, api smithy.APIError) bool {
	return status >= 400 && status < 500 && status != http.StatusRequestTimeout && fromAWS(api) &&
		api.ErrorCode() != "RequestTimeout" && api.ErrorCode() != "RequestTimeoutException"
}

// fromAWS reports whether the answer names an error. One that the SDK cannot
// read is of a proxy, and says nothing of what happened behind it.
func fromAWS(api smithy.APIError) bool { return api.ErrorCode() != "UnknownError" }

func httpStatus(err error) int {
	var response interface{ HTTPStatusCode() int }
	if !errors.As(err, &response) {
		return 0
	}
	return response.HTTPStatusCode()
}

// neverSent reports whether there was not even a connection.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
