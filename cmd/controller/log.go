package main

import (
	"fmt"
	"io"

	"github.com/aws/smithy-go/logging"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlzap "sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// setLogger has everything logged in one form, JSON lines, whoever logs it:
// this project, client-go, or the standard library's servers.
func setLogger(w io.Writer, level zapcore.Level) {
	lines := ctrlzap.NewRaw(
		ctrlzap.WriteTo(w),
		ctrlzap.Level(level),
		// An operator needs the message and its context; a stack trace of the
		// work queue says nothing.
		ctrlzap.StacktraceLevel(zapcore.DPanicLevel),
	)
	logger := zapr.NewLogger(lines)
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	zap.RedirectStdLog(lines)
}

// remark logs what the AWS SDK notes beside the outcome of a call, such as a
// connection that broke once the answer was there. Nobody has to act on it.
func remark(level logging.Classification, format string, values ...any) {
	ctrl.Log.WithName("aws").V(1).Info(fmt.Sprintf(format, values...), "classification", level)
}
