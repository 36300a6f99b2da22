// Package lean is a DynamoDB for measurements. It speaks the wire protocol as
// far as the ownership table needs it, and takes little of the processor: items
// stay the JSON that they came as, and a query finds those of its hash key
// without a look at others. What it does not know it refuses.
package lean

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
)

// Server is an http.Handler that holds tables in memory.
type Server struct {
	mu     sync.Mutex
	tables map[string]*table
}

// New returns a server without tables.
func New() *Server { return &Server{tables: map[string]*table{}} }

// request has the parameters of all actions. What must not change the answer is
// here too, since a parameter that is not is refused.
type request struct {
	definition
	Item, Key                                   item
	ConditionExpression, KeyConditionExpression string
	ExpressionAttributeNames                    map[string]string
	ExpressionAttributeValues                   item
	IndexName                                   string
	Limit                                       int
	ExclusiveStartKey                           item
	ScanIndexForward                            *bool

	ConsistentRead bool // every read is
	BillingMode    string
}

// refusal is the answer to a call that is refused.
type refusal struct {
	Code    string `json:"__type"`
	Message string `json:"message"`
}

func refuse(code, message string) *refusal {
	return &refusal{"com.amazonaws.dynamodb.v20120810#" + code, message}
}

func invalid(message string) *refusal { return refuse("ValidationException", message) }

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call request
	var answer any
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	refused := refuse("UnknownOperationException", action)
	if do, known := actions[action]; known {
		if err := body.Decode(&call); err != nil {
			refused = refuse("SerializationException", err.Error())
		} else {
			answer, refused = s.locked(do, call)
		}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if refused != nil {
		w.WriteHeader(http.StatusBadRequest)
		answer = refused
	}
	_ = json.NewEncoder(w).Encode(answer) // who asked may be gone
}

type action func(*Server, *table, request) (any, *refusal)

// actions are those that the ownership table and its tests need.
var actions = map[string]action{
	"CreateTable":   create,
	"DescribeTable": onTable(describe),
	"DeleteTable":   onTable(remove),
	"GetItem":       onTable(get),
	"PutItem":       onTable(put),
	"DeleteItem":    onTable(del),
	"Query":         onTable(query),
}

func (s *Server) locked(do action, r request) (any, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return do(s, s.tables[r.TableName], r)
}

// onTable refuses a table that does not exist.
func onTable(do action) action {
	return func(s *Server, t *table, r request) (any, *refusal) {
		if t == nil {
			return nil, refuse("ResourceNotFoundException", "Requested resource not found: Table: "+r.TableName+" not found")
		}
		return do(s, t, r)
	}
}
