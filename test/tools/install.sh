#!/usr/bin/env bash
# Builds or installs the programs that tests, demo and lint run on into bin/.
# A program is left alone when its stamp in bin/.stamps says that the pinned
# version is there. Everything Go comes through the module proxy.
#
#   test/tools/install.sh [etcd|kubernetes|kwok|controller-gen|helm-docs|golangci-lint|gotestsum|shellcheck|spin|tflint|hugo|dynalite|chromium|envtest]...
#
# Without names: everything but envtest and hugo. chromium is used from PATH;
# only root on a Debian has it installed, system-wide. envtest is what light
# clusters need: etcd and kubernetes, unless KUBEBUILDER_ASSETS or setup-envtest
# has them.
set -euo pipefail
set -m # a process group for each job, see end
export CGO_ENABLED=0 # as in the Makefile, to share its build cache

kwok_version=v0.8.0
controller_gen_version=v0.23.0
helm_docs_version=v1.14.2
golangci_lint_version=v2.15.0
gotestsum_version=v1.13.0
tflint_version=v0.64.0
hugo_version=v0.164.0

tools=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$tools/../.." && pwd)
dynalite=$root/test/dynalite # npm puts programs beside its lock file
bin=${TOC_BIN:-$root/bin} # absolute
stamps=$bin/.stamps
logs=$bin/.logs
mkdir -p "$bin/k8s" "$stamps" "$logs"
new=$(mktemp -d "$bin/.new.XXXXXX") # same file system as bin, so that mv is atomic
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# end ends a job with its children, such as compilers.
end() { { kill -- "-$1" && wait "$1"; } 2>/dev/null || true; }

cleanup() {
	local job
	for job in $(jobs -p); do
		end "$job"
	done
	rm -rf "$new"
}

say() { echo "tools: $*"; }

# heartbeat NAME: a line every 30 s, since a silent build looks like a hang.
heartbeat() {
	local begin=$SECONDS last=$SECONDS
	while sleep 1; do
		if ((SECONDS - last >= 30)); then
			last=$SECONDS
			say "$1: still at it, $((SECONDS - begin)) s"
		fi
	done
}

# install NAME VERSION NOTE FILE: runs install_NAME unless the stamp is
# VERSION and FILE is there, and says how long it took.
install() {
	local name=$1 version=$2 note=$3 file=$4
	if [[ -e $file && $(cat "$stamps/$name" 2>/dev/null) == "$version" ]]; then
		say "$name ${version%% *} is there"
		return
	fi
	say "$name ${version%% *}: installing, $note"
	local begin=$SECONDS beat job status=0
	heartbeat "$name" &
	beat=$!
	# In the background and not in an if, where bash would ignore set -e.
	"install_$name" >"$logs/$name.log" 2>&1 &
	job=$!
	wait "$job" || status=$?
	end "$beat"
	if ((status != 0)); then
		say "$name ${version%% *}: failed after $((SECONDS - begin)) s, last lines of $logs/$name.log:" >&2
		tail -n 20 "$logs/$name.log" >&2
		exit 1
	fi
	echo "$version" >"$stamps/$name"
	say "$name ${version%% *}: installed in $((SECONDS - begin)) s"
}

# module_version DIR MODULE: the version that go.mod in DIR pins.
module_version() { awk -v module="$2" '{ sub(/^require /, "") } $1 == module { print $2; exit }' "$1/go.mod"; }

# sources_version DIR MODULE: the version and a checksum of what is built
# here, so that a changed main.go or dependency counts too.
sources_version() { echo "$(module_version "$1" "$2") $(cat "$1"/go.mod "$1"/go.sum "$1"/*.go | cksum)"; }

go_build() { (cd "$1" && go build -ldflags "-s -w ${2:-}" -o "$new/" .); }

# go_install PACKAGE VERSION: with the flags of the user, so that builds
# share their cache.
go_install() { GOBIN=$new go install "$1@$2"; }

# debian_package NAME: unpacks the package into bin/debian, which needs no root.
debian_package() {
	(cd "$new" && apt-get download "$1" && dpkg -x "$1"_*.deb "$1")
	mkdir -p "$bin/debian"
	rm -rf "$bin/debian/$1"
	mv "$new/$1" "$bin/debian/$1"
}

# debian_has NAME: apt is there and knows the package.
debian_has() { apt-cache show "$1" >/dev/null 2>&1; }

install_etcd() {
	go_build "$tools/etcd"
	mv "$new/etcd" "$bin/etcd"
	ln -sfn ../etcd "$bin/k8s/etcd"
}

# The version that clients see: without it charts with a kubeVersion refuse.
install_kubernetes() {
	local package=k8s.io/component-base/version version=$kubernetes_version
	local minor=${version#v1.}
	go_build "$tools/kubernetes" \
		"-X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*}"
	mv "$new/kubernetes" "$bin/kubernetes"
	local program
	for program in kube-apiserver kube-controller-manager kube-scheduler kubectl; do
		ln -sfn ../kubernetes "$bin/k8s/$program"
	done
}

# kwok's stages are files of its module, which say how its pods and nodes behave.
install_kwok() {
	go_install sigs.k8s.io/kwok/cmd/kwok "$kwok_version"
	local module
	module=$(cd "$new" && GOWORK=off go mod download -json "sigs.k8s.io/kwok@$kwok_version" |
		sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p')
	rm -rf "$bin/kwok-stages"
	# Only the YAML files: Go files here would be part of ./... of this module.
	(cd "$module/kustomize/stage" && find node pod -name '*.yaml' ! -path '*/testdata/*') | while read -r stage; do
		mkdir -p "$bin/kwok-stages/$(dirname "$stage")"
		cat "$module/kustomize/stage/$stage" >"$bin/kwok-stages/$stage"
	done
	mv "$new/kwok" "$bin/kwok"
}

install_controller-gen() {
	go_install sigs.k8s.io/controller-tools/cmd/controller-gen "$controller_gen_version"
	mv "$new/controller-gen" "$bin/controller-gen"
}

install_helm-docs() {
	go_install github.com/norwoodj/helm-docs/cmd/helm-docs "$helm_docs_version"
	mv "$new/helm-docs" "$bin/helm-docs"
}

install_golangci-lint() {
	go_install github.com/golangci/golangci-lint/v2/cmd/golangci-lint "$golangci_lint_version"
	mv "$new/golangci-lint" "$bin/golangci-lint"
}

install_gotestsum() {
	go_install gotest.tools/gotestsum "$gotestsum_version"
	mv "$new/gotestsum" "$bin/gotestsum"
}

install_shellcheck() {
	debian_package shellcheck
	ln -sfn debian/shellcheck/usr/bin/shellcheck "$bin/shellcheck"
	"$bin/shellcheck" --version
}

install_spin() {
	debian_package spin
	ln -sfn debian/spin/usr/bin/spin "$bin/spin"
	"$bin/spin" -V
}

install_tflint() {
	go_install github.com/terraform-linters/tflint "$tflint_version"
	mv "$new/tflint" "$bin/tflint"
}

install_hugo() {
	go_install github.com/gohugoio/hugo "$hugo_version"
	mv "$new/hugo" "$bin/hugo"
}

install_dynalite() { (cd "$dynalite" && npm ci); }

install_chromium() {
	apt-get install -y --no-install-recommends chromium || { apt-get update && apt-get install -y --no-install-recommends chromium; }
}

# browser: where a browser is that the page is tried in.
browser() { command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable; }

# have_light_assets: the user already has etcd and kube-apiserver.
have_light_assets() {
	local dir=${KUBEBUILDER_ASSETS:-}
	if [[ -z $dir ]] && command -v setup-envtest >/dev/null; then
		dir=$(setup-envtest use -i -p path 2>/dev/null) || dir=
	fi
	[[ -n $dir && -x $dir/etcd && -x $dir/kube-apiserver ]] || return 1
	say "etcd and kube-apiserver are in $dir"
}

dynalite_version=$(sed -n 's/.*"dynalite": "\(.*\)".*/\1/p' "$dynalite/package.json")
kubernetes_version=$(module_version "$tools/kubernetes" k8s.io/kubernetes)

require() {
	case $1 in
	etcd) install etcd "$(sources_version "$tools/etcd" go.etcd.io/etcd/server/v3)" "1 to 2 minutes" "$bin/k8s/etcd" ;;
	kubernetes) install kubernetes "$(sources_version "$tools/kubernetes" k8s.io/kubernetes)" \
		"about 12 minutes on 2 cores, once" "$bin/k8s/kube-apiserver" ;;
	kwok) install kwok $kwok_version "1 to 4 minutes" "$bin/kwok" ;;
	controller-gen) install controller-gen $controller_gen_version "1 minute" "$bin/controller-gen" ;;
	helm-docs) install helm-docs $helm_docs_version "half a minute" "$bin/helm-docs" ;;
	golangci-lint) install golangci-lint $golangci_lint_version "4 minutes" "$bin/golangci-lint" ;;
	gotestsum) install gotestsum $gotestsum_version "half a minute" "$bin/gotestsum" ;;
	tflint) install tflint $tflint_version "4 minutes" "$bin/tflint" ;;
	hugo) install hugo $hugo_version "4 minutes" "$bin/hugo" ;;
	shellcheck | spin)
		if command -v "$1" >/dev/null; then
			say "$1 is $(command -v "$1")"
		elif debian_has "$1"; then
			install "$1" debian "a few seconds" "$bin/$1"
		else
			say "$1 is left out: it is neither in PATH nor known to apt"
		fi
		;;
	chromium)
		if browser >/dev/null; then
			say "chromium is $(browser)"
		elif ((EUID == 0)) && debian_has chromium; then
			install chromium debian "half a minute" /usr/bin/chromium
		else
			say "chromium is left out: it is not in PATH, and only root on a Debian has it installed; test/web is skipped"
		fi
		;;
	dynalite)
		if command -v npm >/dev/null; then
			install dynalite "$dynalite_version $(cksum <"$dynalite/package-lock.json")" "a few seconds" \
				"$dynalite/node_modules/.bin/dynalite"
		else
			say "dynalite is left out: there is no npm"
		fi
		;;
	envtest) have_light_assets || { require etcd && require kubernetes; } ;;
	*)
		say "unknown tool $1; see the head of $0" >&2
		exit 2
		;;
	esac
}

if (($# == 0)); then
	set -- etcd kubernetes kwok controller-gen helm-docs golangci-lint gotestsum shellcheck spin tflint dynalite chromium
fi
for name in "$@"; do
	require "$name"
done
