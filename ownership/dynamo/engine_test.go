package dynamo_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"target-ownership-controller/ownership"
)

const group ownership.GroupARN = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef"

func record() ownership.Record {
	return ownership.Record{
		Group:      group,
		Owner:      ownership.Owner{Cluster: "a", Namespace: "shop", Name: "web"},
		BindingUID: "8a5c9b52-6d7e-4a53-9c8f-3f0f6f2d1a10",
		Held:       map[ownership.Target]time.Time{"10.0.0.5:8080": {}},
		Revision:   ownership.Revision{Version: 1, WriteID: "write-1"},
	}
}

// reply is one answer of a scripted engine. The zero reply is a connection
// that breaks.
type reply struct {
	status int
	body   string
}

func refusal(code string) reply {
	return reply{http.StatusBadRequest, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"no"}`, code)}
}

func success(body string) reply { return reply{http.StatusOK, body} }

// engine answers the calls of each action in the order of its script; the
// last answer stays.
type engine struct {
	script map[string][]reply

	mu       sync.Mutex
	requests map[string][]string // the bodies, by action
}

func (e *engine) calls(action string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.requests[action])
}

// last returns the newest request of the action.
func (e *engine) last(t *testing.T, action string) map[string]any {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	sent := e.requests[action]
	if len(sent) == 0 {
		t.Fatalf("no %s was sent", action)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(sent[len(sent)-1]), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// next notes a request and returns the answer to it.
func (e *engine) next(action, body string) (answer reply, found bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	replies := e.script[action]
	if len(replies) == 0 {
		return reply{}, false
	}
	answer = replies[min(len(e.requests[action]), len(replies)-1)]
	e.requests[action] = append(e.requests[action], body)
	return answer, true
}

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body, err := io.ReadAll(r.Body)
	next, found := e.next(action, string(body))
	if err != nil || !found {
		http.Error(w, "not in the script: "+action, http.StatusNotImplemented)
		return
	}
	if next.status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(next.status)
	fmt.Fprint(w, next.body)
}

func serve(t *testing.T, script map[string][]reply) (*dynamodb.Client, *engine) {
	t.Helper()
	e := &engine{script: script, requests: map[string][]string{}}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return client(server.URL), e
}

// client is the SDK's own, which retries as in production but does not wait.
func client(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "eu-west-1",
		BaseEndpoint: aws.String(endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider("test", "test", ""),
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		}),
	})
}
