package demo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"target-ownership-controller/test/child"
)

// tailLines is how much of a log a failure shows.
const tailLines = 12

// controller is a process of cmd/controller. A restart appends to the log.
type controller struct {
	*child.Process
	site string
}

// runController starts the controller of a site, as an operator would. Its
// access key is the name by which the simulator knows the caller.
func (s *stage) runController(site *site) error {
	cmd := exec.Command(s.bin("controller"),
		"--cluster-id="+site.name,
		"--region="+region,
		"--table="+s.tableName,
		"--dynamodb-endpoint="+s.endpoint,
		"--elbv2-endpoint="+s.elb.URL(),
		"--leader-elect=false", // one replica, so that a restart waits for no lease
		"--heartbeat-period=2s",
		"--compare-period=30s",
		"--metrics-bind-address=0",
		"--health-probe-bind-address=0",
	)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + s.dir,
		"KUBECONFIG=" + site.cluster.Kubeconfig,
		"AWS_ACCESS_KEY_ID=" + site.name,
		"AWS_SECRET_ACCESS_KEY=demo",
		"AWS_EC2_METADATA_DISABLED=true",
	}
	process, err := child.Start(cmd, filepath.Join(s.dir, site.name+".log"))
	if err != nil {
		return fmt.Errorf("the controller of %s: %w; run `make build` first", site.name, err)
	}
	site.controller = &controller{Process: process, site: site.name}
	s.onClose(process.Kill)
	return nil
}

func (c *controller) ended() bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// freeze stops the process where it stands, resume lets it go on.
func (c *controller) freeze() error { return c.Signal(syscall.SIGSTOP) }
func (c *controller) resume() error { return c.Signal(syscall.SIGCONT) }

func (c *controller) logTail() string {
	lines := c.Tail(tailLines)
	for i := range lines {
		lines[i] = logLine(lines[i])
	}
	return fmt.Sprintf("--- controller of %s, last lines of its log:\n%s\n", c.site, strings.Join(lines, "\n"))
}
