# The IAM role of the controller of one cluster. A test compares its actions
# with the calls that the controller's code makes.

locals {
  # arn:PARTITION:dynamodb:REGION:ACCOUNT:table/NAME
  table     = split(":", var.table_arn)
  partition = local.table[1]
  region    = local.table[3]
  account   = local.table[4]

  table_name = split("/", var.table_arn)[1]
  index_arn  = "${var.table_arn}/index/by-cluster"

  role_name = coalesce(var.name, "target-ownership-${var.cluster_id}")

  # Every group of the account in the region, of which the tags select some.
  any_group = "arn:${local.partition}:elasticloadbalancing:${local.region}:${local.account}:targetgroup/*/*"
  groups    = length(var.target_group_arns) > 0 ? var.target_group_arns : [local.any_group]

  # What the role may do under which hash keys: those of records, of the cluster
  # registry, and of the history.
  of_keys = {
    ReadAndWriteRecords = {
      actions = ["dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query"]
      keys    = var.target_group_arns
    }
    ReadAndWriteRegistry = {
      actions = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"]
      keys    = ["cluster"]
    }
    WriteAndReadHistory = {
      actions = ["dynamodb:PutItem", "dynamodb:Query"]
      keys    = [for arn in var.target_group_arns : "history#${arn}"]
    }
  }

  here = "${local.partition}:${local.region}:${local.account}"
  elsewhere = [
    for arn in var.target_group_arns : arn
    if "${split(":", arn)[1]}:${split(":", arn)[3]}:${split(":", arn)[4]}" != local.here
  ]
}

resource "aws_iam_role" "this" {
  name                 = local.role_name
  description          = "target-ownership-controller of cluster ${var.cluster_id}"
  assume_role_policy   = data.aws_iam_policy_document.trust.json
  permissions_boundary = var.permissions_boundary_arn
  tags                 = var.tags

  lifecycle {
    precondition {
      condition     = length(local.role_name) <= 64
      error_message = "The role name \"${local.role_name}\" is longer than the 64 characters that IAM allows: set name."
    }
    precondition {
      condition     = (length(var.target_group_arns) > 0) != (length(var.target_group_tags) > 0)
      error_message = "Give either target_group_arns or target_group_tags, not both and not none: they say which groups this cluster may register targets with."
    }
    precondition {
      condition     = length(local.elsewhere) == 0
      error_message = "A controller works with its table and target groups in one region of one account. Elsewhere than ${var.table_arn} are: ${join(", ", local.elsewhere)}."
    }
    precondition {
      condition     = !var.restrict_leading_keys || length(var.target_group_arns) > 0
      error_message = "restrict_leading_keys needs target_group_arns: the hash keys of the table are their ARNs."
    }
    precondition {
      condition     = (var.oidc_provider_arn != null) != (var.pod_identity_cluster_name != null)
      error_message = "Give either oidc_provider_arn (IRSA) or pod_identity_cluster_name (EKS Pod Identity), not both and not none."
    }
  }
}

resource "aws_iam_role_policy" "this" {
  name   = "target-ownership"
  role   = aws_iam_role.this.id
  policy = data.aws_iam_policy_document.permissions.json
}

resource "aws_eks_pod_identity_association" "this" {
  count = var.pod_identity_cluster_name == null ? 0 : 1

  cluster_name    = var.pod_identity_cluster_name
  namespace       = var.namespace
  service_account = var.service_account
  role_arn        = aws_iam_role.this.arn
  tags            = var.tags
}
