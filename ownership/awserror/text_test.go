package awserror_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership/awserror"
)

// The real client meets real servers: each trouble reads the same each time.
func TestTroublesReadTheSameEachTime(t *testing.T) {
	n := 0
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		text  string
	}{
		"a refusal": {func(w http.ResponseWriter, _ *http.Request) {
			n++
			w.Header().Set("X-Amzn-Requestid", fmt.Sprint("request-", n))
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ValidationException","message":"told to fail"}`)
		}, "ValidationException: told to fail"},
		"a reset": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			connection, _, _ := w.(http.Hijacker).Hijack()
			_ = connection.(*net.TCPConn).SetLinger(0)
			connection.Close()
		}, "connection reset by peer"},
		"a hang-up": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			connection, _, _ := w.(http.Hijacker).Hijack()
			connection.Close()
		}, "EOF"},
		"another server": {func(w http.ResponseWriter, _ *http.Request) {
			n++
			w.Header().Set("X-Amzn-Requestid", fmt.Sprint("request-", n))
			fmt.Fprint(w, "<html>")
		}, "the answer is none of AWS"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			server := httptest.NewServer(c.serve)
			defer server.Close()
			text := func() string { return awserror.Text(describe(t, server.URL)) }
			first := text()
			g.Expect(first).To(ContainSubstring(c.text))
			for range 3 {
				g.Expect(text()).To(Equal(first))
			}
		})
	}
}

func TestAServerThatIsDown(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	text := awserror.Text(describe(t, server.URL))
	g.Expect(text).To(Equal("dial tcp " + strings.TrimPrefix(server.URL, "http://") + ": connect: connection refused"))
}

func TestOtherErrorsAreTold(t *testing.T) {
	NewWithT(t).Expect(awserror.Text(fmt.Errorf("no: %w", errors.New("such luck")))).To(Equal("no: such luck"))
}

func describe(t *testing.T, endpoint string) error {
	t.Helper()
	client := dynamodb.New(dynamodb.Options{
		BaseEndpoint: &endpoint, Region: "eu-west-1",
		Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("key", "secret", "")),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		}),
	})
	table := "any"
	_, err := client.DescribeTable(context.Background(), &dynamodb.DescribeTableInput{TableName: &table})
	if err == nil {
		t.Fatal("no error")
	}
	return err
}
