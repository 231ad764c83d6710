#!/usr/bin/env bash
# What an operator does with kubectl, against any API server: $1 is the folder of the CRD fixtures. KUBECONFIG says
# which server; CLUSTER is `model` where there is a cluster behind it that starts and stops pods, and `apiserver`
# where there is none. Ends at the first thing that is not as it should be.
set -euo pipefail

crds=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work # its cache of discovery must not outlive the server
cd "$work"

step() { echo "kubectl: $*"; }
fail() {
  echo "kubectl: FAILED: $*" >&2
  exit 1
}
# The text on stdin must hold these words.
holds() {
  local text
  text=$(cat)
  [[ $text == *"$1"* ]] || fail "expected \`$1\` in:
$text"
}

# The command must fail, and its words must hold these.
refuses() {
  local words=$1
  shift
  if "$@" >refused 2>&1; then
    fail "expected \`$*\` to fail: $(cat refused)"
  fi
  holds "$words" <refused
}

step "apply definitions"
# Old servers know no rules in schemas.
kubectl apply --validate=false -f "$crds/nodeclaims.yaml" -f "$crds/nodepools.yaml" -f "$crds/aksnodeclasses.yaml" >applied
[ "$(grep -c ' created$' applied)" -eq 3 ] || fail "$(cat applied)"
kubectl wait --for=condition=Established --timeout=30s crd/nodeclaims.karpenter.sh crd/nodepools.karpenter.sh \
  crd/aksnodeclasses.karpenter.azure.com | holds "condition met"
# What is established is not discovered at once.
for _ in $(seq 60); do
  kubectl get --raw /apis/karpenter.sh/v1 2>/dev/null | grep -q nodeclaims \
    && kubectl get --raw /apis | grep -q karpenter.azure.com && break
  sleep 0.5
done

step "apply, get and describe a NodeClaim"
cat >claim.yaml <<END
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: default-bad1
  labels: {karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: Standard_D4s_v5}
spec:
  nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
  requirements:
    - {key: karpenter.sh/nodepool, operator: In, values: [default]}
END
kubectl apply -f claim.yaml | holds "nodeclaim.karpenter.sh/default-bad1 created"
kubectl apply -f claim.yaml | holds "unchanged"
sed -i 's/labels: {/labels: {team: one, /' claim.yaml
kubectl apply -f claim.yaml | holds "configured"
kubectl get nodeclaim default-bad1 -o jsonpath='{.metadata.labels.team}' | holds one
kubectl get nodeclaims | holds "Standard_D4s_v5"
kubectl get nodeclaims -o wide | holds "NODEPOOL"
kubectl get nodeclaims -l team=one -o name | holds "nodeclaim.karpenter.sh/default-bad1"
kubectl get karpenter -o name | holds "nodeclaim.karpenter.sh/default-bad1"
kubectl get aksnc 2>&1 | holds "No resources found"
# Servers before 1.25 do not validate for kubectl, and it sees that.
if [ "$CLUSTER" = model ]; then
  sed 's/^spec:/spec:\n  bogus: 1/' claim.yaml >bogus.yaml
  refuses 'unknown field "spec.bogus"' kubectl apply -f bogus.yaml
  refuses 'unknown field "spec.bogus"' kubectl create -f bogus.yaml
fi

step "patch the status subresource, and wait for its condition"
condition='{"type":"CSEProvisioned","status":"False","reason":"CSEFailed","message":"CSE exited with code 211","lastTransitionTime":"2026-11-15T08:00:00Z"}'
kubectl patch nodeclaim default-bad1 --subresource=status --type=merge \
  -p "{\"status\":{\"conditions\":[$condition]}}" | holds patched
kubectl patch nodeclaim default-bad1 --subresource=status --type=json \
  -p '[{"op":"test","path":"/status/conditions/0/type","value":"CSEProvisioned"},{"op":"add","path":"/status/nodeName","value":"n1"}]' |
  holds patched
kubectl wait --for=condition=CSEProvisioned=False --timeout=30s nodeclaim/default-bad1 | holds "condition met"
kubectl describe nodeclaim default-bad1 >described
holds "CSE exited with code 211" <described
holds "Standard_D4s_v5" <described
refuses "invalid" kubectl patch nodeclaim default-bad1 --subresource=status --type=json \
  -p '[{"op":"test","path":"/status/conditions/0/type","value":"Other"}]'

step "events"
kubectl create -f - <<END | holds created
apiVersion: v1
kind: Event
metadata: {name: default-bad1.1, namespace: default}
involvedObject: {apiVersion: karpenter.sh/v1, kind: NodeClaim, name: default-bad1}
type: Warning
reason: CSEFailed
message: CSE exited with code 211 on node aks-default-bad1
firstTimestamp: "2026-11-15T08:00:00Z"
lastTimestamp: "2026-11-15T08:00:00Z"
source: {component: mooring}
END
kubectl get events | holds "CSEFailed"
kubectl describe nodeclaim default-bad1 | holds "CSEFailed"

step "nodes and pods"
for node in n1 n2; do
  kubectl create -f - <<END | holds created
apiVersion: v1
kind: Node
metadata: {name: $node, labels: {kubernetes.io/hostname: $node}}
END
  kubectl patch node $node --subresource=status --type=strategic \
    -p '{"status":{"allocatable":{"cpu":"4","memory":"16Gi","pods":"30"},"capacity":{"cpu":"4","memory":"16Gi","pods":"30"},"conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","message":"","lastHeartbeatTime":"2026-11-15T08:00:00Z","lastTransitionTime":"2026-11-15T08:00:00Z"}]}}' |
    holds patched
  kubectl patch node $node --type=merge -p '{"spec":{"taints":null}}' >/dev/null
done
kubectl get nodes | holds "Ready"
kubectl create namespace shop | holds created
kubectl -n shop create -f - <<END | holds created
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: example.invalid/c}]
END
kubectl -n shop get pods -o wide | holds "n1"
kubectl describe pod -n shop web | holds "example.invalid/c"
kubectl patch node n1 -p '{"spec":{"unschedulable":true}}' | holds patched
kubectl get node n1 | holds "SchedulingDisabled"
kubectl -n shop delete pod web | holds deleted
refuses NotFound kubectl -n shop get pod web
kubectl describe node n1 | holds "Unschedulable:      true"
cat >web.yaml <<END
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: a, image: "example.invalid/a:1"}, {name: b, image: "example.invalid/b:1"}]
END
kubectl apply -f web.yaml | holds created
sed -i 's,a:1,a:2,' web.yaml
kubectl apply -f web.yaml | holds configured
kubectl -n shop get deployment web -o jsonpath='{.spec.template.spec.containers[*].image}' |
  holds "example.invalid/a:2 example.invalid/b:1"
kubectl delete -f web.yaml | holds deleted

step "dry run, and objects in protobuf"
kubectl apply --dry-run=server -f claim.yaml 2>&1 | holds "(server dry run)"
kubectl create configmap journal --from-literal=0=begin | holds created
kubectl get configmap journal -o jsonpath='{.data.0}' | holds begin
kubectl create secret generic s --from-literal=k=v | holds created
kubectl get secret s -o jsonpath='{.type} {.data.k}' | holds "Opaque dg=="
kubectl create secret generic t --from-literal=k=v --dry-run=client -o yaml | kubectl apply -f - | holds created

step "delete, with a finalizer in the way"
kubectl patch nodeclaim default-bad1 --type=merge -p '{"metadata":{"finalizers":["karpenter.sh/termination"]}}' >/dev/null
kubectl delete nodeclaim default-bad1 --wait=false | holds "deleted"
kubectl get nodeclaim default-bad1 -o jsonpath='{.metadata.deletionTimestamp}' | holds "T"
kubectl patch nodeclaim default-bad1 --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null
kubectl wait --for=delete --timeout=30s nodeclaim/default-bad1
refuses NotFound kubectl get nodeclaim default-bad1
kubectl delete node n1 n2 | holds deleted
kubectl delete configmap journal | holds deleted
kubectl delete secret s t | holds deleted
if [ "$CLUSTER" = model ]; then
  kubectl delete namespace shop --timeout=30s | holds deleted
fi
kubectl delete crd nodeclaims.karpenter.sh nodepools.karpenter.sh aksnodeclasses.karpenter.azure.com --timeout=60s | holds deleted
step "all as it should be"
