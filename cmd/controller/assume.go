package main

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"target-ownership-controller/controller/binding"
	"target-ownership-controller/controller/elb"
)

// assume reaches the target groups of other accounts by roles that the
// controller's own credentials may assume; nil if there is no AWS STS for them.
func assume(s settings, c aws.Config, home *elb.Client) func(elb.Role) binding.Groups {
	service := sts.NewFromConfig(c)
	if !knowsAccounts(s, service) {
		return nil
	}
	accounts := elb.NewAccounts(home, service, func(credentials aws.CredentialsProvider) elb.API {
		other := c.Copy()
		other.Credentials = credentials
		return s.ELBv2(other)
	}, "target-ownership-"+s.clusterID)
	return func(role elb.Role) binding.Groups { return accounts.Of(role) }
}

// knowsAccounts reports whether AWS STS and the load balancers are of one
// world: an endpoint of --elbv2-endpoint may have accounts that AWS has not.
func knowsAccounts(s settings, service *sts.Client) bool {
	return s.ELBv2Endpoint == "" || service.Options().BaseEndpoint != nil
}
