package soak

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/sivchari/kumo"

	"target-ownership-controller/ownership/dynamo"
)

// table is the ownership table in a DynamoDB engine of this process, behind a
// server that throttles, which the engine cannot.
type table struct {
	engine *kumo.Server
	front  *httptest.Server
	next   *httputil.ReverseProxy
	client *dynamodb.Client // past the front
	store  *dynamo.Table    // past the front

	mu        sync.Mutex
	throttled map[string]bool      // by caller
	asked     map[string]time.Time // by caller: the last call that got through
}

const tableName = "target-ownership"

func startTable(ctx context.Context) (*table, error) {
	t := &table{engine: kumo.NewServer(), throttled: map[string]bool{}, asked: map[string]time.Time{}}
	upstream, err := url.Parse(t.engine.URL)
	if err != nil {
		return nil, err
	}
	t.next = httputil.NewSingleHostReverseProxy(upstream)
	t.next.ErrorLog = log.New(io.Discard, "", 0) // callers that hang up are what this is about
	t.front = httptest.NewServer(t)
	t.client = dynamodb.New(dynamodb.Options{
		Region: region, BaseEndpoint: aws.String(t.engine.URL),
		Credentials: credentials.NewStaticCredentialsProvider("soak", "soak", ""),
		HTTPClient:  &http.Client{},
	})
	t.store = dynamo.New(t.client, tableName, dynamo.Options{})
	return t, t.create(ctx)
}

func (t *table) create(ctx context.Context) error {
	if err := dynamo.Create(ctx, t.client, dynamo.Definition(tableName)); err != nil {
		return fmt.Errorf("create the ownership table: %w", err)
	}
	return nil
}

func (t *table) delete(ctx context.Context) error {
	if _, err := t.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(tableName)}); err != nil {
		return fmt.Errorf("delete the ownership table: %w", err)
	}
	return nil
}

func (t *table) close() error {
	t.front.CloseClientConnections()
	t.front.Close()
	t.engine.Close()
	return nil
}

// throttle has the calls of a caller refused, or no longer.
func (t *table) throttle(caller string, on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.throttled[caller] = on
}

// lastAsked is when a call of the caller last got through.
func (t *table) lastAsked(caller string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked[caller]
}

// credential finds the access key ID in a signature of version 4.
var credential = regexp.MustCompile(`Credential=([^/]+)/`)

// exceeded is the refusal of DynamoDB
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html).
const exceeded = `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",` +
	`"message":"The level of configured provisioned throughput for the table was exceeded."}`

// ServeHTTP is the front.
func (t *table) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	caller := ""
	if found := credential.FindStringSubmatch(r.Header.Get("Authorization")); found != nil {
		caller = found[1]
	}
	if t.admit(caller) {
		t.next.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, exceeded) // the caller may have gone
}

func (t *table) admit(caller string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.throttled[caller] {
		return false
	}
	t.asked[caller] = time.Now()
	return true
}
