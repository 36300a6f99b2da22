package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// link is a way from one controller to one service, through a toxiproxy. It
// is for one goroutine.
//
// Every change replaces the proxy at the same address, and with it all its
// connections: to take a toxic out of a running proxy can wait for ever for a
// connection whose reader is gone.
type link struct {
	server   *toxiproxy.ApiServer
	name     string
	upstream string
	address  string
	proxy    *toxiproxy.Proxy // nil: cut off
}

// toxic is a disturbance as toxiproxy takes it
// (https://github.com/Shopify/toxiproxy#toxics).
type toxic struct {
	Type       string         `json:"type"`
	Name       string         `json:"name"`
	Stream     string         `json:"stream"` // upstream is the call, downstream the answer
	Attributes map[string]int `json:"attributes"`
}

func newLink(name, upstreamURL string) (*link, error) {
	upstream, err := url.Parse(upstreamURL)
	if err != nil {
		return nil, fmt.Errorf("link %s: %w", name, err)
	}
	l := &link{
		server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
		name:   name, upstream: upstream.Host, address: "127.0.0.1:0",
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	l.address = l.proxy.Listen
	return l, nil
}

func (l *link) url() string { return "http://" + l.address }

func (l *link) open(toxics ...toxic) error {
	proxy := toxiproxy.NewProxy(l.server, l.name, l.address, l.upstream)
	for _, t := range toxics {
		encoded, err := json.Marshal(t)
		if err != nil {
			return err
		}
		if _, err := proxy.Toxics.AddToxicJson(strings.NewReader(string(encoded))); err != nil {
			return fmt.Errorf("link %s: toxic %s: %w", l.name, t.Type, err)
		}
	}
	if err := proxy.Start(); err != nil {
		return fmt.Errorf("link %s: %w", l.name, err)
	}
	l.proxy = proxy
	return nil
}

// cut closes all connections and refuses new ones.
func (l *link) cut() {
	if l.proxy != nil {
		l.proxy.Stop()
		l.proxy = nil
	}
}

// portPatience is for a port that somebody else got for a connection of his
// own while we did not listen.
const portPatience = 20 * time.Second

// become makes the link behave as the toxics say; without any it is sound.
func (l *link) become(ctx context.Context, toxics ...toxic) error {
	l.cut()
	deadline := time.Now().Add(portPatience)
	for {
		err := l.open(toxics...)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		if pause(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// toxicsFor are the toxics of a fault of that size. What is slow stays below
// what a controller allows one call, so that calls succeed or time out.
func toxicsFor(kind string, size float64) []toxic {
	both := func(kind string, attributes map[string]int) []toxic {
		return []toxic{
			{Type: kind, Name: "calls", Stream: "upstream", Attributes: attributes},
			{Type: kind, Name: "answers", Stream: "downstream", Attributes: attributes},
		}
	}
	switch kind {
	case blackHole:
		return both("timeout", map[string]int{"timeout": 0})
	case slow:
		ms := int(between(200*time.Millisecond, 3*time.Second, size).Milliseconds())
		return both("latency", map[string]int{"latency": ms, "jitter": ms / 5})
	case reset:
		way := int(size * 2) // either the call or its answer is lost
		return both("reset_peer", map[string]int{"timeout": 0})[way : way+1]
	default:
		return nil
	}
}
