package kube

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

func TestProgramsDieWithTheirParent(t *testing.T) {
	g := NewWithT(t)
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), holdCluster+"=1", "TMPDIR="+t.TempDir())
	parent.Stderr = os.Stderr
	stdout, err := parent.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(parent.Start()).To(Succeed())
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	g.Expect(err).NotTo(HaveOccurred())
	var pids []int
	g.Expect(json.Unmarshal(line, &pids)).To(Succeed())
	g.Expect(pids).To(HaveLen(2))

	var children []unix.PollFd
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		g.Expect(err).NotTo(HaveOccurred())
		defer unix.Close(fd)
		children = append(children, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	g.Expect(parent.Process.Kill()).To(Succeed())
	g.Expect(parent.Wait()).To(MatchError("signal: killed"))
	for i := range children {
		ended, err := unix.Poll(children[i:i+1], int((10 * time.Second).Milliseconds()))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(ended).To(Equal(1), "process %d ends with its parent", pids[i])
	}
}
