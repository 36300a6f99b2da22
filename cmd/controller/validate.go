package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"target-ownership-controller/ownership"
)

var leaseName = regexp.MustCompile(`^([a-z0-9-]+/)?[a-z0-9.-]+$`)

// validate names every setting that cannot be used, all at once.
func (s *settings) validate() error {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	if err := ownership.ValidateClusterID(s.clusterID); err != nil {
		errs = append(errs, fmt.Errorf("--cluster-id: %w; give each cluster that shares the table a name of its own", err))
	}
	if err := s.Validate(); err != nil {
		errs = append(errs, err)
	}
	refuse(!isRate(s.elbLimits.Reads), "--elb-read-rate: %s is not between 0.1:1 and 1000:1000", (*rateFlag)(&s.elbLimits.Reads))
	refuse(!isRate(s.elbLimits.Mutations), "--elb-mutation-rate: %s is not between 0.1:1 and 1000:1000", (*rateFlag)(&s.elbLimits.Mutations))
	refuse(s.comparePeriod < 10*time.Second || s.comparePeriod > time.Hour, "--compare-period: %s is not between 10s and 1h", s.comparePeriod)
	refuse(s.heartbeatPeriod < time.Second || s.heartbeatPeriod > time.Minute, "--heartbeat-period: %s is not between 1s and 1m", s.heartbeatPeriod)
	refuse(s.history != 0 && (s.history < time.Hour || s.history > 365*24*time.Hour), "--history-retention: %s is not between 1h and 8760h, and not 0 for no history", s.history)
	refuse(!isAddress(s.metricsAddress), "--metrics-bind-address: %q is not HOST:PORT, :PORT or 0", s.metricsAddress)
	refuse(s.webView && s.metricsAddress == "0", "--web-view: true is of no use with --metrics-bind-address=0, which is where the page would be")
	refuse(!isAddress(s.probeAddress), "--health-probe-bind-address: %q is not HOST:PORT, :PORT or 0", s.probeAddress)
	refuse(s.probeAddress == s.metricsAddress && listens(s.probeAddress), "--health-probe-bind-address: %q is the address of --metrics-bind-address too", s.probeAddress)
	refuse(!isAddress(s.webhookAddress) || strings.HasSuffix(s.webhookAddress, ":0"), "--webhook-bind-address: %q is not HOST:PORT, :PORT or 0", s.webhookAddress)
	refuse(s.webhookAddress == s.metricsAddress && listens(s.webhookAddress), "--webhook-bind-address: %q is the address of --metrics-bind-address too", s.webhookAddress)
	refuse(s.webhookAddress == s.probeAddress && listens(s.webhookAddress), "--webhook-bind-address: %q is the address of --health-probe-bind-address too", s.webhookAddress)
	refuse(s.namespace != "" && len(validation.IsDNS1123Label(s.namespace)) > 0, "--leader-election-namespace: %q is not the name of a namespace, which has up to 63 lower case letters, digits or '-', and no '-' at either end", s.namespace)
	refuse(s.workers < 1 || s.workers > 100, "--workers: %d is not between 1 and 100", s.workers)
	if _, err := kinds(s.bindingKinds); err != nil {
		errs = append(errs, fmt.Errorf("--binding-kinds: %w", err))
	}
	for _, lease := range s.lbcLeases {
		refuse(!leaseName.MatchString(lease), "--load-balancer-controller-lease: %q is not NAME or NAMESPACE/NAME", lease)
	}
	if err := s.traces.validate(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// isAddress reports whether a server can listen there; 0 is for no server.
func isAddress(s string) bool {
	if s == "0" {
		return true
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	_, notIP := netip.ParseAddr(host)
	return err == nil && (host == "" || notIP == nil || len(validation.IsDNS1123Subdomain(host)) == 0)
}

// listens reports whether the address has a port of its own: 0 is for no
// server, port 0 for any that is free.
func listens(address string) bool { return address != "0" && !strings.HasSuffix(address, ":0") }
