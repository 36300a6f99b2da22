package migrate

import (
	"testing"

	. "github.com/onsi/gomega"

	"target-ownership-controller/ownership"
)

func TestLists(t *testing.T) {
	for text, want := range map[string]ownership.Set{
		"":                                 {},
		"10.0.0.1:80":                      {"10.0.0.1:80": true},
		"10.0.0.2:80,10.0.0.1:80":          {"10.0.0.1:80": true, "10.0.0.2:80": true},
		"i-0abc:30080":                     {"i-0abc:30080": true},
		"2001:db8::5:8080":                 {"[2001:db8::5]:8080": true},
		"[2001:db8::5]:8080,10.0.0.1:8080": {"[2001:db8::5]:8080": true, "10.0.0.1:8080": true},
	} {
		g := NewWithT(t)
		got, err := parseList(map[string]string{"targets": text})
		g.Expect(err).NotTo(HaveOccurred(), text)
		g.Expect(got).To(Equal(want), text)
	}
}

func TestWhatIsNoList(t *testing.T) {
	g := NewWithT(t)
	_, err := parseList(map[string]string{"target": "10.0.0.1:80"})
	g.Expect(err).To(MatchError(`it has no key "targets"`))
	for text, want := range map[string]string{
		"10.0.0.1":              `"10.0.0.1" has no port`,
		"10.0.0.1:http":         `the port of "10.0.0.1:http" is not a number`,
		"10.0.0.1:80,":          `"" has no port`,
		"10.0.0.1:80;10.0.0.2:": `the port of "10.0.0.1:80;10.0.0.2:" is not a number`,
		"host:80":               `target "host": neither an IP address nor an instance ID such as i-0abc`,
		"10.0.0.1:0":            `target "10.0.0.1": port 0 is not in 1 to 65535`,
		`{"10.0.0.1:80":true}`:  `the port of "{\"10.0.0.1:80\":true}" is not a number`,
	} {
		_, err := parseList(map[string]string{"targets": text})
		g.Expect(err).To(MatchError(want), text)
	}
}

func TestBindingsThatLBCMade(t *testing.T) {
	for label, made := range map[string]bool{
		"ingress.k8s.aws/stack":               true,
		"ingress.k8s.aws/stack-name":          true,
		"service.k8s.aws/stack-namespace":     true,
		"gateway.k8s.aws.alb/stack-name":      true,
		"app.kubernetes.io/name":              false,
		"stack":                               false,
		"example.com/stack":                   false,
		"ownership.elbv2.k8s.aws/for-service": false,
	} {
		NewWithT(t).Expect(madeByLBC(map[string]string{label: "x"})).To(Equal(made), label)
	}
}
