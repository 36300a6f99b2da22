variable "name" {
  description = "Name of the table, the same as the controllers' --table."
  type        = string
  default     = "target-ownership"
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z0-9_.-]{3,255}$", var.name))
    error_message = "A DynamoDB table name has 3 to 255 letters, digits, '-', '_' or '.'."
  }
}

variable "provisioned" {
  description = "Capacity units, for provisioned billing with autoscaling of the table; null for on-demand billing. The index has fixed capacity: it is written only when a record comes or goes."
  type = object({
    read               = optional(object({ min = optional(number, 5), max = optional(number, 100) }), {})
    write              = optional(object({ min = optional(number, 5), max = optional(number, 100) }), {})
    index_read         = optional(number, 5)
    index_write        = optional(number, 5)
    target_utilization = optional(number, 70)
  })
  default = null

  validation {
    condition = var.provisioned == null ? true : alltrue([
      for capacity in [var.provisioned.read, var.provisioned.write] :
      capacity.min >= 1 && capacity.max >= capacity.min && floor(capacity.min) == capacity.min && floor(capacity.max) == capacity.max
    ])
    error_message = "The capacity of reads and writes has to be whole units, min at least 1 and max at least min."
  }

  validation {
    condition = var.provisioned == null ? true : alltrue([
      for capacity in [var.provisioned.index_read, var.provisioned.index_write] :
      capacity >= 1 && floor(capacity) == capacity
    ])
    error_message = "The capacity of the index has to be whole units, at least 1: without it every new record is throttled."
  }

  validation {
    condition     = var.provisioned == null ? true : var.provisioned.target_utilization >= 20 && var.provisioned.target_utilization <= 90
    error_message = "The target utilization has to be between 20 and 90 percent, which is what DynamoDB autoscaling takes."
  }
}

variable "kms_key_arn" {
  description = "ARN of a symmetric KMS key of yours to encrypt the table with; null for a key that AWS owns. Whoever uses the table then needs kms:Decrypt, which the controller-role module grants."
  type        = string
  default     = null

  validation {
    condition     = var.kms_key_arn == null ? true : can(regex("^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$", var.kms_key_arn))
    error_message = "The KMS key has to be given by its ARN, arn:aws:kms:REGION:ACCOUNT:key/ID; an alias or a bare ID does not do."
  }
}

variable "deletion_protection" {
  description = "Whether DynamoDB refuses to delete the table. Without the table no controller takes a target out any more."
  type        = bool
  default     = true
  nullable    = false
}

# tflint-ignore: terraform_unused_declarations
variable "replicas" {
  description = "Regions to replicate the table to. It has to stay empty, and exists to say why."
  type        = list(string)
  default     = []
  nullable    = false

  validation {
    condition     = length(var.replicas) == 0
    error_message = "The ownership table cannot have replicas. In a global table two regions may both accept a conditional write to one record, and the last writer wins: the lock that keeps one cluster from deregistering the targets of another is gone. Controllers refuse such a table. Use one table in the region of the target groups, which are regional too."
  }
}

variable "tags" {
  description = "Tags of the table and of its scaling targets."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for key in keys(var.tags) : !startswith(lower(key), "aws:")])
    error_message = "Tag keys that begin with aws: are reserved."
  }
}
