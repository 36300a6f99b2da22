package elbsim

import (
	"fmt"
	"net/http"
	"strings"
)

// Error is a refusal as AWS puts it on the wire.
type Error struct {
	// Status is the HTTP status code.
	Status  int
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Throttled is the refusal of a call above the request rate of the account.
func Throttled() *Error {
	return &Error{http.StatusBadRequest, "Throttling", "Rate exceeded"}
}

// AccessDenied is the refusal of a call that no IAM policy allows.
func AccessDenied() *Error {
	return &Error{http.StatusForbidden, "AccessDenied", "User is not authorized to perform this action because no identity-based policy allows it"}
}

// Unavailable is a failure on the side of the service that a retry may cure.
func Unavailable() *Error {
	return &Error{http.StatusServiceUnavailable, "ServiceUnavailable", "The request has failed due to a temporary failure of the server"}
}

// InternalFailure is an unknown failure on the side of the service.
func InternalFailure() *Error {
	return &Error{http.StatusInternalServerError, "InternalFailure", "The request processing has failed because of an unknown error, exception or failure"}
}

func badRequest(code, format string, args ...any) *Error {
	return &Error{http.StatusBadRequest, code, fmt.Sprintf(format, args...)}
}

func validationError(format string, args ...any) *Error {
	return badRequest("ValidationError", format, args...)
}

func targetGroupNotFound(arn string) *Error {
	return badRequest("TargetGroupNotFound", "Target groups '%s' not found", arn)
}

// invalidTarget names all the refused targets, each in quotes, as AWS does.
func invalidTarget(what string, ids []string) *Error {
	return badRequest("InvalidTarget", "%s: '%s'", what, strings.Join(ids, "', '"))
}
