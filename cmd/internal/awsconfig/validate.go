package awsconfig

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
)

// tableName is DynamoDB's rule
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html).
// A region is known by its form: any list of them would refuse the next one
// that AWS opens.
var (
	tableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)
	region    = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-[0-9]+$`)
)

// Validate names every flag of the site that cannot be used, all at once.
func (s Site) Validate() error {
	var errs []error
	refuse := func(bad bool, format string, value string) {
		if bad {
			errs = append(errs, fmt.Errorf(format, value))
		}
	}
	refuse(!tableName.MatchString(s.Table), "--table: %q is not the name of a DynamoDB table, which has 3 to 255 letters, digits, '-', '_' or '.'", s.Table)
	refuse(s.Region != "" && !region.MatchString(s.Region), "--region: %q is not an AWS region such as eu-west-1", s.Region)
	refuse(!isURL(s.DynamoDBEndpoint), "--dynamodb-endpoint: %q is not a URL such as https://dynamodb.eu-west-1.amazonaws.com", s.DynamoDBEndpoint)
	refuse(!isURL(s.ELBv2Endpoint), "--elbv2-endpoint: %q is not a URL such as https://elasticloadbalancing.eu-west-1.amazonaws.com", s.ELBv2Endpoint)
	return errors.Join(errs...)
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return s == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// UnknownHost is the host that DNS denies, if that is what went wrong. Regions
// are part of host names to AWS, so that a misspelt one ends here.
func UnknownHost(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return dns.Name
	}
	return ""
}
