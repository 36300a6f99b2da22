package dynamo_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
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
