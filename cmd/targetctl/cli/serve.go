package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"target-ownership-controller/controller/web"
	"target-ownership-controller/ownership/admin"
)

func (a *app) serve(version string) *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show who owns what on a page in the browser, live",
		Long: "Show groups, clusters and targets, with health and recent history, on a page that\nkeeps up to date until the command is interrupted. It only reads, and only while\nsomebody looks.\n\n" +
			"Whoever can reach the address sees the page: there is no login.",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			host, _, err := net.SplitHostPort(listen)
			if err != nil {
				return usageError{fmt.Errorf("--listen: %q is not HOST:PORT or :PORT", listen)}
			}
			s, err := a.connect(c.Context(), a.site, a.roles)
			if err != nil {
				return err
			}
			page := web.New(c.Context(), web.Source{
				Table: s.table, Lister: s, History: s.history, Version: "targetctl " + version,
				Place: admin.Place{Table: a.site.Table, Region: s.region},
			}, host)
			return a.listen(c.Context(), listen, page)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:8090", "HOST:PORT to serve the page on; port 0 takes a free one")
	return c
}

// listen serves until the context ends.
func (a *app) listen(ctx context.Context, address string, handler http.Handler) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--listen: %w; choose another address", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // nothing is lost with a read
	defer stop()
	at := listener.Addr().(*net.TCPAddr)
	if !at.IP.IsLoopback() {
		fmt.Fprintln(a.Err, "warning: whoever reaches this machine sees the page, and there is no login; --listen 127.0.0.1:8090 is for this machine alone")
	}
	fmt.Fprintf(a.Err, "serving http://%s/ until interrupted\n", opened(at))
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// opened is an address that a browser can open: "all" is none.
func opened(at *net.TCPAddr) string {
	if at.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Port))
	}
	return at.String()
}
