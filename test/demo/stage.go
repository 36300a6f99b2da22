package demo

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
)

const (
	region    = "eu-west-1"
	namespace = "shop"
	app       = "web"
	groupName = "web"
	replicas  = 4
	// byHand is a target that a person put into the group.
	byHand = "10.9.0.9:8080"
)

// stage is everything that the scenes play with.
type stage struct {
	options Options
	scenes  []scene
	screen  *screen
	checks  checklist

	elb   *elbsim.Simulator
	group elbsim.Group
	guard *guard

	endpoint  string // of DynamoDB
	tableName string
	dynamodb  *dynamodb.Client
	table     *dynamo.Table

	dir        string // logs of the controllers
	east, west *site

	closers []func() error
}

// site is a cluster with its app and its controller.
type site struct {
	name       string
	podCIDR    string
	cluster    *kube.Cluster // nil: not there
	app        *kube.App
	controller *controller
}

func newStage(options Options) *stage {
	return &stage{
		options: options,
		scenes:  scenes,
		screen:  newScreen(options.Out, options.Color),
		east:    &site{name: "east", podCIDR: "10.1.0.0/16"},
		west:    &site{name: "west", podCIDR: "10.2.0.0/16"},
	}
}

func (s *stage) sites() []*site { return []*site{s.east, s.west} }

// onClose has something done at the end, last in first out.
func (s *stage) onClose(f func() error) { s.closers = append(s.closers, f) }

func (s *stage) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}

func (s *stage) logTails() string {
	var text string
	for _, site := range s.sites() {
		if site.controller != nil {
			text += site.controller.logTail()
		}
	}
	return text
}

func (s *stage) bin(name string) string { return filepath.Join(s.options.Bin, name) }

// records reads all records of the group.
func (s *stage) records(ctx context.Context) (ownership.Records, error) {
	return s.table.Records(ctx, ownership.GroupARN(s.group.ARN))
}

// look reads the group, the records and the pods.
func (s *stage) look(ctx context.Context) (view, error) {
	v := newView(s.east.name, s.west.name)
	read, err := s.records(ctx)
	if err != nil {
		return view{}, err
	}
	v.addRecords(read)
	for _, site := range s.sites() {
		if site.app == nil {
			continue
		}
		addresses, err := site.app.Addresses(ctx)
		if err != nil {
			return view{}, err
		}
		v.addPods(site.name, addresses)
	}
	v.addTargets(s.elb.Targets(s.group.ARN))
	return v, nil
}

// show prints who owns what: all targets, or only those given.
func (s *stage) show(ctx context.Context, only ...string) error {
	v, err := s.look(ctx)
	if err != nil {
		return err
	}
	s.screen.table(v.header(), v.rows(only...))
	if len(only) == 0 && v.draining > 0 {
		s.screen.note("and %d draining: taken out, their last connections end", v.draining)
	}
	return nil
}

// untilSettled waits until the group and all records are as the pods are.
func (s *stage) untilSettled(ctx context.Context) error {
	return s.until(ctx, "the group and the records to follow the pods", func(ctx context.Context) (string, error) {
		v, err := s.look(ctx)
		return v.unsettled(), err
	})
}

// union checks that the group is what all clusters want and the target that
// was put in by hand.
func (s *stage) union(ctx context.Context) check {
	const what = "the group is the union of both clusters' ready pods and the target put in by hand"
	v, err := s.look(ctx)
	if err == nil {
		err = difference(v.registered(), v.wanted())
	}
	return expect(what, err)
}
