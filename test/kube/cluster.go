package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"target-ownership-controller/test/child"
)

const (
	// startTimeout bounds Start when the caller's context has no deadline.
	// It is many times what a busy 2-core machine needs.
	startTimeout = 3 * time.Minute
	tailLines    = 15
)

var errStopped = errors.New("the cluster was stopped")

// Cluster is a running control plane. Stop it when done.
type Cluster struct {
	Name string
	// Config is for cluster administrators (group system:masters), without
	// client-side rate limit.
	Config *rest.Config
	// Kubeconfig is the path of a file that says the same, for other processes.
	Kubeconfig string
	// Client reads and writes without a cache.
	Client client.WithWatch
	// APIServerLog is the file kube-apiserver logs to; the other programs log
	// beside it. All are removed by Stop.
	APIServerLog string
	// AuditLog has the requests, one JSON audit.k8s.io/v1 Event in a line, if
	// the cluster was started with Options.Audit.
	AuditLog string

	dir      string
	binaries binaries
	options  Options

	// up ends when a program ends unasked, with the reason, or at Stop.
	up   context.Context
	down context.CancelCauseFunc

	mu        sync.Mutex
	processes []*child.Process // in the order of their start
}

// Start brings a cluster up and returns when it serves its CRDs and, if
// full, its nodes are Ready. ctx bounds the start only. An error carries the
// last log lines of each program, and nothing is left running.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c, err := newCluster(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("start cluster %s: %w", options.Name, err)
	}
	if err := c.start(ctx); err != nil {
		err = fmt.Errorf("start cluster %s: %w\n%s", options.Name, err, c.LogTails())
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func newCluster(ctx context.Context, options Options) (*Cluster, error) {
	found, err := findBinaries(ctx, options.Full)
	if err != nil {
		return nil, err
	}
	// Short, as the path of etcd's socket must stay below 104 bytes.
	dir, err := os.MkdirTemp("", "kube-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{Name: options.Name, dir: dir, binaries: found, options: options}
	c.up, c.down = context.WithCancelCause(context.Background())
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	ctx, cancel := c.whileUp(ctx)
	defer cancel()
	if err := c.startControlPlane(ctx); err != nil {
		return err
	}
	if err := c.installCRDs(); err != nil {
		return err
	}
	if !c.options.Full {
		return nil
	}
	if err := c.createNodes(ctx); err != nil {
		return err
	}
	if err := c.startControllers(); err != nil {
		return err
	}
	return c.waitForNodes(ctx)
}

func (c *Cluster) installCRDs() error {
	if len(c.options.CRDPaths)+len(c.options.CRDs) == 0 {
		return nil
	}
	_, err := envtest.InstallCRDs(c.Config, envtest.CRDInstallOptions{
		Scheme:             c.options.Scheme,
		Paths:              c.options.CRDPaths,
		CRDs:               c.options.CRDs,
		ErrorIfPathMissing: true,
		MaxTime:            startTimeout,
	})
	if err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}
	return nil
}

// run starts one of the cluster's programs.
func (c *Cluster) run(program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir = c.dir
	// Keeps per-user settings (~/.kube, ~/.kwok) out.
	cmd.Env = append(os.Environ(), "HOME="+c.dir)
	p, err := child.Start(cmd, c.file(filepath.Base(program)+".log"))
	if err != nil {
		return err
	}
	go c.watch(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes = append(c.processes, p)
	return nil
}

// watch notes the end of a program, whatever the reason.
func (c *Cluster) watch(p *child.Process) {
	<-p.Done()
	c.down(fmt.Errorf("%s ended unasked: %w", p.Name, errors.Join(p.Err(), errors.New("see its log"))))
}

// whileUp returns a context that also ends, with the reason as its cause,
// when one of the cluster's programs ends.
func (c *Cluster) whileUp(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.up, func() { cancel(context.Cause(c.up)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// Stop kills the cluster's programs, last started first, waits for each, and
// removes its files. It returns an error if a program had ended before,
// since then the test did not run on what it thought. A second Stop does
// nothing.
func (c *Cluster) Stop() error {
	crash := c.crash()
	c.down(errStopped)
	c.mu.Lock()
	defer c.mu.Unlock()
	errs := []error{crash}
	for i := len(c.processes) - 1; i >= 0; i-- {
		errs = append(errs, c.processes[i].Kill())
	}
	c.processes = nil
	errs = append(errs, os.RemoveAll(c.dir))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop cluster %s: %w", c.Name, err)
	}
	return nil
}

// crash says which program ended unasked, nil if none did.
func (c *Cluster) crash() error {
	if cause := context.Cause(c.up); cause != nil && !errors.Is(cause, errStopped) {
		return cause
	}
	return nil
}

// LogTails returns the last log lines of each program.
func (c *Cluster) LogTails() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var text strings.Builder
	for _, p := range c.processes {
		fmt.Fprintf(&text, "--- %s of cluster %s, last lines of its log:\n%s\n", p.Name, c.Name, strings.Join(p.Tail(tailLines), "\n"))
	}
	return text.String()
}

func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }
