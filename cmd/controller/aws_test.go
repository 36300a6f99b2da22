package main

import (
	"context"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/cmd/internal/awsconfig"
)

// bareAWS is a machine without AWS configuration.
func bareAWS(t *testing.T) {
	for _, name := range []string{
		"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
	} {
		t.Setenv(name, "")
	}
	nothing := filepath.Join(t.TempDir(), "nothing")
	t.Setenv("AWS_CONFIG_FILE", nothing)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", nothing)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

func TestNoRegion(t *testing.T) {
	g := NewWithT(t)
	bareAWS(t)
	_, err := loadAWS(context.Background(), &settings{})
	g.Expect(err).To(MatchError(HavePrefix("--region: give the AWS region")))
}

func TestRegionOfTheEnvironment(t *testing.T) {
	g := NewWithT(t)
	bareAWS(t)
	t.Setenv("AWS_REGION", "eu-west-3")
	var s settings
	_, err := loadAWS(context.Background(), &s)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Region).To(Equal("eu-west-3"))
}

// What is wrong with the configuration is not blamed on the region.
func TestProfileThatIsMissing(t *testing.T) {
	g := NewWithT(t)
	bareAWS(t)
	t.Setenv("AWS_PROFILE", "nosuch")
	_, err := loadAWS(context.Background(), &settings{Site: awsconfig.Site{Region: "eu-west-1"}})
	g.Expect(err).To(MatchError(And(ContainSubstring("profile, nosuch"), ContainSubstring("AWS_PROFILE"), Not(ContainSubstring("--region")))))
}

// The chain of the SDK ends where chain takes it to end.
func TestNoCredentials(t *testing.T) {
	g := NewWithT(t)
	bareAWS(t)
	c, err := loadAWS(context.Background(), &settings{Site: awsconfig.Site{Region: "eu-west-1"}})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.Credentials.Retrieve(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("no AWS credentials found")))
}
