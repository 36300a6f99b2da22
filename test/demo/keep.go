package demo

import (
	"path/filepath"
)

// keep says how to look around in what runs.
func (s *stage) keep() {
	s.screen.heading(keepBefore, "Everything stays up: look around, Ctrl-C ends it")
	kubectl := s.bin(filepath.Join("k8s", "kubectl"))
	for _, site := range s.sites() {
		s.screen.print("", indent+"cluster "+site.name,
			indent+indent+"alias "+site.name+"='"+kubectl+" --kubeconfig "+site.cluster.Kubeconfig+"'",
			indent+indent+site.name+" -n "+namespace+" get targetgroupbindings,pods -o wide",
			indent+indent+site.name+" -n "+namespace+" scale deployment "+app+" --replicas=6",
			indent+indent+"tail -f "+site.controller.Log)
	}
	s.screen.print("", indent+"target group: targets, settings and counted calls",
		indent+indent+"curl -s "+s.elb.URL(),
		"", indent+"ownership table",
		indent+indent+"export AWS_ACCESS_KEY_ID=demo AWS_SECRET_ACCESS_KEY=demo AWS_REGION="+region,
		indent+indent+"aws dynamodb scan --table-name "+s.tableName+" --endpoint-url "+s.endpoint,
		indent+indent+"aws elbv2 describe-target-health --endpoint-url "+s.elb.URL()+" \\",
		indent+indent+"  --target-group-arn "+s.group.ARN)
}
