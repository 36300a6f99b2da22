package demo

import "path/filepath"

// keep says how to look around in what runs: all of it, or what a failure has
// left.
func (s *stage) keep() {
	s.screen.say("Everything that runs stays up. Look around; Ctrl-C ends it.")
	kubectl := s.bin(filepath.Join("k8s", "kubectl"))
	for _, site := range s.sites() {
		if site.cluster == nil {
			continue
		}
		s.screen.print("", indent+"cluster "+site.name,
			indent+indent+"alias "+site.name+"='"+kubectl+" --kubeconfig "+site.cluster.Kubeconfig+"'",
			indent+indent+site.name+" -n "+namespace+" get targetgroupbindings,pods -o wide",
			indent+indent+site.name+" -n "+namespace+" scale deployment "+app+" --replicas=6")
		if site.controller != nil {
			s.screen.print(indent + indent + "tail -f " + site.controller.Log)
		}
	}
	if s.table != nil && s.elb != nil {
		s.printEnvironment(s.endpoint, s.elb.URL())
	}
	if s.table != nil {
		s.screen.print("", indent+"ownership table: the records, and an entry for each cluster")
		s.printAWS("dynamodb scan --table-name " + s.tableName + " --endpoint-url " + s.endpoint)
	}
	if s.group.ARN != "" {
		s.screen.print("", indent+"target group: targets, settings and counted calls",
			indent+indent+"curl -s "+s.elb.URL())
		s.printAWS("elbv2 describe-target-health --endpoint-url " + s.elb.URL() + " --target-group-arn " + s.group.ARN)
	}
}

// printEnvironment prints what targetctl and the AWS CLI need to work on what
// runs here.
func (s *stage) printEnvironment(table, loadBalancer string) {
	s.screen.print("", indent+"who owns what, in a shell in the root of the checkout (docs/getting-started.md)",
		indent+indent+"export AWS_ACCESS_KEY_ID=demo AWS_SECRET_ACCESS_KEY=demo AWS_REGION="+region+" AWS_DEFAULT_REGION="+region,
		indent+indent+"export AWS_ENDPOINT_URL_DYNAMODB="+table,
		indent+indent+"export AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2="+loadBalancer,
		indent+indent+"bin/targetctl owners "+app)
}

// printAWS prints a command of the AWS CLI with all that it needs. The
// engines take any credentials.
func (s *stage) printAWS(command string) {
	s.screen.print(
		indent+indent+"AWS_ACCESS_KEY_ID=demo AWS_SECRET_ACCESS_KEY=demo AWS_DEFAULT_REGION="+region+" \\",
		indent+indent+indent+"aws "+command)
}
