terraform {
  required_version = ">= 1.8" # Terraform from 1.9, OpenTofu from 1.8

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.0, < 7.0"
    }
  }
}
