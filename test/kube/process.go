package kube

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

// process is a child that writes to a log file and dies with this process.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed once the child is gone and waited for
	err  error         // how it ended; read it after done
}

// startProcess runs program in dir, with its output in dir/name.log.
// exited is called when the child is gone, whatever the reason.
func startProcess(program, dir string, args []string, exited func(*process)) (*process, error) {
	p := &process{name: filepath.Base(program), done: make(chan struct{})}
	p.log = filepath.Join(dir, p.name+".log")
	output, err := os.Create(p.log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	p.cmd = exec.Command(program, args...)
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = output, output
	// Keeps per-user settings (~/.kube, ~/.kwok) out.
	p.cmd.Env = append(os.Environ(), "HOME="+dir)
	p.cmd.SysProcAttr = ownGroupDiesWithParent()

	started := make(chan error)
	go p.run(output, started, exited)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	return p, nil
}

// run keeps its thread for the child's whole life: Linux sends the parent
// death signal when the thread that forked ends, not the process
// (prctl(2), PR_SET_PDEATHSIG).
func (p *process) run(output *os.File, started chan<- error, exited func(*process)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer output.Close()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	p.err = p.cmd.Wait()
	close(p.done)
	exited(p)
}

// kill ends the child and returns when it is gone. Nothing it holds is worth
// an orderly end: its data is removed next.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	<-p.done
	return nil
}

// tail returns the last lines of the log.
func (p *process) tail(lines int) string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(string(bytes.TrimSpace(content)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
