package endpoints

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func checkType(service *corev1.Service, targetType string) error {
	problem := ""
	switch {
	case targetType != targetTypeIP && targetType != targetTypeInstance:
		problem = "only ip and instance can be bound"
	case service.Spec.Type == corev1.ServiceTypeExternalName:
		problem = "its type is ExternalName, which has no endpoints"
	case targetType == targetTypeInstance && service.Spec.Type != corev1.ServiceTypeNodePort && service.Spec.Type != corev1.ServiceTypeLoadBalancer:
		problem = fmt.Sprintf("its type is %s; make it NodePort or LoadBalancer, or use a group of target type ip", service.Spec.Type)
	}
	if problem == "" {
		return nil
	}
	return &WrongServiceTypeError{Service: client.ObjectKeyFromObject(service), TargetType: targetType, Problem: problem}
}

// findPort finds the port by name or number. Two ports of one number differ
// in protocol: the one that the group speaks is taken, or the first.
func findPort(service *corev1.Service, wanted intstr.IntOrString, groupProtocol string) (corev1.ServicePort, error) {
	var found []corev1.ServicePort
	for _, p := range service.Spec.Ports {
		if wanted.Type == intstr.String && p.Name == wanted.StrVal || wanted.Type == intstr.Int && p.Port == wanted.IntVal {
			found = append(found, p)
		}
	}
	for _, p := range found {
		if p.Protocol == transport(groupProtocol) {
			return p, nil
		}
	}
	if len(found) > 0 {
		return found[0], nil
	}
	missing := &PortNotFoundError{Service: client.ObjectKeyFromObject(service), Port: wanted.String()}
	for _, p := range service.Spec.Ports {
		missing.Ports = append(missing.Ports, describe(p))
	}
	return corev1.ServicePort{}, missing
}

// transport is what a target group protocol runs on. TCP_UDP and TCP_QUIC run
// on both, at the same port of the target.
func transport(groupProtocol string) corev1.Protocol {
	if groupProtocol == "UDP" || groupProtocol == "QUIC" {
		return corev1.ProtocolUDP
	}
	return corev1.ProtocolTCP
}

func describe(p corev1.ServicePort) string {
	number := fmt.Sprint(p.Port)
	if p.Protocol != "" && p.Protocol != corev1.ProtocolTCP {
		number += "/" + strings.ToLower(string(p.Protocol))
	}
	if p.Name == "" {
		return number
	}
	return fmt.Sprintf("%s (%s)", p.Name, number)
}
