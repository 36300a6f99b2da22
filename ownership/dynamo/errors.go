package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/awserror"
)

const codeValidation = "ValidationException"

// malformed are the codes for a request that DynamoDB does not understand.
// They have no class: no call here should get them.
var malformed = map[string]bool{
	codeValidation:              true,
	"SerializationException":    true,
	"UnknownOperationException": true,
}

// classes maps error codes to the classes of errors. The sources are
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
// and the common errors of AWS services. Codes of throttling are those that
// the SDK takes for it.
var classes = map[string]error{
	"ConditionalCheckFailedException": ownership.ErrConflict,

	"AccessDeniedException":               ownership.ErrForbidden,
	"AccessDenied":                        ownership.ErrForbidden, // of STS, on assuming a role
	"ExpiredToken":                        ownership.ErrForbidden,
	"ExpiredTokenException":               ownership.ErrForbidden,
	"IncompleteSignature":                 ownership.ErrForbidden,
	"IncompleteSignatureException":        ownership.ErrForbidden,
	"InvalidClientTokenId":                ownership.ErrForbidden,
	"InvalidIdentityToken":                ownership.ErrForbidden,
	"InvalidSignatureException":           ownership.ErrForbidden,
	"MissingAuthenticationToken":          ownership.ErrForbidden,
	"MissingAuthenticationTokenException": ownership.ErrForbidden,
	"NotAuthorized":                       ownership.ErrForbidden,
	"OptInRequired":                       ownership.ErrForbidden,
	"RequestExpired":                      ownership.ErrForbidden,
	"SignatureDoesNotMatch":               ownership.ErrForbidden,
	"UnrecognizedClientException":         ownership.ErrForbidden,

	"ResourceNotFoundException": ownership.ErrTableMissing,
	"TableNotFoundException":    ownership.ErrTableMissing,
	"ResourceInUseException":    ownership.ErrTableCreating,
	"TableInUseException":       ownership.ErrTableCreating,

	"ItemCollectionSizeLimitExceededException": ownership.ErrTooLarge,
}

// advice says what to do, for the errors that somebody has to do something
// about.
var advice = map[error]string{
	ownership.ErrForbidden:     "check the credentials and the policy of the role",
	ownership.ErrTableMissing:  "create it with the Terraform module, or correct the table name or the region",
	ownership.ErrTableCreating: "wait until it is",
	ownership.ErrThrottled:     "nothing to do unless it lasts; then raise its capacity",
	ownership.ErrUnavailable:   "check the region, the endpoint and the network",
}

// errUnexpected is none of the classes: an answer that no call here should get.
var errUnexpected = errors.New("unexpected answer of the table")

// classify returns the class of an error of the SDK.
func classify(err error) error {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ownership.ErrUnavailable
	}
	if class, known := classes[api.ErrorCode()]; known {
		return class
	}
	if _, throttled := retry.DefaultThrottleErrorCodes[api.ErrorCode()]; throttled {
		return ownership.ErrThrottled
	}
	if refused(err) {
		return errUnexpected
	}
	return ownership.ErrUnavailable
}

// failure wraps an error of the SDK in its class and names the place.
func (t *Table) failure(op string, class, err error) error {
	what := fmt.Errorf("%w: %s", class, t.place)
	if todo := advice[class]; todo != "" {
		what = fmt.Errorf("%w (%s)", what, todo)
	}
	return fmt.Errorf("%s: %w: %w", op, what, &answer{err})
}

// answer is an error of the SDK that reads the same each time: without request
// ID. A condition with its text is then written once and not at every retry.
type answer struct{ error }

func (a *answer) Error() string { return awserror.Text(a.error) }

func (a *answer) Unwrap() error { return a.error }

// explain is failure, after a closer look. A table that is being created
// answers like one that does not exist, and a missing index like a malformed
// request, so the description of the table decides.
func (t *Table) explain(ctx context.Context, op string, err error) error {
	class := classify(err)
	if errors.Is(class, ownership.ErrTableMissing) || isCodeString(err, codeValidation) {
		found := t.Verify(ctx)
		if errors.Is(found, ownership.ErrTableCreating) || errors.Is(found, ownership.ErrTableMissing) {
			return verified(op, found, err)
		}
	}
	return t.failure(op, class, err)
}

// verified has the answer once: where the description was refused too, that
// refusal says the same.
func verified(op string, found, err error) error {
	if _, answered := errors.AsType[*answer](found); answered {
		return fmt.Errorf("%s: %w", op, found)
	}
	return fmt.Errorf("%s: %w: %w", op, found, &answer{err})
}

func isCode[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

func isCodeString(err error, code string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}

// attempts remembers of one write whether an attempt at it went unanswered.
// The SDK retries by itself and returns the last answer only: a write that
// was applied, with its reply lost, and then throttled, would look like one
// that was never applied.
type attempts struct{ unanswered bool }

func (a *attempts) watch(o *dynamodb.Options) {
	watch := middleware.FinalizeMiddlewareFunc("WatchAttempts",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleFinalize(ctx, in)
			if err != nil && !refused(err) {
				a.unanswered = true
			}
			return out, metadata, err
		})
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Finalize.Insert(watch, (&retry.Attempt{}).ID(), middleware.After)
	})
}

// refused reports whether the error is an answer that excludes that the
// request was applied: a documented refusal. Its status is 400 with all codes
// of DynamoDB that blame the request
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html).
// Status 500 and above, a timeout (408), and the likes of a 403 without a code
// of DynamoDB, which something in between may have sent while the request went
// on, exclude nothing.
func refused(err error) bool {
	var response *smithyhttp.ResponseError
	var api smithy.APIError
	if !errors.As(err, &response) || !errors.As(err, &api) {
		return false
	}
	status := response.HTTPStatusCode()
	return status >= http.StatusBadRequest && status < http.StatusInternalServerError &&
		status != http.StatusRequestTimeout && isRefusal(api.ErrorCode())
}

func isRefusal(code string) bool {
	_, classified := classes[code]
	_, throttled := retry.DefaultThrottleErrorCodes[code]
	return classified || throttled || malformed[code]
}
