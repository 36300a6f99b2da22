package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/sivchari/kumo"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership/dynamo"
	"target-ownership-controller/test/elbsim"
	"target-ownership-controller/test/kube"
)

// start brings everything up but the controllers.
func (s *stage) start(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "demo-")
	if err != nil {
		return err
	}
	s.dir = dir
	s.onClose(func() error { return os.RemoveAll(dir) })
	for _, step := range []func(context.Context) error{s.startTable, s.startGroup, s.startClusters} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	s.say("A person has put one target into the group. Nobody has recorded it, so nobody may touch it:")
	if err := s.show(ctx); err != nil {
		return err
	}
	return s.verify(s.union(ctx))
}

func (s *stage) say(format string, args ...any) { s.screen.say(format, args...) }

// startTable creates the ownership table.
func (s *stage) startTable(ctx context.Context) error {
	s.endpoint, s.tableName = s.options.DynamoDBEndpoint, "target-ownership"
	engine := "DynamoDB engine in this process"
	if s.endpoint == "" {
		server := kumo.NewServer()
		s.onClose(func() error { server.Close(); return nil })
		s.endpoint = server.URL
	} else {
		// It may have a table of that name, and outlives the demo.
		engine, s.tableName = "DYNAMODB_ENDPOINT", fmt.Sprintf("target-ownership-demo-%d", time.Now().UnixNano())
	}
	s.dynamodb = s.dynamodbAs("demo")
	if err := dynamo.Create(ctx, s.dynamodb, dynamo.Definition(s.tableName)); err != nil {
		return fmt.Errorf("create the ownership table at %s: %w", s.endpoint, err)
	}
	s.onClose(s.deleteTable)
	s.table = dynamo.New(s.dynamodb, s.tableName, dynamo.Options{})
	// Some engines have tables of their own for each access key.
	if err := dynamo.New(s.dynamodbAs(s.east.name), s.tableName, dynamo.Options{}).Verify(ctx); err != nil {
		return fmt.Errorf("%w; the engine has to show all access keys the same tables (DynamoDB Local: -sharedDb)", err)
	}
	s.screen.progress("ownership table %s: %s, %s", s.tableName, engine, s.endpoint)
	return nil
}

func (s *stage) dynamodbAs(caller string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       region,
		BaseEndpoint: aws.String(s.endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider(caller, "demo", ""),
		HTTPClient:   &http.Client{},
	})
}

func (s *stage) deleteTable() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := s.dynamodb.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(s.tableName)})
	if err != nil {
		return fmt.Errorf("delete table %s: %w", s.tableName, err)
	}
	return nil
}

// startGroup creates the shared target group and puts one target in by hand.
func (s *stage) startGroup(ctx context.Context) error {
	s.elb = elbsim.New(elbsim.Options{Region: region, Settings: elbsim.Settings{InitialFor: time.Second}})
	url, err := s.elb.Start()
	if err != nil {
		return err
	}
	s.onClose(func() error { s.elb.Close(); return nil })
	s.group, err = s.elb.CreateGroup(elbsim.Group{
		Name: groupName, Protocol: "HTTP", Port: kube.TargetPort, VPCID: "vpc-0123456789abcdef0", TargetType: elbsim.TargetTypeIP,
	})
	if err != nil {
		return err
	}
	s.guard = newGuard(byHand, s.records)
	s.elb.Observe(s.guard.observe)
	s.screen.progress("target group %s: ELBv2 simulator, %s", groupName, url)
	return s.putInByHand(ctx)
}

// putInByHand does what a person would do with the AWS CLI. The short drain
// keeps the tables of the demo short.
func (s *stage) putInByHand(ctx context.Context) error {
	person := s.elb.Client("by-hand")
	_, err := person.ModifyTargetGroupAttributes(ctx, &elbv2.ModifyTargetGroupAttributesInput{
		TargetGroupArn: aws.String(s.group.ARN),
		Attributes: []types.TargetGroupAttribute{
			{Key: aws.String("deregistration_delay.timeout_seconds"), Value: aws.String("5")},
		},
	})
	if err != nil {
		return err
	}
	put, err := elbsim.ParseTarget(byHand)
	if err != nil {
		return err
	}
	_, err = person.RegisterTargets(ctx, &elbv2.RegisterTargetsInput{
		TargetGroupArn: aws.String(s.group.ARN),
		Targets:        []types.TargetDescription{{Id: aws.String(put.ID), Port: aws.Int32(put.Port)}},
	})
	return err
}

// startClusters starts both at once and says every few seconds that it does.
func (s *stage) startClusters(ctx context.Context) error {
	type started struct {
		site *site
		err  error
	}
	results := make(chan started)
	for _, site := range s.sites() {
		s.screen.progress("cluster %s: etcd, kube-apiserver, controller-manager, scheduler and kwok start", site.name)
		go func() {
			var err error
			site.cluster, err = kube.Start(ctx, s.clusterOptions(site))
			results <- started{site, err}
		}()
	}
	tick := time.NewTicker(sayEvery)
	defer tick.Stop()
	var errs []error
	for pending := len(s.sites()); pending > 0; {
		select {
		case r := <-results:
			pending--
			errs = append(errs, r.err)
			if r.err == nil {
				s.onClose(func() error { return s.stopCluster(r.site) })
				s.screen.progress("cluster %s is up: its nodes are ready, pods get addresses in %s", r.site.name, r.site.podCIDR)
			}
		case <-tick.C:
			s.screen.progress("waiting for %d of %d clusters", pending, len(s.sites()))
		}
	}
	return errors.Join(errs...)
}

func (s *stage) clusterOptions(site *site) kube.Options {
	scheme := runtime.NewScheme()
	// Both only fail on a programming error in the types, which panics.
	_ = clientgoscheme.AddToScheme(scheme)
	_ = v1beta1.AddToScheme(scheme)
	return kube.Options{
		Name:     site.name,
		Full:     true,
		PodCIDR:  site.podCIDR,
		Scheme:   scheme,
		CRDPaths: []string{filepath.Join(s.options.Charts, "target-ownership-controller", "files", "crds")},
	}
}

func (s *stage) stopCluster(site *site) error {
	if site.cluster == nil {
		return nil
	}
	cluster := site.cluster
	site.cluster, site.app = nil, nil
	return cluster.Stop()
}
