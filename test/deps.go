package deps
import (
 _ "github.com/sivchari/kumo"
 _ "github.com/testcontainers/testcontainers-go"
 _ "github.com/aws/aws-sdk-go-v2/config"
 _ "github.com/aws/aws-sdk-go-v2/service/dynamodb"
 _ "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
 _ "sigs.k8s.io/controller-runtime"
 _ "sigs.k8s.io/controller-runtime/pkg/envtest"
 _ "github.com/onsi/gomega"
 _ "github.com/google/go-cmp/cmp"
 _ "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
 _ "sigs.k8s.io/yaml"
)
