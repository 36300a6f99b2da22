package table

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sivchari/kumo"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"target-ownership-controller/test/child"
	"target-ownership-controller/test/table/lean"
)

// Engine is a DynamoDB implementation.
type Engine struct {
	Name string
	// start returns the endpoint, or why the engine cannot run here. The
	// engine stops when the test ends.
	start func(testing.TB) (endpoint string, why error)
}

// The engines.
var (
	// Given is whatever runs at DYNAMODB_ENDPOINT.
	Given = Engine{"given", given}
	// Container is DynamoDB Local, in Docker.
	Container = Engine{"dynamodb-local", container}
	// Kumo runs in this process.
	Kumo = Engine{"kumo", inProcess}
	// Dynalite runs in Node.js, installed by `npm ci` in test/dynalite.
	Dynalite = Engine{"dynalite", dynalite}
	// Lean runs in this process, and takes the least time of all.
	Lean = Engine{"lean", inProcessLean}
)

func given(testing.TB) (string, error) {
	endpoint := os.Getenv("DYNAMODB_ENDPOINT")
	if endpoint == "" {
		return "", errors.New("DYNAMODB_ENDPOINT is not set")
	}
	return endpoint, nil
}

func inProcess(tb testing.TB) (string, error) {
	server := kumo.NewServer()
	tb.Cleanup(server.Close)
	return server.URL, nil
}

func inProcessLean(tb testing.TB) (string, error) {
	server := httptest.NewServer(lean.New())
	tb.Cleanup(server.Close)
	return server.URL, nil
}

const (
	containerPort  = "8000/tcp"
	containerStart = 2 * time.Minute // with the download of the image
)

// image is DynamoDB Local, or what DYNAMODB_IMAGE names: any DynamoDB that
// listens on port 8000.
func image() string {
	if name := os.Getenv("DYNAMODB_IMAGE"); name != "" {
		return name
	}
	return "amazon/dynamodb-local:3.1.0"
}

func container(tb testing.TB) (string, error) {
	if err := docker(tb.Context()); err != nil {
		return "", fmt.Errorf("docker does not work here: %w", err)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), containerStart)
	defer cancel()
	c, err := testcontainers.Run(ctx, image(),
		testcontainers.WithExposedPorts(containerPort),
		testcontainers.WithWaitStrategy(wait.ForListeningPort(containerPort)))
	testcontainers.CleanupContainer(tb, c)
	if err != nil {
		return "", fmt.Errorf("docker cannot run %s: %w", image(), err)
	}
	return c.PortEndpoint(ctx, containerPort, "http")
}

// docker reports why Docker cannot be used. testcontainers panics if it finds
// no Docker host.
func docker(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return err
	}
	defer provider.Close()
	return provider.Health(ctx)
}

func dynalite(tb testing.TB) (string, error) {
	_, here, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(here), "..", "dynalite", "node_modules", ".bin", "dynalite")
	if _, err := os.Stat(script); err != nil {
		return "", errors.New("not installed: run `npm ci` in test/dynalite")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return "", err
	}
	// Tables stay in CREATING for a moment, as they do on AWS.
	host, port, err := net.SplitHostPort(child.Address(tb))
	if err != nil {
		return "", err
	}
	cmd := exec.Command(node, script, "--host", host, "--port", port, "--createTableMs", "300", "--deleteTableMs", "0")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return "", err
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // says that it was killed
	})
	return listening(tb, bufio.NewScanner(stdout)), nil
}

// listening waits for the line that says where dynalite listens.
func listening(tb testing.TB, lines *bufio.Scanner) string {
	tb.Helper()
	for lines.Scan() {
		if _, url, found := strings.Cut(lines.Text(), "listening at: "); found {
			return url
		}
	}
	tb.Fatalf("dynalite ended before it listened: %v", lines.Err())
	return ""
}
