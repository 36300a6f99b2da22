# The table that all clusters share, as docs/protocol and the controller's own
# definition (ownership/dynamo/definition.go) have it. A test compares them.

resource "aws_dynamodb_table" "this" {
  name                        = var.name
  billing_mode                = var.provisioned == null ? "PAY_PER_REQUEST" : "PROVISIONED"
  read_capacity               = var.provisioned == null ? null : var.provisioned.read.min
  write_capacity              = var.provisioned == null ? null : var.provisioned.write.min
  deletion_protection_enabled = var.deletion_protection
  tags                        = var.tags

  hash_key  = "targetGroup"
  range_key = "owner"

  attribute {
    name = "targetGroup"
    type = "S"
  }

  attribute {
    name = "owner"
    type = "S"
  }

  attribute {
    name = "clusterID"
    type = "S"
  }

  # Keys only: a write that changes nothing but targets leaves the index
  # alone. So it needs little capacity, and that is not scaled: the provider
  # could not ignore what autoscaling sets here without ignoring the index.
  # Late releases of provider 6 call hash_key and range_key of an index
  # deprecated; the earlier ones do not have the key_schema that they want.
  global_secondary_index {
    name            = "by-cluster"
    hash_key        = "clusterID"
    range_key       = "targetGroup"
    projection_type = "KEYS_ONLY"
    read_capacity   = var.provisioned == null ? null : var.provisioned.index_read
    write_capacity  = var.provisioned == null ? null : var.provisioned.index_write
  }

  # Only the history expires. Records and clusters have no such attribute.
  ttl {
    attribute_name = "expiresAt"
    enabled        = true
  }

  point_in_time_recovery {
    enabled = true
  }

  # A table is always encrypted. Without a key of the customer's own it is with
  # one that AWS owns, which costs nothing and needs no permission.
  server_side_encryption {
    enabled     = var.kms_key_arn != null
    kms_key_arn = var.kms_key_arn
  }

  lifecycle {
    ignore_changes = [read_capacity, write_capacity] # autoscaling sets them
  }
}

locals {
  scaled = var.provisioned == null ? {} : {
    Read  = var.provisioned.read
    Write = var.provisioned.write
  }
}

resource "aws_appautoscaling_target" "table" {
  for_each = local.scaled

  service_namespace  = "dynamodb"
  resource_id        = "table/${aws_dynamodb_table.this.name}"
  scalable_dimension = "dynamodb:table:${each.key}CapacityUnits"
  min_capacity       = each.value.min
  max_capacity       = each.value.max
  tags               = var.tags
}

resource "aws_appautoscaling_policy" "table" {
  for_each = aws_appautoscaling_target.table

  name               = "${var.name}-${lower(each.key)}"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = each.value.service_namespace
  resource_id        = each.value.resource_id
  scalable_dimension = each.value.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value = var.provisioned.target_utilization

    predefined_metric_specification {
      predefined_metric_type = "DynamoDB${each.key}CapacityUtilization"
    }
  }
}
