package ownership_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

func TestParseGroupARN(t *testing.T) {
	g := NewWithT(t)
	for _, partition := range []string{"aws", "aws-cn", "aws-us-gov"} {
		s := "arn:" + partition + ":elasticloadbalancing:us-gov-west-1:111122223333:targetgroup/My-Group1/73e2d6bc24d8a067"
		group, err := ownership.ParseGroupARN(s)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(group.Region()).To(Equal("us-gov-west-1"))
		g.Expect(group.Account()).To(Equal("111122223333"))
		g.Expect(group.Name()).To(Equal("My-Group1"))
	}
	for _, s := range []string{
		"", "blue", string(arn) + " ", " " + string(arn), string(arn) + "\n", string(arn) + "/x",
		"arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue",
		"arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup//0123456789abcdef",
		"arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/net/blue/0123456789abcdef",
		"arn:aws:elasticloadbalancing:eu-west-1:1111:targetgroup/blue/0123456789abcdef",
		"arn:aws:elasticloadbalancing::111122223333:targetgroup/blue/0123456789abcdef",
		"arn:aws:ec2:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef",
		"arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/bl_ue/0123456789abcdef",
		"arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/" + strings.Repeat("a", 33) + "/0123456789abcdef",
	} {
		_, err := ownership.ParseGroupARN(s)
		g.Expect(err).To(MatchError(ContainSubstring("is not a target group ARN")), s)
	}
	// What is no ARN has no parts, and is no reason to panic.
	for _, s := range []ownership.GroupARN{"", "blue", "a:b"} {
		g.Expect(s.Region() + s.Account()).To(BeEmpty())
		g.Expect(s.Name()).To(Equal(string(s)))
	}
}

func FuzzParseGroupARN(f *testing.F) {
	f.Add(string(arn))
	f.Add("arn:aws-cn:elasticloadbalancing:cn-north-1:111122223333:targetgroup/a/0")
	f.Add("arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/blue/0123456789abcdef\n")
	f.Add("arn:aws:elasticloadbalancing:::targetgroup/")
	f.Fuzz(func(t *testing.T, s string) {
		group, err := ownership.ParseGroupARN(s)
		if err != nil {
			return
		}
		id := s[strings.LastIndexByte(s, '/')+1:]
		partition := strings.Split(s, ":")[1]
		built := "arn:" + partition + ":elasticloadbalancing:" + group.Region() + ":" + group.Account() + ":targetgroup/" + group.Name() + "/" + id
		if built != s || len(group.Account()) != 12 || group.Region() == "" || group.Name() == "" {
			t.Fatalf("%q has the parts of %q", s, built)
		}
	})
}

func TestOwner(t *testing.T) {
	g := NewWithT(t)
	o := ownership.Owner{Cluster: "Prod_eu.west-1", Namespace: "shop", Name: "web.v2"}
	g.Expect(o.String()).To(Equal("Prod_eu.west-1/shop/web.v2"))
	g.Expect(ownership.ParseOwner("Prod_eu.west-1/shop/web.v2")).To(Equal(o))
	for _, s := range []string{"", "a", "a/b", "a/b/c/d", "/b/c", "a//c", "a/b/", "//"} {
		_, err := ownership.ParseOwner(s)
		g.Expect(err).To(MatchError(ContainSubstring("want cluster/namespace/name")), s)
	}
}

func FuzzParseOwner(f *testing.F) {
	for _, s := range []string{"a/b/c", "a/b", "//", "a/b/c/d", "a b/\x00/é", "cluster/hb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := ownership.ParseOwner(s)
		if err != nil {
			return
		}
		if o.String() != s {
			t.Fatalf("%q became %q", s, o)
		}
		if o.Cluster == "" || o.Namespace == "" || o.Name == "" {
			t.Fatalf("%q has an empty part: %+v", s, o)
		}
	})
}

func TestValidateClusterID(t *testing.T) {
	g := NewWithT(t)
	for _, id := range []string{"a", "prod-eu_1", "Prod.eu", "1", strings.Repeat("a", 100)} {
		g.Expect(ownership.ValidateClusterID(id)).To(Succeed(), id)
	}
	for _, id := range []string{"", "-a", "a-", "a/b", "a b", "é", "a\n", "history#x", strings.Repeat("a", 101)} {
		g.Expect(ownership.ValidateClusterID(id)).NotTo(Succeed(), id)
	}
	g.Expect(ownership.ValidateClusterID("")).To(MatchError("the cluster ID is empty"))
}
