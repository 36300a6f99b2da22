package main

import (
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/test/elbsim"
)

func TestGroupFlag(t *testing.T) {
	g := NewWithT(t)
	var groups groupFlags
	g.Expect(groups.Set("name=web,type=ip,vpc=vpc-1")).To(Succeed())
	g.Expect(groups.Set("name=dns,type=instance,vpc=vpc-2,port=53,protocol=UDP,family=ipv6")).To(Succeed())
	g.Expect([]elbsim.Group(groups)).To(Equal([]elbsim.Group{
		{Name: "web", TargetType: "ip", VPCID: "vpc-1", Protocol: "HTTP", Port: 80},
		{Name: "dns", TargetType: "instance", VPCID: "vpc-2", Protocol: "UDP", Port: 53, IPAddressType: "ipv6"},
	}))
	g.Expect(groups.Set("colour=web")).To(MatchError(ContainSubstring(`unknown key "colour"`)))
	g.Expect(groups.Set("name=web,port=http")).To(MatchError(ContainSubstring(`port "http"`)))
}

func TestListensOnLoopbackOnly(t *testing.T) {
	g := NewWithT(t)
	g.Expect(loopbackPort("127.0.0.1:4571")).To(Equal(4571))
	for _, address := range []string{"0.0.0.0:4571", ":4571", "127.0.0.1", "127.0.0.1:http"} {
		_, err := loopbackPort(address)
		g.Expect(err).To(MatchError(ContainSubstring(address)))
	}
}
