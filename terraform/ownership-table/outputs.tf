output "table_name" {
  description = "Name of the table, for the controllers' --table."
  value       = aws_dynamodb_table.this.name
}

output "table_arn" {
  description = "ARN of the table, for the table_arn of the controller-role module."
  value       = aws_dynamodb_table.this.arn
}

output "kms_key_arn" {
  description = "ARN of the key that encrypts the table, for the kms_key_arn of the controller-role module; null if AWS owns it."
  value       = var.kms_key_arn
}
