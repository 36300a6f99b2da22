package dynamo_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
)

var allClasses = []error{
	ownership.ErrConflict, ownership.ErrNotFound, ownership.ErrThrottled, ownership.ErrForbidden,
	ownership.ErrTableMissing, ownership.ErrTableCreating, ownership.ErrTooLarge, ownership.ErrUnavailable,
	ownership.ErrUnreadable,
}

// expectClass expects err to be of one class only.
func expectClass(g *WithT, err, class error) {
	for _, other := range allClasses {
		g.Expect(errors.Is(err, other)).To(Equal(errors.Is(other, class)), "%v is %v", err, other)
	}
}

func TestErrorsHaveTheClassOfTheirCode(t *testing.T) {
	for code, class := range map[string]error{
		"ConditionalCheckFailedException":          ownership.ErrConflict,
		"ProvisionedThroughputExceededException":   ownership.ErrThrottled,
		"ThrottlingException":                      ownership.ErrThrottled,
		"RequestLimitExceeded":                     ownership.ErrThrottled,
		"AccessDeniedException":                    ownership.ErrForbidden,
		"UnrecognizedClientException":              ownership.ErrForbidden,
		"ExpiredTokenException":                    ownership.ErrForbidden,
		"InvalidSignatureException":                ownership.ErrForbidden,
		"MissingAuthenticationTokenException":      ownership.ErrForbidden,
		"ResourceNotFoundException":                ownership.ErrTableMissing,
		"ResourceInUseException":                   ownership.ErrTableCreating,
		"ItemCollectionSizeLimitExceededException": ownership.ErrTooLarge,
		"ValidationException":                      nil,
	} {
		t.Run(code, func(t *testing.T) {
			g := NewWithT(t)
			refuse := []reply{refusal(code)}
			sdk, _ := serve(t, map[string][]reply{
				"PutItem": refuse, "DeleteItem": refuse, "Query": refuse, "GetItem": refuse, "DescribeTable": refuse,
			})
			table := dynamo.New(sdk, "owners", dynamo.Options{})
			_, records := table.Records(t.Context(), group)
			_, groups := table.Groups(t.Context(), "a")
			_, cluster := table.Cluster(t.Context(), "a")
			for _, err := range []error{
				table.Put(t.Context(), record(), ownership.Revision{}), table.Delete(t.Context(), record()),
				records, groups, cluster, table.Verify(t.Context()),
			} {
				g.Expect(err).To(HaveOccurred())
				expectClass(g, err, class)
				var api smithy.APIError
				g.Expect(errors.As(err, &api)).To(BeTrue(), "the SDK's error stays reachable")
				g.Expect(api.ErrorCode()).To(Equal(code))
				g.Expect(err.Error()).To(And(ContainSubstring(`table "owners"`), ContainSubstring(`"eu-west-1"`), ContainSubstring("http://127.0.0.1:")))
				g.Expect(err.Error()).NotTo(ContainSubstring("RequestID"), "a repeated refusal reads the same")
			}
		})
	}
}

// What to do is said here and nowhere else.
func TestErrorsSayWhatToDo(t *testing.T) {
	for code, advice := range map[string]string{
		"AccessDeniedException":     "the policy of the role",
		"ResourceNotFoundException": "create it with the Terraform module",
		"ResourceInUseException":    "wait until it is",
		"ThrottlingException":       "raise its capacity",
	} {
		g := NewWithT(t)
		refuse := []reply{refusal(code)}
		sdk, _ := serve(t, map[string][]reply{"GetItem": refuse, "DescribeTable": refuse})
		_, err := dynamo.New(sdk, "owners", dynamo.Options{}).Cluster(t.Context(), "a")
		g.Expect(strings.Count(err.Error(), advice)).To(Equal(1), "%v", err)
	}
}

func TestServerErrorIsNoAnswer(t *testing.T) {
	sdk, _ := serve(t, map[string][]reply{"PutItem": {{http.StatusInternalServerError, `{"__type":"InternalServerError"}`}}})
	err := dynamo.New(sdk, "owners", dynamo.Options{}).Put(t.Context(), record(), ownership.Revision{})
	expectClass(NewWithT(t), err, ownership.ErrUnavailable)
}

// The SDK returns the answer to its last attempt. What an earlier one may have
// done must not be forgotten.
func TestUnansweredAttemptIsRemembered(t *testing.T) {
	broken := reply{}
	failed := reply{http.StatusInternalServerError, `{"__type":"InternalServerError"}`}
	for name, c := range map[string]struct {
		replies []reply
		class   error
	}{
		"throttled at once":            {[]reply{refusal("ThrottlingException")}, ownership.ErrThrottled},
		"broken, then throttled":       {[]reply{broken, refusal("ThrottlingException")}, ownership.ErrUnavailable},
		"failed, then throttled":       {[]reply{failed, refusal("ThrottlingException")}, ownership.ErrUnavailable},
		"broken, then forbidden":       {[]reply{broken, refusal("ExpiredTokenException")}, ownership.ErrUnavailable},
		"broken, then table missing":   {[]reply{broken, refusal("ResourceNotFoundException")}, ownership.ErrUnavailable},
		"broken, then condition fails": {[]reply{broken, refusal("ConditionalCheckFailedException")}, ownership.ErrConflict},
		"throttled, then applied":      {[]reply{refusal("ThrottlingException"), success("{}")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			sdk, _ := serve(t, map[string][]reply{"PutItem": c.replies, "DeleteItem": c.replies})
			table := dynamo.New(sdk, "owners", dynamo.Options{})
			expectClass(g, table.Put(t.Context(), record(), ownership.Revision{}), c.class)
			expectClass(g, table.Delete(t.Context(), record()), c.class)
		})
	}
}

// Whether a write may have been applied decides what its writer does next. A
// class that excludes it is only for answers that DynamoDB documents as
// refusals; the throttled second attempt shows what was made of the first.
func TestOnlyDocumentedRefusalsExcludeThatAWriteWasApplied(t *testing.T) {
	const maybe, no = true, false
	code := func(status int, code string) reply {
		return reply{status, `{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `"}`}
	}
	for name, c := range map[string]struct {
		first   reply
		applied bool
	}{
		"400 condition":            {code(400, "ConditionalCheckFailedException"), no},
		"400 throughput":           {code(400, "ProvisionedThroughputExceededException"), no},
		"400 throttling":           {code(400, "ThrottlingException"), no},
		"400 account limit":        {code(400, "RequestLimitExceeded"), no},
		"400 no table":             {code(400, "ResourceNotFoundException"), no},
		"400 access denied":        {code(400, "AccessDeniedException"), no},
		"400 signature":            {code(400, "IncompleteSignatureException"), no},
		"400 unknown key":          {code(400, "UnrecognizedClientException"), no},
		"400 validation":           {code(400, "ValidationException"), no},
		"400 serialization":        {code(400, "SerializationException"), no},
		"408 without a code":       {reply{408, ""}, maybe},
		"408 request timeout":      {code(408, "RequestTimeout"), maybe},
		"400 request timeout":      {code(400, "RequestTimeoutException"), maybe},
		"408 throttling":           {code(408, "ThrottlingException"), maybe},
		"400 unknown code":         {code(400, "SomethingNewException"), maybe},
		"403 of a proxy":           {reply{403, "<html>denied</html>"}, maybe},
		"429 of a proxy":           {reply{429, "slow down"}, maybe},
		"499 of a proxy":           {reply{499, ""}, maybe},
		"500 internal":             {code(500, "InternalServerError"), maybe},
		"500 with a client's code": {code(500, "ThrottlingException"), maybe},
		"503 unavailable":          {code(503, "ServiceUnavailable"), maybe},
		"504 of a proxy":           {reply{504, ""}, maybe},
		"connection lost":          {reply{}, maybe},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			always := []reply{c.first}
			sdk, _ := serve(t, map[string][]reply{"PutItem": always, "DeleteItem": always, "DescribeTable": always})
			table := dynamo.New(sdk, "owners", dynamo.Options{})
			for _, err := range []error{table.Put(t.Context(), record(), ownership.Revision{}), table.Delete(t.Context(), record())} {
				g.Expect(err).To(HaveOccurred())
				g.Expect(errors.Is(err, ownership.ErrUnavailable)).To(Equal(c.applied), "%v", err)
			}
			// The first attempt, then one that is refused for good.
			then := []reply{c.first, refusal("AccessDeniedException")}
			sdk, e := serve(t, map[string][]reply{"PutItem": then})
			err := dynamo.New(sdk, "owners", dynamo.Options{}).Put(t.Context(), record(), ownership.Revision{})
			if e.calls("PutItem") == 2 {
				g.Expect(errors.Is(err, ownership.ErrUnavailable)).To(Equal(c.applied), "retried: %v", err)
			}
		})
	}
}

func TestUnreachableEndpointIsNamed(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	err := dynamo.New(client(server.URL), "owners", dynamo.Options{}).Put(t.Context(), record(), ownership.Revision{})
	expectClass(g, err, ownership.ErrUnavailable)
	g.Expect(err.Error()).To(And(ContainSubstring(server.URL), ContainSubstring("check the region")))
}

func TestSilentEndpointEndsAtTheCallTimeout(t *testing.T) {
	g := NewWithT(t)
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	table := dynamo.New(client(server.URL), "owners", dynamo.Options{CallTimeout: 20 * time.Millisecond})

	_, err := table.Records(t.Context(), group)
	expectClass(g, err, ownership.ErrUnavailable)
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
	g.Expect(table.Put(t.Context(), record(), ownership.Revision{})).To(MatchError(context.DeadlineExceeded))
	g.Expect(table.Verify(t.Context())).To(MatchError(context.DeadlineExceeded))
}

// A listing that breaks off between two pages is an error, never the first
// page.
func TestListingThatBreaksOffIsAnError(t *testing.T) {
	g := NewWithT(t)
	more := success(`{"Items":[],"LastEvaluatedKey":{"targetGroup":{"S":"x"},"owner":{"S":"a/b/c"}}}`)
	sdk, e := serve(t, map[string][]reply{"Query": {more, more, refusal("AccessDeniedException")}})
	got, err := dynamo.New(sdk, "owners", dynamo.Options{}).Records(t.Context(), group)
	expectClass(g, err, ownership.ErrForbidden)
	g.Expect(got).To(Equal(ownership.Records{}))
	g.Expect(e.calls("Query")).To(Equal(3))
}
