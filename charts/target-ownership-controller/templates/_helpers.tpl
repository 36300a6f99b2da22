{{/* The name of all objects but the service account. */}}
{{- define "toc.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains "target-ownership-controller" .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-target-ownership-controller" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What finds the controller's pods, and never changes. */}}
{{- define "toc.selectorLabels" -}}
app.kubernetes.io/name: target-ownership-controller
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller
{{- end -}}

{{/* Labels of every object. */}}
{{- define "toc.commonLabels" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: target-ownership-controller
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "toc.labels" -}}
{{ include "toc.selectorLabels" . }}
{{ include "toc.commonLabels" . }}
{{- end -}}

{{/* A digest says more than a tag. */}}
{{- define "toc.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The port of a URL. */}}
{{- define "toc.portOf" -}}
{{- $url := urlParse . -}}
{{- regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (eq $url.scheme "https" | ternary 443 80) -}}
{{- end -}}

{{/* Flags that the controller and targetctl share. */}}
{{- define "toc.siteArgs" -}}
- --table={{ .Values.table }}
{{- with .Values.region }}
- --region={{ . }}
{{- end }}
{{- with .Values.dynamodbEndpoint }}
- --dynamodb-endpoint={{ . }}
{{- end }}
{{- with .Values.elbv2Endpoint }}
- --elbv2-endpoint={{ . }}
{{- end }}
{{- end -}}

{{/* Roles and bindings are alike but for their kind and place: give kind, name,
     namespace, rules, serviceAccount, serviceAccountNamespace and labels. */}}
{{- define "toc.role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- .labels | nindent 4 }}
rules:
  {{- toYaml .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- .labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .serviceAccount }}
    namespace: {{ .serviceAccountNamespace }}
{{- end -}}
