# Who may take the role: the controller's service account of one cluster.

locals {
  # arn:aws:iam::ACCOUNT:oidc-provider/ISSUER
  oidc_issuer = var.oidc_provider_arn == null ? "" : split(":oidc-provider/", var.oidc_provider_arn)[1]

  # The session tags that EKS Pod Identity sets
  # (https://docs.aws.amazon.com/eks/latest/userguide/pod-id-abac.html).
  pod_identity_tags = {
    eks-cluster-name           = var.pod_identity_cluster_name
    kubernetes-namespace       = var.namespace
    kubernetes-service-account = var.service_account
  }
}

data "aws_iam_policy_document" "trust" {
  # https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html
  dynamic "statement" {
    for_each = var.oidc_provider_arn == null ? [] : [var.oidc_provider_arn]

    content {
      sid     = "ServiceAccount"
      actions = ["sts:AssumeRoleWithWebIdentity"]

      principals {
        type        = "Federated"
        identifiers = [statement.value]
      }

      condition {
        test     = "StringEquals"
        variable = "${local.oidc_issuer}:sub"
        values   = ["system:serviceaccount:${var.namespace}:${var.service_account}"]
      }

      condition {
        test     = "StringEquals"
        variable = "${local.oidc_issuer}:aud"
        values   = ["sts.amazonaws.com"]
      }
    }
  }

  # https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
  dynamic "statement" {
    for_each = var.pod_identity_cluster_name == null ? [] : [local.pod_identity_tags]

    content {
      sid     = "PodIdentity"
      actions = ["sts:AssumeRole", "sts:TagSession"]

      principals {
        type        = "Service"
        identifiers = ["pods.eks.amazonaws.com"]
      }

      dynamic "condition" {
        for_each = statement.value

        content {
          test     = "StringEquals"
          variable = "aws:RequestTag/${condition.key}"
          values   = [condition.value]
        }
      }
    }
  }
}
