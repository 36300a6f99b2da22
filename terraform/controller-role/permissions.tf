# What the controller may do. Its one other call, sts:GetCallerIdentity, needs
# no permission
# (https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html).

data "aws_iam_policy_document" "permissions" {
  statement {
    sid       = "CheckTable"
    actions   = ["dynamodb:DescribeTable"]
    resources = [var.table_arn]
  }

  # Without restricted keys the same for all of them. PutItem replaces what is
  # there: no role is kept from changing what it may write
  # (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html).
  dynamic "statement" {
    for_each = var.restrict_leading_keys ? [] : ["ReadAndWriteRecords"]

    content {
      sid = statement.value
      actions = [
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
      ]
      resources = [var.table_arn]
    }
  }

  # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
  dynamic "statement" {
    for_each = { for sid, of in local.of_keys : sid => of if var.restrict_leading_keys }

    content {
      sid       = statement.key
      actions   = statement.value.actions
      resources = [var.table_arn]

      condition {
        test     = "ForAllValues:StringEquals"
        variable = "dynamodb:LeadingKeys"
        values   = statement.value.keys
      }
    }
  }

  # Keys only: which groups a cluster has records in, no targets.
  statement {
    sid       = "FindRecordsOfCluster"
    actions   = ["dynamodb:Query"]
    resources = [local.index_arn]
  }

  # None of these takes a resource. DescribeTags is called only for rules of
  # group tags (--allowed-groups)
  # (https://docs.aws.amazon.com/service-authorization/latest/reference/list_awselasticloadbalancingv2.html).
  statement {
    sid = "ReadTargetGroups"
    actions = [
      "elasticloadbalancing:DescribeTags",
      "elasticloadbalancing:DescribeTargetGroups",
      "elasticloadbalancing:DescribeTargetHealth",
    ]
    resources = ["*"]
  }

  statement {
    sid = "ChangeTargets"
    actions = [
      "elasticloadbalancing:DeregisterTargets",
      "elasticloadbalancing:RegisterTargets",
    ]
    resources = local.groups

    dynamic "condition" {
      for_each = var.target_group_tags

      content {
        test     = "StringEquals"
        variable = "aws:ResourceTag/${condition.key}"
        values   = [condition.value]
      }
    }
  }

  # For target groups of other accounts
  # (https://docs.aws.amazon.com/IAM/latest/UserGuide/tutorial_cross-account-with-roles.html).
  dynamic "statement" {
    for_each = length(var.assumed_role_arns) == 0 ? [] : ["AssumeRoles"]

    content {
      sid       = statement.value
      actions   = ["sts:AssumeRole"]
      resources = var.assumed_role_arns
    }
  }

  # DynamoDB decrypts the key of the table on behalf of who reads or writes it,
  # and needs nothing else of the reader
  # (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html).
  dynamic "statement" {
    for_each = var.kms_key_arn == null ? [] : [var.kms_key_arn]

    content {
      sid       = "DecryptTableKey"
      actions   = ["kms:Decrypt"]
      resources = [statement.value]

      condition {
        test     = "StringEquals"
        variable = "kms:ViaService"
        values   = ["dynamodb.${local.region}.amazonaws.com"]
      }

      condition {
        test     = "StringEquals"
        variable = "kms:EncryptionContext:aws:dynamodb:tableName"
        values   = [local.table_name]
      }
    }
  }
}
