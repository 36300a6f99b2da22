// Package table starts a DynamoDB engine for tests and creates the ownership
// table in it.
package table

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"target-ownership-controller/ownership/dynamo"
)

// Region is the region of engines that take any.
const Region = "eu-west-1"

// Table is a new, empty ownership table that is removed when the test ends.
type Table struct {
	Name     string
	Engine   string
	Endpoint string
	// Config has the region, credentials and endpoint of the engine. Use it
	// for clients with options of their own.
	Config aws.Config
	Client *dynamodb.Client
}

// Start creates a table in the first engine that can run of: the endpoint in
// DYNAMODB_ENDPOINT, DynamoDB Local in a container, kumo in process.
func Start(tb testing.TB) *Table {
	tb.Helper()
	for _, engine := range []Engine{Given, Container, Kumo} {
		if endpoint, why := engine.start(tb); why == nil {
			announce(engine, endpoint)
			return create(tb, engine.Name, configFor(tb, engine, endpoint))
		}
	}
	tb.Fatal("no DynamoDB engine runs") // kumo is part of this program
	return nil
}

// Start creates a table in this engine, and skips the test with the reason if
// the engine cannot run here.
func (e Engine) Start(tb testing.TB) *Table {
	tb.Helper()
	endpoint, why := e.start(tb)
	if why != nil {
		tb.Skipf("%s: %v", e.Name, why)
	}
	return create(tb, e.Name, configFor(tb, e, endpoint))
}

// Another creates one more table in the engine of t, which must be running.
func (t *Table) Another(tb testing.TB) *Table {
	tb.Helper()
	return create(tb, t.Engine, t.Config)
}

var announced sync.Once

func announce(engine Engine, endpoint string) {
	announced.Do(func() { fmt.Fprintf(os.Stderr, "DynamoDB engine: %s at %s\n", engine.Name, endpoint) })
}

func create(tb testing.TB, engine string, cfg aws.Config) *Table {
	tb.Helper()
	t := &Table{
		Name:     "ownership-" + rand.Text()[:10],
		Engine:   engine,
		Endpoint: aws.ToString(cfg.BaseEndpoint),
		Config:   cfg,
	}
	t.Client = dynamodb.NewFromConfig(t.Config)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err := t.Client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(t.Name)})
		if err != nil {
			tb.Logf("delete table %s: %v", t.Name, err)
		}
	})
	if err := dynamo.Create(tb.Context(), t.Client, dynamo.Definition(t.Name)); err != nil {
		tb.Fatalf("%s: %v", engine, err)
	}
	return t
}

// configFor reads the environment for a given endpoint, which may be AWS, and
// keeps it out of all others.
func configFor(tb testing.TB, engine Engine, endpoint string) aws.Config {
	tb.Helper()
	cfg := aws.Config{Region: Region, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	if engine.Name == Given.Name && (os.Getenv("AWS_ACCESS_KEY_ID") != "" || os.Getenv("AWS_PROFILE") != "") {
		var err error
		if cfg, err = config.LoadDefaultConfig(tb.Context(), config.WithDefaultRegion(Region)); err != nil {
			tb.Fatalf("AWS configuration for DYNAMODB_ENDPOINT: %v", err)
		}
	}
	cfg.BaseEndpoint = aws.String(endpoint)
	return cfg
}
