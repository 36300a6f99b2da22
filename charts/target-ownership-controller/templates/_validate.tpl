{{/* Values that the schema cannot judge, each with what to do about it; all
     that is wrong is said at once. */}}
{{- define "toc.validate" -}}
{{- $wrong := list -}}
{{- with .Values -}}
{{- if not .clusterID -}}
{{- $wrong = append $wrong "clusterID: the cluster ID is empty; give each cluster that shares the table a name of its own" -}}
{{- else if not (regexMatch "^[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$" .clusterID) -}}
{{- $wrong = append $wrong (printf "clusterID: the cluster ID %q has to be 1 to 100 letters, digits, '-', '_' or '.', with a letter or digit at both ends; give each cluster that shares the table a name of its own" .clusterID) -}}
{{- end -}}
{{- if not .image.repository -}}
{{- $wrong = append $wrong "image.repository: name the repository that you pushed the image to" -}}
{{- end -}}
{{- if and (gt (int .replicas) 1) (not .leaderElection.enabled) -}}
{{- $wrong = append $wrong (printf "leaderElection.enabled: %d replicas need it; enable it or set replicas to 1" (int .replicas)) -}}
{{- end -}}
{{- if eq (int .metrics.port) (int .probes.port) -}}
{{- $wrong = append $wrong (printf "probes.port: %d is metrics.port too; choose another" (int .probes.port)) -}}
{{- end -}}
{{- if and .webhooks.enabled (has (int .webhooks.port) (list (int .metrics.port) (int .probes.port))) -}}
{{- $wrong = append $wrong (printf "webhooks.port: %d is metrics.port or probes.port too; choose another" (int .webhooks.port)) -}}
{{- end -}}
{{- if and .metrics.podMonitor.enabled .metrics.serviceMonitor.enabled -}}
{{- $wrong = append $wrong "metrics.serviceMonitor.enabled: metrics.podMonitor is enabled too, and everything would be scraped twice; choose one" -}}
{{- end -}}
{{- if and (not .metrics.enabled) (or .metrics.podMonitor.enabled .metrics.serviceMonitor.enabled .metrics.service.enabled) -}}
{{- $wrong = append $wrong "metrics.enabled: there are no metrics to scrape; enable them, or disable metrics.podMonitor, metrics.serviceMonitor and metrics.service" -}}
{{- end -}}
{{- if and .metrics.webView (not .metrics.enabled) -}}
{{- $wrong = append $wrong "metrics.webView: the page is served beside the metrics; set metrics.enabled" -}}
{{- end -}}
{{- if and (ne (toString .podDisruptionBudget.minAvailable) "") (ne (toString .podDisruptionBudget.maxUnavailable) "") -}}
{{- $wrong = append $wrong "podDisruptionBudget.minAvailable: set maxUnavailable to \"\" beside it; Kubernetes takes one of them" -}}
{{- end -}}
{{- if and .crds.install (not .crds.keep) (not .releaseOnUninstall.enabled) (not .crds.deleteBindings) -}}
{{- $wrong = append $wrong "crds.keep: without it `helm uninstall` deletes every TargetGroupBinding of the cluster, and their targets leave the groups; keep the CRD, or set releaseOnUninstall.enabled, which looks first whether others serve, or crds.deleteBindings if that is what you want" -}}
{{- end -}}
{{- if .networkPolicy.enabled -}}
{{- range $name, $url := dict "tracing" .tracing.endpoint "dynamodb" .dynamodbEndpoint "elbv2" .elbv2Endpoint -}}
{{- $way := index $.Values.networkPolicy $name -}}
{{- if and $way.port (not $way.to) -}}
{{- $wrong = append $wrong (printf "networkPolicy.%s.to: say whom port %d leads to, or it would be open to everywhere" $name (int $way.port)) -}}
{{- else if and $url (not $way.port) (not (has (include "toc.portOf" $url) (toStrings $.Values.networkPolicy.egressPorts))) -}}
{{- $wrong = append $wrong (printf "networkPolicy.%s.port: the policy would let nothing out to %s; give the port that its pods or addresses listen on, and who they are in networkPolicy.%s.to" $name $url $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Release.IsUpgrade (not .Values.crds.install) -}}
{{- range $path, $_ := .Files.Glob "files/crds/*.yaml" -}}
{{- $name := ($.Files.Get $path | fromYaml).metadata.name -}}
{{- $of := dig "metadata" "annotations" dict (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $name) -}}
{{- if and (eq (get $of "meta.helm.sh/release-name") $.Release.Name) (eq (get $of "meta.helm.sh/release-namespace") $.Release.Namespace) (ne (get $of "helm.sh/resource-policy") "keep") -}}
{{- $wrong = append $wrong (printf "crds.install: this upgrade would delete the CRD %s, which is part of the release, and every binding of the cluster with it; upgrade with crds.install=true and crds.keep=true first, and then without the CRDs" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $wrong -}}
{{- fail (printf "these values cannot be used:\n%s" (join "\n" $wrong)) -}}
{{- end -}}
{{- end -}}
