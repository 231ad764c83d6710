{{/* The name of every object; short enough for what Kubernetes appends. */}}
{{- define "mooring.name" -}}
{{- default (default .Chart.Name .Values.nameOverride) .Values.fullnameOverride | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "mooring.serviceAccount" -}}
{{- default (include "mooring.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{/* What never changes for a release: a Deployment's selector cannot. */}}
{{- define "mooring.selector" -}}
app.kubernetes.io/name: mooring
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "mooring.labels" -}}
{{ include "mooring.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The metadata of an object of the release: (list $ NAME NAMESPACE), where an empty namespace is none. */}}
{{- define "mooring.metadata" -}}
{{- $root := index . 0 -}}
metadata:
  name: {{ index . 1 }}
  {{- with index . 2 }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "mooring.labels" $root | nindent 4 }}
  {{- with $root.Values.additionalAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "mooring.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}
