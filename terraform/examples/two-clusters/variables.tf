variable "region" {
  description = "Region of the table, the load balancer and both clusters."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2,}(-[a-z]+)+-[0-9]+$", var.region))
    error_message = "The region has to be one such as eu-west-1."
  }
}

variable "table_name" {
  description = "Name of the ownership table."
  type        = string
  default     = "target-ownership"
}

variable "vpc_id" {
  description = "VPC of the target group. Pods of both clusters have to have their addresses in it."
  type        = string

  validation {
    condition     = can(regex("^vpc-[0-9a-f]+$", var.vpc_id))
    error_message = "A VPC ID looks like vpc-0123456789abcdef0."
  }
}

variable "subnet_ids" {
  description = "Subnets of the load balancer, one in each availability zone."
  type        = list(string)

  validation {
    condition     = length(var.subnet_ids) > 0 && alltrue([for id in var.subnet_ids : can(regex("^subnet-[0-9a-f]+$", id))])
    error_message = "Give at least one subnet ID, such as subnet-0123456789abcdef0."
  }
}

variable "east_oidc_provider_arn" {
  description = "ARN of the IAM OIDC provider of cluster east, which uses IAM roles for service accounts."
  type        = string
}

variable "west_cluster_name" {
  description = "Name of EKS cluster west, which uses EKS Pod Identity and has its agent installed."
  type        = string
}

variable "tags" {
  description = "Tags of everything."
  type        = map(string)
  default     = {}
}
