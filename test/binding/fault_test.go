package binding

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"

	"target-ownership-controller/test/elbsim"
)

// connectionReset loses the request on its way.
func connectionReset(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
	return nil, syscall.ECONNRESET
}

// timeout never answers, and was not heard either.
func timeout(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
	return nil, os.ErrDeadlineExceeded
}

// replyLost has the request take effect, and its answer lost.
func replyLost(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
	if response, err := send(); err == nil {
		response.Body.Close()
	}
	return nil, io.ErrUnexpectedEOF
}

// answer is what the API server, or something before it, says instead.
func answer(status int, body string) fault {
	return func(r *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Status: http.StatusText(status), Request: r,
			Header: http.Header{"Content-Type": {"application/json"}},
			Body:   io.NopCloser(strings.NewReader(body)),
		}, nil
	}
}

// kubernetesSays is an error as the API server puts it.
func kubernetesSays(status int, reason string) fault {
	return answer(status, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q,"message":"told to fail"}`, status, reason))
}

// emptyList is a list without items, and without an error.
func emptyList(apiVersion, kind string) fault {
	return answer(http.StatusOK, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"1"},"items":[]}`, apiVersion, kind))
}

// oneSlice is a list of one EndpointSlice with ready endpoints on port 8080.
func oneSlice(name, service string, addresses ...string) fault {
	endpoints := make([]string, len(addresses))
	for i, address := range addresses {
		endpoints[i] = fmt.Sprintf(`{"addresses":[%q],"conditions":{"ready":true}}`, address)
	}
	return answer(http.StatusOK, fmt.Sprintf(`{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSliceList","metadata":{"resourceVersion":"1"},"items":[
		{"metadata":{"name":%q,"labels":{"kubernetes.io/service-name":%q}},"addressType":"IPv4","ports":[{"name":"http","port":8080}],
		 "endpoints":[%s]}]}`, name, service, strings.Join(endpoints, ",")))
}

// dynamoDBSays is an error as DynamoDB puts it.
func dynamoDBSays(code string) fault {
	return answer(http.StatusBadRequest, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"told to fail"}`, code))
}

// elbSays refuses every call of the action until the rules are cleared.
func (w *world) elbSays(e *elbsim.Error, action string) {
	w.sim.Inject(elbsim.Rule{Action: action, Fault: elbsim.Fault{Refuse: e}})
}

// once is the fault for the first call, and none for later ones.
func once(f fault) fault {
	done := false
	return func(r *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		if done {
			return send()
		}
		done = true
		return f(r, send)
	}
}
