output "role_arn" {
  description = "ARN of the role."
  value       = aws_iam_role.this.arn
}

output "role_name" {
  description = "Name of the role, to attach further policies to."
  value       = aws_iam_role.this.name
}

output "helm_values" {
  description = "Helm values of the cluster: its ID, the table and the region, and the service account that the role is for, which needs no annotation with Pod Identity."
  value = {
    clusterID = var.cluster_id
    table     = local.table_name
    region    = local.region
    serviceAccount = {
      name        = var.service_account
      annotations = var.oidc_provider_arn == null ? {} : { "eks.amazonaws.com/role-arn" = aws_iam_role.this.arn }
    }
  }
}

output "namespace" {
  description = "Namespace to install the chart into."
  value       = var.namespace
}
