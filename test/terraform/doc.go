// Package terraform has no code but tests: they read the Terraform modules and
// compare them with what the controller's code defines and calls.
//
// No provider plugin is needed. The tests evaluate the modules' expressions
// with the same library that Terraform and OpenTofu do, and what the AWS
// provider makes of them is not tested.
package terraform
