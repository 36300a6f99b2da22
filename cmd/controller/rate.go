package main

import (
	"fmt"
	"strconv"
	"strings"

	"target-ownership-controller/controller/elb"
)

// rateFlag is a token bucket in the form RATE:BURST.
type rateFlag elb.Limit

func (r *rateFlag) String() string { return fmt.Sprintf("%g:%d", r.PerSecond, r.Burst) }
func (r *rateFlag) Type() string   { return "rate:burst" }

func (r *rateFlag) Set(s string) error {
	rate, burst, _ := strings.Cut(s, ":")
	perSecond, err := strconv.ParseFloat(rate, 64)
	if err != nil {
		return r.unreadable(s)
	}
	atOnce, err := strconv.Atoi(burst)
	if err != nil {
		return r.unreadable(s)
	}
	*r = rateFlag{PerSecond: perSecond, Burst: atOnce}
	return nil
}

func (r *rateFlag) unreadable(s string) error {
	return fmt.Errorf("%q is not RATE:BURST, calls per second and calls at once, such as %s", s, r)
}

// isRate has bounds in which a controller can work, and that no account needs
// to exceed.
func isRate(l elb.Limit) bool {
	return l.PerSecond >= 0.1 && l.PerSecond <= 1000 && l.Burst >= 1 && l.Burst <= 1000
}
