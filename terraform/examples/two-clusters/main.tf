# Two EKS clusters behind one Network Load Balancer: one table, one target
# group, and a role for the controller of each cluster.

provider "aws" {
  region = var.region
}

module "table" {
  source = "../../ownership-table"

  name = var.table_name
  tags = var.tags
}

# IAM roles for service accounts.
module "role_east" {
  source = "../../controller-role"

  cluster_id            = "east"
  table_arn             = module.table.table_arn
  kms_key_arn           = module.table.kms_key_arn
  target_group_arns     = [aws_lb_target_group.web.arn]
  restrict_leading_keys = true
  oidc_provider_arn     = var.east_oidc_provider_arn
  tags                  = var.tags
}

# EKS Pod Identity.
module "role_west" {
  source = "../../controller-role"

  cluster_id                = "west"
  table_arn                 = module.table.table_arn
  kms_key_arn               = module.table.kms_key_arn
  target_group_arns         = [aws_lb_target_group.web.arn]
  restrict_leading_keys     = true
  pod_identity_cluster_name = var.west_cluster_name
  tags                      = var.tags
}

resource "aws_lb" "web" {
  name               = "web"
  load_balancer_type = "network"
  internal           = true
  subnets            = var.subnet_ids
  tags               = var.tags
}

# The controllers register the targets. Terraform must not: no
# aws_lb_target_group_attachment here.
resource "aws_lb_target_group" "web" {
  name        = "web"
  target_type = "ip"
  protocol    = "TCP"
  port        = 8080
  vpc_id      = var.vpc_id
  tags        = var.tags

  health_check {
    protocol = "TCP"
  }
}

resource "aws_lb_listener" "web" {
  load_balancer_arn = aws_lb.web.arn
  protocol          = "TCP"
  port              = 80
  tags              = var.tags

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.web.arn
  }
}
