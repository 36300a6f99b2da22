package main

import (
	"bytes"
	"encoding/json"
	"log"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	. "github.com/onsi/gomega"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"target-ownership-controller/cmd/internal/awsconfig"
)

// logged is where this process logs to: it can be set once only.
var logged = sync.OnceValue(func() *bytes.Buffer {
	var lines bytes.Buffer
	setLogger(&lines, zapcore.DebugLevel)
	return &lines
})

type line struct{ Level, Logger, Msg string }

// Whoever reads the log can read each line, also those of dependencies. What
// the SDK remarks on a call that went well is for those who ask for it.
func TestEveryLineIsJSON(t *testing.T) {
	g := NewWithT(t)
	logged().Reset()
	log.Print("http: a handshake failed")
	klog.Background().Info("the lease was lost")
	klog.Errorf("the watch of %s ended", "nodes")
	ctrl.Log.Info("starting")
	callWithoutChecksum(t, g)

	var lines []line
	for decoder := json.NewDecoder(logged()); decoder.More(); {
		var l line
		g.Expect(decoder.Decode(&l)).To(Succeed())
		lines = append(lines, l)
	}
	g.Expect(lines).To(HaveLen(5))
	g.Expect(lines[:4]).To(Equal([]line{
		{"info", "", "http: a handshake failed"},
		{"info", "", "the lease was lost"},
		{"error", "", "the watch of nodes ended"},
		{"info", "", "starting"},
	}))
	g.Expect(lines[4].Level).To(Equal("debug"))
	g.Expect(lines[4].Logger).To(Equal("aws"))
}

// callWithoutChecksum gets a response without a checksum, on which the SDK
// remarks that it checks none.
func callWithoutChecksum(t *testing.T, g *WithT) {
	bareAWS(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", *newFakeAWS(t, 200, `{}`).BaseEndpoint)
	site := settings{Site: awsconfig.Site{Region: "eu-west-1"}}
	c, err := loadAWS(t.Context(), &site)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = site.DynamoDB(c).ListTables(t.Context(), &dynamodb.ListTablesInput{})
	g.Expect(err).NotTo(HaveOccurred())
}
