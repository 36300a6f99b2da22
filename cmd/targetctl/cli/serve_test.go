package cli

import (
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"

	"target-ownership-controller/cmd/internal/awsconfig"
)

// Interrupted, it has done what it was asked.
func TestServe(t *testing.T) {
	for listen, warns := range map[string]bool{"127.0.0.1:0": false, "0.0.0.0:0": true, ":0": true} {
		t.Run(listen, func(t *testing.T) { serves(t, listen, warns) })
	}
}

func serves(t *testing.T, listen string, warns bool) {
	b := newBench(t)
	ctx, interrupt := context.WithCancel(t.Context())
	said := gbytes.NewBuffer()
	ended := make(chan int)
	go func() {
		a := &app{
			Streams: Streams{Out: io.Discard, Err: said},
			connect: func(context.Context, awsconfig.Site, roles) (*site, error) {
				return &site{table: b.table, history: b.table, groups: b.health}, nil
			},
		}
		ended <- a.run(ctx, "v1.2.3", []string{"targetctl", "serve", "--listen", listen})
	}()
	b.Eventually(said).Should(gbytes.Say(`serving http://(127\.0\.0\.1|\[::1\]):\d+/ until`))
	b.Expect(strings.HasPrefix(string(said.Contents()), "warning: whoever reaches this machine sees the page")).To(Equal(warns))
	url := regexp.MustCompile(`http://\S+`).FindString(string(said.Contents()))
	response, err := http.Get(url + "site.json")
	b.Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	b.Expect(err).NotTo(HaveOccurred())
	b.Expect(string(text)).To(ContainSubstring(`"owner":"east/shop/web"`))
	interrupt()
	b.Eventually(ended).Should(Receive(Equal(exitOK)))
}

func TestServeWhereItCannot(t *testing.T) {
	b := newBench(t)
	code, _, errs := b.run("serve", "--listen", "8090")
	b.Expect(code).To(Equal(exitUsage))
	b.Expect(errs).To(ContainSubstring(`--listen: "8090" is not HOST:PORT`))

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	b.Expect(err).NotTo(HaveOccurred())
	defer taken.Close()
	code, _, errs = b.run("serve", "--listen", taken.Addr().String())
	b.Expect(code).To(Equal(exitFailure))
	b.Expect(errs).To(And(ContainSubstring("--listen: "), ContainSubstring("address already in use")))
}
