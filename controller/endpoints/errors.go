package endpoints

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// ServiceNotFoundError says that the API server, or the cache, has no such
// Service. A cache may be behind: confirm it by a live read before acting on it.
type ServiceNotFoundError struct {
	Service types.NamespacedName
}

func (e *ServiceNotFoundError) Error() string {
	return fmt.Sprintf("service %s does not exist; create it, or correct serviceRef.name", e.Service)
}

// PortNotFoundError says that the Service has no such port.
type PortNotFoundError struct {
	Service types.NamespacedName
	Port    string   // as asked for
	Ports   []string // those there are, such as "http (80)"
}

func (e *PortNotFoundError) Error() string {
	there := "it has no ports"
	if len(e.Ports) > 0 {
		there = "it has " + strings.Join(e.Ports, ", ")
	}
	return fmt.Sprintf("service %s has no port %q: %s; correct serviceRef.port", e.Service, e.Port, there)
}

// WrongServiceTypeError says that a Service of this type, or set up this way,
// has nothing to register for the target type.
type WrongServiceTypeError struct {
	Service    types.NamespacedName
	TargetType string
	Problem    string
}

func (e *WrongServiceTypeError) Error() string {
	return fmt.Sprintf("service %s cannot be used with target type %s: %s", e.Service, e.TargetType, e.Problem)
}

// InvalidNodeSelectorError says that the node selector of a binding is not a
// label selector.
type InvalidNodeSelectorError struct {
	Err error
}

func (e *InvalidNodeSelectorError) Error() string {
	return fmt.Sprintf("nodeSelector is not valid: %v", e.Err)
}

func (e *InvalidNodeSelectorError) Unwrap() error { return e.Err }

// UnknownError says that it could not be found out what is wanted. It says
// nothing about endpoints being there or not.
type UnknownError struct {
	Service types.NamespacedName
	Err     error
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("the endpoints of service %s are unknown: %v", e.Service, e.Err)
}

func (e *UnknownError) Unwrap() error { return e.Err }
