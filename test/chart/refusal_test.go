package chart

import (
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"helm.sh/helm/v4/pkg/strvals"

	"target-ownership-controller/ownership"
)

// refused are values, as for --set, and what is said about them.
var refused = []struct{ set, message string }{
	{"clusterID=", "clusterID: the cluster ID is empty; give each cluster that shares the table a name of its own"},
	{"clusterID=-east", `clusterID: the cluster ID "-east" has to be 1 to 100 letters`},
	{"image.repository=", "image.repository: name the repository"},
	{"replicas=2,leaderElection.enabled=false", "leaderElection.enabled: 2 replicas need it"},
	{"probes.port=8080", "probes.port: 8080 is metrics.port too"},
	{"metrics.podMonitor.enabled=true,metrics.serviceMonitor.enabled=true", "metrics.serviceMonitor.enabled: metrics.podMonitor is enabled too"},
	{"metrics.enabled=false,metrics.podMonitor.enabled=true", "metrics.enabled: there are no metrics to scrape"},
	{"metrics.enabled=false,metrics.webView=true", "metrics.webView: the page is served beside the metrics"},
	{"crds.keep=false", "crds.keep: without it `helm uninstall` deletes every TargetGroupBinding"},
	{"podDisruptionBudget.minAvailable=1", `podDisruptionBudget.minAvailable: set maxUnavailable to "" beside it`},

	{"networkPolicy.enabled=true,tracing.endpoint=http://otel-collector:4318", "networkPolicy.tracing.port: the policy would let nothing out to http://otel-collector:4318"},
	{"networkPolicy.enabled=true,dynamodbEndpoint=http://dynamodb:8000", "networkPolicy.dynamodb.port: the policy would let nothing out to http://dynamodb:8000"},
	{"networkPolicy.enabled=true,elbv2Endpoint=http://elb", "networkPolicy.elbv2.port: the policy would let nothing out to http://elb"},
	{"networkPolicy.enabled=true,networkPolicy.tracing.port=4318", "networkPolicy.tracing.to: say whom port 4318 leads to"},

	{"webhooks.enabled=true,webhooks.port=8080", "webhooks.port: 8080 is metrics.port or probes.port too"},
	{"webhooks.enabled=true,webhooks.port=8081", "webhooks.port: 8081 is metrics.port or probes.port too"},
	{"webhooks.port=0", "at '/webhooks/port': minimum: got 0, want 1"},
	{"clusterId=east", "additional properties 'clusterId' not allowed"},
	{"metrics.podMonitor.enable=true", "at '/metrics/podMonitor': additional properties 'enable' not allowed"},
	{"clusterID=null", "missing property 'clusterID'"},
	{"table=ab", "at '/table': 'ab' does not match pattern"},
	{"region=Ireland", "at '/region': 'Ireland' does not match pattern"},
	{"dynamodbEndpoint=dynamodb", "at '/dynamodbEndpoint': 'dynamodb' does not match pattern"},
	{"elbv2Endpoint=elb", "at '/elbv2Endpoint': 'elb' does not match pattern"},
	{"elbReadRate=5", "at '/elbReadRate': got number, want string"},
	{"elbMutationRate=fast", "at '/elbMutationRate': 'fast' does not match pattern"},
	{"comparePeriod=5", "at '/comparePeriod': got number, want string"},
	{"heartbeatPeriod=soon", "at '/heartbeatPeriod': 'soon' does not match pattern"},
	{"historyRetention=7d", "at '/historyRetention': '7d' does not match pattern"},
	{"workers=0", "at '/workers': minimum: got 0, want 1"},
	{"logLevel=warning", "at '/logLevel': value must be one of 'debug', 'info', 'warn', 'error'"},
	{"loadBalancerControllerLeases={}", "at '/loadBalancerControllerLeases/0': '' does not match pattern"},
	{"loadBalancerControllerLeases={a/b/c}", "at '/loadBalancerControllerLeases/0': 'a/b/c' does not match pattern"},
	{"allowedTargetGroups[0].namespaces={shop}", "at '/allowedTargetGroups/0': missing property 'targetGroups'"},
	{"allowedTargetGroups[0].namespaces={shop},allowedTargetGroups[0].tags.team=5", "at '/allowedTargetGroups/0/tags/team': got number, want string"},
	{"allowedTargetGroups[0].namespaces={shop},allowedTargetGroups[0].tags.te*m=x", "invalid propertyName 'te*m'"},
	{"allowedTargetGroups[0].namespaces={shop},allowedTargetGroups[0].targetGroups={web}", "at '/allowedTargetGroups/0/targetGroups/0': 'web' does not match pattern"},
	{"replicas=two", "at '/replicas': got string, want integer"},
	{"image.digest=latest", "at '/image/digest': 'latest' does not match pattern"},
	{"image.pullPolicy=Sometimes", "at '/image/pullPolicy': value must be one of"},
	{"serviceAccount.name=", "at '/serviceAccount/name': '' does not match pattern"},
	{"serviceAccount.annotations=role", "at '/serviceAccount/annotations': got string, want object"},
	{"releaseOnUninstall.timeout=4", "at '/releaseOnUninstall/timeout': got number, want string"},
	{"releaseOnUninstall.floor=-1", "at '/releaseOnUninstall/floor': minimum: got -1, want 0"},
	{"metrics.prometheusRule.runbookURL=https://docs.example.com/runbooks", "at '/metrics/prometheusRule/runbookURL': 'https://docs.example.com/runbooks' does not match pattern"},
	{"metrics.prometheusRule.runbookURL=https://docs.example.com/%s/%d", "at '/metrics/prometheusRule/runbookURL': 'https://docs.example.com/%s/%d' does not match pattern"},
	{"metrics.port=70000", "at '/metrics/port': maximum: got 70,000, want 65,535"},
	{"tracing.endpoint=otel-collector:4318", "at '/tracing/endpoint': 'otel-collector:4318' does not match pattern"},
	{"tracing.endpoint=http://me:secret@otel-collector", "at '/tracing/endpoint': 'http://me:secret@otel-collector' does not match pattern"},
	{"tracing.ratio=2", "at '/tracing/ratio': maximum: got 2, want 1"},
	{"podDisruptionBudget.unhealthyPodEvictionPolicy=Never", "at '/podDisruptionBudget/unhealthyPodEvictionPolicy': value must be one of"},
	{"resources.limits.memory.max=1", "at '/resources/limits/memory': got object, want number or string"},
	{"extraArgs={log-level=debug}", "at '/extraArgs/0': 'log-level=debug' does not match pattern '^--'"},
	{"extraEnv[0].value=x", "at '/extraEnv/0': missing property 'name'"},
}

func TestRefusedValues(t *testing.T) {
	for _, c := range refused {
		t.Run(c.set, func(t *testing.T) {
			g := NewWithT(t)
			v := least()
			g.Expect(strvals.ParseInto(c.set, v)).To(Succeed())
			_, err := render(t, v)
			g.Expect(err).To(MatchError(ContainSubstring(c.message)))
			g.Expect(complaints(err)).To(HaveLen(1), "one fault, one complaint:\n%v", err)
		})
	}
}

// complaints are the lines that name a value, of the schema or of the chart.
func complaints(err error) []string {
	return regexp.MustCompile(`(?m)^(- at '.*|[a-zA-Z0-9.]+: .*[^:])$`).FindAllString(err.Error(), -1)
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	g := NewWithT(t)
	_, err := render(t, values{"probes": values{"port": 8080}})
	g.Expect(complaints(err)).To(HaveLen(3), "%v", err)
}

// The chart and the controller know one rule and one message about it.
func TestClusterIDsAreThoseOfTheController(t *testing.T) {
	for _, id := range []string{"", "a", "A.b_c-9", "-a", "a-", "a/b", "a b", strings.Repeat("a", 100), strings.Repeat("a", 101), "é"} {
		g := NewWithT(t)
		v := least()
		v["clusterID"] = id
		_, err := render(t, v)
		if want := ownership.ValidateClusterID(id); want != nil {
			g.Expect(err).To(MatchError(ContainSubstring(want.Error())), id)
		} else {
			g.Expect(err).NotTo(HaveOccurred(), id)
		}
	}
}

// A value that nobody explains is a row of the table that ends empty.
func TestEachValueIsExplained(t *testing.T) {
	g := NewWithT(t)
	readme, err := os.ReadFile(chartDir + "/README.md")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(regexp.MustCompile(`(?m)^\| \w.* \|$`).FindAllString(string(readme), -1)).NotTo(BeEmpty())
	g.Expect(regexp.MustCompile(`(?m)^\| .* \|  \|$`).FindAllString(string(readme), -1)).To(BeEmpty())
}
