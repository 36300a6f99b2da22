package soak

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"target-ownership-controller/ownership"
	"target-ownership-controller/test/child"
	"target-ownership-controller/test/kube"
)

// site is a cluster with its apps, its controller, and the controller's ways
// to the rest of the world.
type site struct {
	name        string
	podCIDR     string
	steady      string // address of a pod that stays for the whole soak
	cluster     *kube.Cluster
	web, moving *kube.App
	table, elb  *link

	mu         sync.Mutex
	controller *controller
	frozen     freeze // the last one

	// found are the records that its present process found at its start.
	found map[ownership.Owner]ownership.Revision
}

// controller is a process of cmd/controller. All those of a site append to
// one log.
type controller struct {
	*child.Process
	mu     sync.Mutex
	wanted bool // its end was
}

// freeze is a time in which a process stood still; a zero end is not over.
type freeze struct{ begin, end time.Time }

// controllerArgs is what an operator would give, with short periods.
func (s *soak) controllerArgs(at *site) []string {
	return []string{
		"--cluster-id=" + at.name,
		"--region=" + region,
		"--table=" + tableName,
		"--dynamodb-endpoint=" + at.table.url(),
		"--elbv2-endpoint=" + at.elb.url(),
		"--leader-elect=false", // one replica, so that a restart waits for no lease
		"--heartbeat-period=2s",
		"--compare-period=" + comparePeriod.String(),
		"--metrics-bind-address=0",
		"--health-probe-bind-address=0",
	}
}

// runController starts the controller of a site. Its access key is the name
// by which table and load balancer know the caller.
func (s *soak) runController(at *site) error {
	cmd := exec.Command(s.options.Controller, s.controllerArgs(at)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + s.dir,
		"KUBECONFIG=" + at.cluster.Kubeconfig,
		"AWS_ACCESS_KEY_ID=" + at.name,
		"AWS_SECRET_ACCESS_KEY=soak",
		"AWS_EC2_METADATA_DISABLED=true",
	}
	process, err := child.Start(cmd, s.logOf(at))
	if err != nil {
		return fmt.Errorf("the controller of %s: %w; run `make build` first", at.name, err)
	}
	c := &controller{Process: process}
	at.mu.Lock()
	at.controller = c
	at.mu.Unlock()
	go func() {
		<-c.Done()
		if !c.endWanted() {
			s.fail(&problem{what: fmt.Sprintf("the controller of %s ended unasked: %v", at.name, c.Err())})
		}
	}()
	return nil
}

func (s *soak) logOf(at *site) string { return filepath.Join(s.dir, at.name+".log") }

func (c *controller) endWanted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wanted
}

func (at *site) running() *controller {
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.controller
}

// kill is kill -9. To kill a site without a controller succeeds.
func (at *site) kill() error {
	c := at.running()
	if c == nil {
		return nil
	}
	c.mu.Lock()
	c.wanted = true
	c.mu.Unlock()
	return c.Kill()
}

// stop freezes the process where it stands.
func (at *site) stop() error {
	at.mu.Lock()
	at.frozen = freeze{begin: time.Now()}
	at.mu.Unlock()
	return at.running().Signal(syscall.SIGSTOP)
}

func (at *site) resume() error {
	at.mu.Lock()
	at.frozen.end = time.Now()
	at.mu.Unlock()
	err := at.running().Signal(syscall.SIGCONT)
	if errors.Is(err, os.ErrProcessDone) {
		return nil // its end is reported by itself
	}
	return err
}

func (at *site) lastFreeze() freeze {
	at.mu.Lock()
	defer at.mu.Unlock()
	return at.frozen
}

// pods are the ready pods of a site by target, with what tells a pod from
// the next one at its address.
type pods map[string]types.UID

// ready reads the pods that the site wants in the group, around all caches.
func (at *site) ready(ctx context.Context) (pods, error) {
	list := &discoveryv1.EndpointSliceList{}
	if err := at.cluster.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("cluster %s: list slices: %w", at.name, err)
	}
	ready := pods{}
	for _, slice := range list.Items {
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready != nil && !*endpoint.Conditions.Ready {
				continue
			}
			for _, address := range endpoint.Addresses {
				ready[target(address)] = uidOf(endpoint.TargetRef)
			}
		}
	}
	return ready, nil
}

func uidOf(ref *corev1.ObjectReference) types.UID {
	if ref == nil {
		return ""
	}
	return ref.UID
}

func target(address string) string { return fmt.Sprintf("%s:%d", address, kube.TargetPort) }
