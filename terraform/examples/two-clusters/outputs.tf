output "table_name" {
  description = "Name of the ownership table, for --table of both controllers."
  value       = module.table.table_name
}

output "target_group_arn" {
  description = "ARN of the shared target group, for the bindings of both clusters."
  value       = aws_lb_target_group.web.arn
}

output "load_balancer" {
  description = "DNS name of the load balancer."
  value       = aws_lb.web.dns_name
}

output "helm_values" {
  description = "Helm values of the service account, by cluster ID."
  value = {
    east = module.role_east.helm_values
    west = module.role_west.helm_values
  }
}
