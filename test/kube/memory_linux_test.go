package kube

import (
	"bufio"
	"bytes"
	"fmt"
	"os"

	. "github.com/onsi/gomega"
)

// megabytes is what the cluster's programs use, with memory that several
// share, such as the binary itself, divided among them (proc(5), Pss).
func megabytes(g *WithT, cluster *Cluster) int {
	total := 0
	for _, pid := range processIDs(cluster) {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		g.Expect(err).NotTo(HaveOccurred())
		for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
			var kilobytes int
			if _, err := fmt.Sscanf(lines.Text(), "Pss: %d kB", &kilobytes); err == nil {
				total += kilobytes
			}
		}
	}
	return total / 1024
}
