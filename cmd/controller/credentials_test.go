package main

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/smithy-go"
	. "github.com/onsi/gomega"

	"target-ownership-controller/cmd/internal/awsconfig"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
)

// noInstance is what the SDK takes last: the role of an EC2 instance, on a
// machine that is none.
func noInstance(t *testing.T) aws.CredentialsProvider {
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	return aws.NewCredentialsCache(ec2rolecreds.New())
}

func failing(err error) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, err })
}

// Without credentials no call leaves the machine, and the store and the load
// balancer client take that for a refusal and not for an outage.
func TestCallsWithoutCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		provider aws.CredentialsProvider
		says     []string
	}{
		"nothing configured": {noInstance(t), []string{"no AWS credentials found", "IRSA", "EKS Pod Identity", "AWS_PROFILE"}},
		"token file missing": {failing(&fs.PathError{Op: "open", Path: "/nosuch", Err: fs.ErrNotExist}), []string{"the source that is configured gives none", "open /nosuch"}},
	} {
		t.Run(name, func(t *testing.T) {
			g, api := NewWithT(t), newFakeAWS(t, 200, "")
			api.Credentials = awsconfig.Chain{CredentialsProvider: c.provider}
			o := options(settings{Site: awsconfig.Site{Table: "table", Region: "eu-west-1"}}, api.Config, "")
			table := o.Table.Verify(t.Context())
			_, group := o.Groups.Group(t.Context(), elb.GroupRef{Name: "web"})
			g.Expect(table).To(MatchError(ownership.ErrForbidden))
			g.Expect(group).To(MatchError(ownership.ErrGroupForbidden))
			for _, words := range c.says {
				g.Expect([]string{table.Error(), group.Error()}).To(HaveEach(ContainSubstring(words)))
			}
			g.Expect(api.calls).To(BeZero())
		})
	}
}

// What AWS answers, and a call that was given up, say more than that there are
// no credentials.
func TestOtherTroubleWithCredentials(t *testing.T) {
	for _, err := range []error{
		&smithy.GenericAPIError{Code: "AccessDenied", Message: "Not authorized to perform sts:AssumeRoleWithWebIdentity"},
		context.Canceled,
		context.DeadlineExceeded,
	} {
		t.Run(err.Error(), func(t *testing.T) {
			g := NewWithT(t)
			_, got := awsconfig.Chain{CredentialsProvider: failing(err)}.Retrieve(t.Context())
			g.Expect(got).To(BeIdenticalTo(err))
		})
	}
}

// An instance role that does not answer in time, as behind a hop limit of 1,
// is nothing found as well.
func TestInstanceRoleThatIsLate(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err := awsconfig.Chain{CredentialsProvider: noInstance(t)}.Retrieve(ctx)
	missing, ok := errors.AsType[*awsconfig.NoCredentials](err)
	g.Expect(ok).To(BeTrue(), "%v", err)
	g.Expect(missing.NothingSet).To(BeTrue())
}
