package elbsim

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net"
	"net/http"
)

const namespace = "http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"

// list is the AWS form of an array.
type list[T any] struct {
	Members []T `xml:"member"`
}

func requestID(call int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", call) }

// writeResult wraps a result as <ActionResponse><ActionResult>.
func writeResult(w http.ResponseWriter, call Call, result any) {
	var body bytes.Buffer
	encoder := xml.NewEncoder(&body)
	response := xml.StartElement{
		Name: xml.Name{Local: call.Action + "Response"},
		Attr: []xml.Attr{{Name: xml.Name{Local: "xmlns"}, Value: namespace}},
	}
	metadata := struct{ RequestId string }{requestID(call.ID)}
	for _, encode := range []func() error{
		func() error { return encoder.EncodeToken(response) },
		func() error { return encoder.EncodeElement(result, element(call.Action+"Result")) },
		func() error { return encoder.EncodeElement(metadata, element("ResponseMetadata")) },
		func() error { return encoder.EncodeToken(response.End()) },
		encoder.Flush,
	} {
		if err := encode(); err != nil {
			writeError(w, call.ID, InternalFailure())
			return
		}
	}
	write(w, http.StatusOK, call.ID, body.Bytes())
}

func element(name string) xml.StartElement { return xml.StartElement{Name: xml.Name{Local: name}} }

type errorResponse struct {
	XMLName   xml.Name `xml:"ErrorResponse"`
	Xmlns     string   `xml:"xmlns,attr"`
	Type      string   `xml:"Error>Type"`
	Code      string   `xml:"Error>Code"`
	Message   string   `xml:"Error>Message"`
	RequestID string   `xml:"RequestId"`
}

func writeError(w http.ResponseWriter, call int, e *Error) {
	fault := "Sender"
	if e.Status >= http.StatusInternalServerError {
		fault = "Receiver"
	}
	// Strings always encode.
	body, _ := xml.Marshal(errorResponse{
		Xmlns: namespace, Type: fault, Code: e.Code, Message: e.Message, RequestID: requestID(call),
	})
	write(w, e.Status, call, body)
}

func write(w http.ResponseWriter, status, call int, body []byte) {
	w.Header().Set("Content-Type", "text/xml")
	w.Header().Set("X-Amzn-Requestid", requestID(call))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller who has gone away is no error of ours
}

// resetConnection cuts the caller off without a reply. SO_LINGER 0 makes the
// kernel send RST rather than FIN.
func resetConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // not on a socket of ours: net/http cuts it off
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
