package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/spf13/pflag"

	"target-ownership-controller/cmd/internal/awsconfig"
	"target-ownership-controller/controller/elb"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/pass"
)

// roles are those that reach the groups of other accounts.
type roles struct {
	arns       []string
	externalID string
}

func (r *roles) bind(f *pflag.FlagSet) {
	f.StringSliceVar(&r.arns, "group-role", nil, "ARN of a role to assume for the target groups of its account; one for each account but that of the credentials")
	f.StringVar(&r.externalID, "group-external-id", "", "external ID that the trust policies of the roles of --group-role ask for")
}

// byAccount are the roles, one for each account.
func (r *roles) byAccount() (map[string]elb.Role, error) {
	all := map[string]elb.Role{}
	for _, arn := range r.arns {
		role := elb.Role{ARN: arn, ExternalID: r.externalID}
		account := role.Account()
		switch other, twice := all[account]; {
		case account == "":
			return nil, fmt.Errorf("--group-role: %q is not the ARN of an IAM role, such as arn:aws:iam::123456789012:role/targets", arn)
		case twice:
			return nil, fmt.Errorf("--group-role: %s and %s are of the same account", other.ARN, arn)
		case role.Validate() != nil:
			return nil, fmt.Errorf("--group-external-id: it has to be 2 to 1224 letters, digits or characters of _+=,.@:/-")
		}
		all[account] = role
	}
	if r.externalID != "" && len(r.arns) == 0 {
		return nil, fmt.Errorf("--group-external-id: it is of no use without --group-role")
	}
	return all, nil
}

// reach reports whether one of the roles is of the account.
func (r *roles) reach(account string) bool {
	all, err := r.byAccount()
	_, ok := all[account]
	return ok && err == nil
}

// accounts reach each group with the role of its account; those of accounts
// that have none, and groups by name, with the credentials themselves.
type accounts struct {
	home   groups
	others map[string]groups
}

// reachable makes the clients, and no call.
func reachable(s awsconfig.Site, c aws.Config, r roles) (accounts, error) {
	roles, err := r.byAccount()
	if err != nil {
		return accounts{}, err
	}
	service := sts.NewFromConfig(c)
	if len(roles) > 0 && s.ELBv2Endpoint != "" && service.Options().BaseEndpoint == nil {
		return accounts{}, errors.New("--group-role: --elbv2-endpoint is set, whose roles AWS STS may not know; AWS_ENDPOINT_URL_STS can name one that does")
	}
	home := elb.New(s.ELBv2(c), elb.Options{Region: c.Region})
	reached := accounts{home: home, others: map[string]groups{}}
	assumed := elb.NewAccounts(home, service, func(credentials aws.CredentialsProvider) elb.API {
		other := c.Copy()
		other.Credentials = credentials
		return s.ELBv2(other)
	}, "targetctl")
	for account, role := range roles {
		reached.others[account] = assumed.Of(role)
	}
	return reached, nil
}

func (a accounts) of(group ownership.GroupARN) groups {
	if other, ok := a.others[group.Account()]; ok {
		return other
	}
	return a.home
}

// Group implements groups.
func (a accounts) Group(ctx context.Context, ref elb.GroupRef) (elb.Group, error) {
	return a.of(ownership.GroupARN(ref.ARN)).Group(ctx, ref)
}

// Health implements groups.
func (a accounts) Health(ctx context.Context, group ownership.GroupARN) (map[ownership.Target]elb.State, error) {
	return a.of(group).Health(ctx, group)
}

// Register implements [pass.Group].
func (a accounts) Register(ctx context.Context, admission ownership.Admission) ownership.Result {
	return a.of(admission.Group()).Register(ctx, admission)
}

// Deregister implements [pass.Group].
func (a accounts) Deregister(ctx context.Context, permit ownership.Removal) ownership.Result {
	return a.of(permit.Group()).Deregister(ctx, permit)
}

var _ pass.Group = accounts{}
