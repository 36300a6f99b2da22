# syntax=docker/dockerfile:1
# Static binaries on a distroless base, as non-root: the controller, and
# targetctl, by which the chart releases the targets of a cluster on uninstall.
# Builds for amd64 and arm64:
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=v0.1.0 .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY cmd cmd
COPY controller controller
COPY ownership ownership
ARG TARGETOS TARGETARCH VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -tags grpcnotrace -ldflags "-s -w -X main.version=$VERSION" -o /out/ ./cmd/controller ./cmd/targetctl

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/ /
USER 65532:65532
ENTRYPOINT ["/controller"]
