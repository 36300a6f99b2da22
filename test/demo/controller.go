package demo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// tailLines is how much of a log a failure shows.
const tailLines = 12

// controller is a process of cmd/controller. A restart appends to the log.
type controller struct {
	site string
	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed once the process is gone
	err  error         // how it ended; read it after done
}

// runController starts the controller of a site, as an operator would. Its
// access key is the name by which the simulator knows the caller.
func (s *stage) runController(site *site) error {
	c := &controller{
		site: site.name,
		log:  filepath.Join(s.dir, site.name+".log"),
		done: make(chan struct{}),
	}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	c.cmd = exec.Command(s.bin("controller"),
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
	c.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + s.dir,
		"KUBECONFIG=" + site.cluster.Kubeconfig,
		"AWS_ACCESS_KEY_ID=" + site.name,
		"AWS_SECRET_ACCESS_KEY=demo",
		"AWS_EC2_METADATA_DISABLED=true",
	}
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = ownGroupDiesWithParent()
	started := make(chan error)
	go c.run(log, started)
	if err := <-started; err != nil {
		return fmt.Errorf("start the controller of %s: %w; run `make build` first", site.name, err)
	}
	site.controller = c
	s.onClose(c.kill)
	return nil
}

// run keeps its thread for the child's whole life: Linux sends the parent
// death signal when the thread that forked ends (prctl(2), PR_SET_PDEATHSIG).
func (c *controller) run(log *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer log.Close()
	err := c.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	c.err = c.cmd.Wait()
	if c.err == nil {
		c.err = errors.New("exit status 0")
	}
	close(c.done)
}

func (c *controller) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// freeze stops the process where it stands, resume lets it go on.
func (c *controller) freeze() error { return c.cmd.Process.Signal(syscall.SIGSTOP) }
func (c *controller) resume() error { return c.cmd.Process.Signal(syscall.SIGCONT) }

// kill ends the process without any warning and returns when it is gone.
func (c *controller) kill() error {
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the controller of %s: %w", c.site, err)
	}
	<-c.done
	return nil
}

func (c *controller) logTail() string {
	content, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error() + "\n"
	}
	lines := strings.Split(string(bytes.TrimSpace(content)), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	for i := range lines {
		lines[i] = logLine(lines[i])
	}
	return fmt.Sprintf("--- controller of %s, last lines of its log:\n%s\n", c.site, strings.Join(lines, "\n"))
}
