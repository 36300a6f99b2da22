// elbsim runs the ELBv2 simulator as a process, for demos and for trying the
// controller by hand. It prints its URL and the ARN of each group, one a line,
// and serves until it is interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"target-ownership-controller/test/elbsim"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "elbsim:", err)
		os.Exit(1)
	}
}

func run() error {
	listen := flag.String("listen", "127.0.0.1:0", "`address` to listen on; the host must be 127.0.0.1, port 0 takes a free one")
	latency := flag.Duration("latency", 0, "latency of every call")
	region := flag.String("region", "us-east-1", "region in ARNs")
	var groups groupFlags
	flag.Var(&groups, "group", "target group to create, as `name=web,type=ip,vpc=vpc-1`; further keys: port (80), protocol (HTTP), family (ipv4). May be repeated")
	flag.Parse()

	port, err := loopbackPort(*listen)
	if err != nil {
		return err
	}
	sim := elbsim.New(elbsim.Options{Port: port, Region: *region})
	sim.Intercept(func(elbsim.Call) elbsim.Fault { return elbsim.Fault{Latency: *latency} })
	url, err := sim.Start()
	if err != nil {
		return err
	}
	defer sim.Close()
	fmt.Println("url", url)
	for _, g := range groups {
		created, err := sim.CreateGroup(g)
		if err != nil {
			return err
		}
		fmt.Println("group", created.Name, created.ARN)
	}

	stopped, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	<-stopped.Done()
	return nil
}

// loopbackPort refuses any other host: nothing here checks who is calling.
func loopbackPort(address string) (int, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0, fmt.Errorf("--listen %q: %w", address, err)
	}
	if host != "127.0.0.1" {
		return 0, fmt.Errorf("--listen %q: the host must be 127.0.0.1", address)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return 0, fmt.Errorf("--listen %q: %w", address, err)
	}
	return number, nil
}

type groupFlags []elbsim.Group

func (f *groupFlags) String() string { return "" }

// Set reads name=web,type=ip,vpc=vpc-1.
func (f *groupFlags) Set(text string) error {
	g := elbsim.Group{Protocol: "HTTP", Port: 80}
	for _, pair := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "name":
			g.Name = value
		case "type":
			g.TargetType = value
		case "vpc":
			g.VPCID = value
		case "protocol":
			g.Protocol = value
		case "family":
			g.IPAddressType = value
		case "port":
			port, err := strconv.ParseUint(value, 10, 16)
			if err != nil {
				return fmt.Errorf("port %q: %w", value, err)
			}
			g.Port = int32(port)
		default:
			return fmt.Errorf("unknown key %q: use name, type, vpc, port, protocol or family", key)
		}
	}
	*f = append(*f, g)
	return nil
}
