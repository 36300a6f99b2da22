package binding

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"target-ownership-controller/controller/api/v1beta1"
	"target-ownership-controller/ownership"
	"target-ownership-controller/ownership/plan"
)

// verdict is what a condition says.
type verdict struct {
	status  metav1.ConditionStatus
	reason  v1beta1.ConditionReason
	message string
}

// progress is where the targets of the binding stand after the pass.
type progress struct {
	held, registered, pending, blocked, leaving int
}

func (b *round) progress() progress {
	held, unwanted := b.state.ledger.Unwanted(b.want)
	steps := b.report.Plan
	p := progress{
		held:       held,
		registered: steps.Count(plan.Keep),
		blocked:    steps.Count(plan.Wait, plan.BlockedByOther),
		leaving:    len(b.state.ledger.Record().Releasing),
	}
	p.pending = held - unwanted - p.registered - p.blocked
	return p
}

// verdicts judges the pass for both conditions.
func verdicts(b *round, err error) (ready, consistent verdict) {
	if err != nil {
		return b.where(failure(err)), ownershipUnknown(err)
	}
	return b.ready(), b.consistent()
}

// inSpec are the reasons for which a binding itself has to be corrected.
var inSpec = map[v1beta1.ConditionReason]bool{
	v1beta1.ReasonInvalidSpec:     true,
	v1beta1.ReasonWrongTargetType: true,
	v1beta1.ReasonGroupNotFound:   true,
}

// where says that a binding that was made from annotations is corrected there:
// whatever is changed in it is put back.
func (b *round) where(v verdict) verdict {
	owner := metav1.GetControllerOf(b)
	if owner != nil && inSpec[v.reason] && b.Labels[v1beta1.ManagedLabel] == "true" {
		v.message += fmt.Sprintf("; the binding is made from the annotations of %s %s: correct it there", owner.Kind, owner.Name)
	}
	return v
}

// ready is True when every wanted target is registered.
func (b *round) ready() verdict {
	p := b.progress()
	summary := fmt.Sprintf("%d of %d targets registered", p.registered, len(b.want))
	if p.leaving > 0 {
		summary += fmt.Sprintf(", %d leaving", p.leaving)
	}
	if b.kept > 0 {
		summary += fmt.Sprintf(", %d of them not ready and kept for %s", b.kept, v1beta1.MinimumAnnotation)
	}
	leftOut := b.leftOut()
	if leftOut != "" {
		summary += ", " + leftOut
	}
	notReady := func(reason v1beta1.ConditionReason, why string) verdict {
		return verdict{metav1.ConditionFalse, reason, summary + "; " + why}
	}
	switch failed := b.firstFailure(); {
	case b.forbidden != nil:
		v := failure(b.forbidden)
		v.message = summary + "; " + v.message
		return v
	case b.absent != nil:
		return notReady(explain(b.absent), b.absent.Error())
	case b.report.TooLarge != nil:
		return notReady(v1beta1.ReasonRecordTooLarge, b.report.TooLarge.Error())
	case failed.Err != nil:
		return notReady(explain(failed.Err), fmt.Sprintf("%s: %s", failed.Target, text(failed.Err)))
	case p.blocked > 0:
		return notReady(v1beta1.ReasonBlocked, fmt.Sprintf("%d wait until another owner has taken them out of the group", p.blocked))
	case b.handsOver() && len(b.want) > 0:
		return notReady(v1beta1.ReasonHandingOver, b.awaited())
	case p.registered < len(b.want):
		return notReady(v1beta1.ReasonPending, "the others follow")
	case b.Spec.Networking != nil:
		return verdict{metav1.ConditionTrue, v1beta1.ReasonNetworkingNotManaged, summary + "; spec.networking is accepted and not acted on: allow the traffic in the security groups of the targets"}
	case leftOut != "":
		return verdict{metav1.ConditionTrue, v1beta1.ReasonLimited, summary}
	default:
		return verdict{metav1.ConditionTrue, v1beta1.ReasonReconciled, summary}
	}
}

// firstFailure is the failed step that says most: a full group before a
// refused target before any other.
func (b *round) firstFailure() plan.Step {
	var failed []plan.Step
	for _, s := range b.report.Plan.Steps {
		if s.Err != nil {
			failed = append(failed, s)
		}
	}
	if len(failed) == 0 {
		return plan.Step{}
	}
	for _, class := range []error{ownership.ErrGroupFull, ownership.ErrInvalidTarget} {
		if i := slices.IndexFunc(failed, func(s plan.Step) bool { return errors.Is(s.Err, class) }); i >= 0 {
			return failed[i]
		}
	}
	return failed[0]
}

// consistent is False when a record cannot be read, and when a binding that
// wants the group for itself shares it.
func (b *round) consistent() verdict {
	tally := b.state.ledger.Tally()
	if len(tally.Unreadable) > 0 {
		n, u := b.report.Plan.Count(plan.Wait, plan.Unreadable), tally.Unreadable[0]
		return verdict{metav1.ConditionFalse, v1beta1.ReasonRecordUnreadable,
			fmt.Sprintf("record %s cannot be read (%s); %d removals wait until it can, with a newer controller or after its repair", u.Owner, u.Reason, n)}
	}
	if err := b.state.unlisted; err != nil {
		return verdict{metav1.ConditionUnknown, explain(err), "the group could not be compared with the record: " + text(err)}
	}
	if len(tally.Owners) == 0 {
		return verdict{metav1.ConditionTrue, v1beta1.ReasonConsistent, "no other owner has targets in the group"}
	}
	message := fmt.Sprintf("other owners of the group: %s; %s", names(tally.Owners), sharing(tally.Shared))
	if b.shared() {
		return verdict{metav1.ConditionTrue, v1beta1.ReasonShared, message}
	}
	return verdict{metav1.ConditionFalse, v1beta1.ReasonShared, message + "; their targets are kept: set spec.multiClusterTargetGroup to true here, or unbind them"}
}

func sharing(targets int) string {
	switch targets {
	case 0:
		return "none of their targets is also this binding's"
	case 1:
		return "1 target is theirs and this binding's"
	default:
		return fmt.Sprintf("%d targets are theirs and this binding's", targets)
	}
}

// maxNames bounds the owners that a message names.
const maxNames = 5

func names(owners []ownership.Owner) string {
	var list []string
	for _, o := range owners[:min(len(owners), maxNames)] {
		list = append(list, o.String())
	}
	if more := len(owners) - maxNames; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}
