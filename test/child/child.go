// Package child runs programs that write to a log file and do not outlive
// this process.
package child

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Process is a program that was started.
type Process struct {
	Name string // of the program
	Log  string // path of its log
	Pid  int

	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Start starts cmd, with its output appended to the log.
func Start(cmd *exec.Cmd, log string) (*Process, error) {
	p := &Process{Name: filepath.Base(cmd.Path), Log: log, cmd: cmd, done: make(chan struct{})}
	output, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = ownGroupDiesWithParent()
	started := make(chan error)
	go p.run(output, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	p.Pid = cmd.Process.Pid
	return p, nil
}

// run keeps its thread for the child's whole life: Linux sends the parent
// death signal when the thread that forked ends, not the process
// (prctl(2), PR_SET_PDEATHSIG).
func (p *Process) run(output *os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer output.Close()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	if p.err == nil {
		p.err = errors.New("exit status 0")
	}
	close(p.done)
}

// Done is closed once the child is gone and waited for.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the child ended, exit status 0 included. It is for after Done.
func (p *Process) Err() error { return p.err }

// Signal sends a signal to the child.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Kill ends the child without any warning and returns when it is gone. To
// kill one that is gone already succeeds.
func (p *Process) Kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.Name, err)
	}
	<-p.done
	return nil
}

// Tail returns the last lines of the log, or why it cannot be read.
func (p *Process) Tail(lines int) []string {
	content, err := os.ReadFile(p.Log)
	if err != nil {
		return []string{err.Error()}
	}
	all := strings.Split(string(bytes.TrimSpace(content)), "\n")
	return all[max(0, len(all)-lines):]
}
