variable "cluster_id" {
  description = "The controller's --cluster-id: unique among the clusters that share the table."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$", var.cluster_id))
    error_message = "A cluster ID has 1 to 100 letters, digits, '-', '_' or '.', with a letter or digit at both ends."
  }
}

variable "name" {
  description = "Name of the role; null for target-ownership- and the cluster ID."
  type        = string
  default     = null

  validation {
    condition     = var.name == null ? true : can(regex("^[A-Za-z0-9_+=,.@-]{1,64}$", var.name))
    error_message = "A role name has 1 to 64 letters, digits or characters of _+=,.@-."
  }
}

variable "table_arn" {
  description = "ARN of the ownership table. Its region and account are those of the target groups."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/[A-Za-z0-9_.-]{3,255}$", var.table_arn))
    error_message = "The table has to be given by its ARN, arn:aws:dynamodb:REGION:ACCOUNT:table/NAME, without an index."
  }
}

variable "kms_key_arn" {
  description = "ARN of the KMS key of yours that encrypts the table; null if there is none."
  type        = string
  default     = null

  validation {
    condition     = var.kms_key_arn == null ? true : can(regex("^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$", var.kms_key_arn))
    error_message = "The KMS key has to be given by its ARN, arn:aws:kms:REGION:ACCOUNT:key/ID; an alias or a bare ID does not do."
  }
}

variable "target_group_arns" {
  description = "ARNs of the target groups that this cluster may register targets with and deregister them from. Else give target_group_tags."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition = alltrue([
      for arn in var.target_group_arns :
      can(regex("^arn:aws[a-z-]*:elasticloadbalancing:[a-z0-9-]+:[0-9]{12}:targetgroup/[A-Za-z0-9-]{1,32}/[0-9a-f]{1,32}$", arn))
    ])
    error_message = "Target groups have to be given by their ARNs, arn:aws:elasticloadbalancing:REGION:ACCOUNT:targetgroup/NAME/ID."
  }

  validation {
    condition     = length(var.target_group_arns) <= 30
    error_message = "At most 30 target groups fit into the 10,240 characters of a role's inline policies: give target_group_tags instead."
  }
}

variable "target_group_tags" {
  description = "Tags, all of which a target group has to have so that this cluster may register targets with it and deregister them from it. Whoever may tag target groups then decides. Else give target_group_arns."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition = alltrue([
      for key, value in var.target_group_tags :
      can(regex("^[\\p{L}\\p{N} _.:/=+@-]{1,128}$", key)) && can(regex("^[\\p{L}\\p{N} _.:/=+@-]{1,256}$", value))
    ])
    error_message = "Tag keys have 1 to 128 and values 1 to 256 letters, digits, spaces or characters of _.:/=+@-."
  }
}

variable "assumed_role_arns" {
  description = "ARNs of the roles in other accounts that bindings may name in iamRoleArnToAssume, for target groups there. Their trust policies have to name this role."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition = alltrue([
      for arn in var.assumed_role_arns :
      can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]+$", arn))
    ])
    error_message = "Roles have to be given by their ARNs, arn:aws:iam::ACCOUNT:role/NAME, without wildcards."
  }
}

variable "restrict_leading_keys" {
  description = "Whether the role reads and writes only the records of target_group_arns and the cluster registry. A binding to any other group then waits, forbidden, until its ARN is added."
  type        = bool
  default     = false
  nullable    = false
}

variable "oidc_provider_arn" {
  description = "ARN of the cluster's IAM OIDC provider, for IAM roles for service accounts (IRSA). Else give pod_identity_cluster_name."
  type        = string
  default     = null

  validation {
    condition     = var.oidc_provider_arn == null ? true : can(regex("^arn:aws[a-z-]*:iam::[0-9]{12}:oidc-provider/[^/:]+(/[^:]+)?$", var.oidc_provider_arn))
    error_message = "The OIDC provider has to be given by its ARN, arn:aws:iam::ACCOUNT:oidc-provider/ISSUER, not by the URL of the issuer."
  }
}

variable "pod_identity_cluster_name" {
  description = "Name of the EKS cluster, for EKS Pod Identity: the association with the service account is created too. Else give oidc_provider_arn."
  type        = string
  default     = null

  validation {
    condition     = var.pod_identity_cluster_name == null ? true : can(regex("^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$", var.pod_identity_cluster_name))
    error_message = "An EKS cluster name has 1 to 100 letters, digits, '-' or '_', the first a letter or digit."
  }
}

variable "namespace" {
  description = "Namespace of the controller's service account."
  type        = string
  default     = "target-ownership"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", var.namespace))
    error_message = "A namespace has 1 to 63 lowercase letters, digits or '-', with a letter or digit at both ends: a wildcard would let other namespaces take the role."
  }
}

variable "service_account" {
  description = "Name of the controller's service account."
  type        = string
  default     = "target-ownership-controller"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$", var.service_account))
    error_message = "A service account has 1 to 253 lowercase letters, digits, '-' or '.', with a letter or digit at both ends."
  }
}

variable "permissions_boundary_arn" {
  description = "ARN of the permissions boundary of the role; null for none."
  type        = string
  default     = null

  validation {
    condition     = var.permissions_boundary_arn == null ? true : can(regex("^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/.+$", var.permissions_boundary_arn))
    error_message = "The permissions boundary has to be the ARN of a policy, arn:aws:iam::ACCOUNT:policy/NAME."
  }
}

variable "tags" {
  description = "Tags of the role and of its Pod Identity association."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for key in keys(var.tags) : !startswith(lower(key), "aws:")])
    error_message = "Tag keys that begin with aws: are reserved."
  }
}
