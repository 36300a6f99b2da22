package main

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"target-ownership-controller/cmd/internal/listing"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/controller/web"
	"target-ownership-controller/ownership/admin"
	"target-ownership-controller/ownership/dynamo"
)

// webPath is where the page is on the metrics server.
const webPath = "/web/"

// webReads keeps whoever looks at the page from using up the calls that
// bindings need: a tenth of what AWS grants.
var webReads = elb.Limit{PerSecond: 1, Burst: 5}

// addWebView serves the page beside the metrics, if a flag says so.
func addWebView(ctx context.Context, mgr manager.Manager, s settings, c aws.Config) error {
	if !s.webView {
		return nil
	}
	table := dynamo.New(s.DynamoDB(c), s.Table, dynamo.Options{})
	groups := elb.New(s.ELBv2(c), elb.Options{Region: s.Region, Limits: elb.Limits{Reads: webReads}})
	page := web.New(ctx, web.Source{
		Table: table, Lister: listing.Lister{Groups: groups}, History: table, Version: "controller " + version,
		Place: admin.Place{Table: s.Table, Region: s.Region},
	})
	return mgr.AddMetricsServerExtraHandler(webPath, http.StripPrefix(webPath[:len(webPath)-1], page))
}
