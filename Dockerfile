# DuskDB in an image of one file: the static binary.
#
#   docker build -t duskdb .
#   docker run -d -p 127.0.0.1:27017:27017 -v duskdb-data:/data duskdb
#
# Arguments after the image's name are added to the command line:
#
#   docker run duskdb --setParameter ttlMonitorSleepSecs=1
#
# For both processors, cross-compiled, into a registry:
#
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=1.2.0 -t REGISTRY/duskdb:1.2.0 --push .
#
# As in mongo's official image, MONGO_INITDB_ROOT_USERNAME and _PASSWORD (and
# their _FILE) make the first user and demand logins, and files in
# /docker-entrypoint-initdb.d are imported at the first start: .json, .ndjson,
# .csv and .bson, into MONGO_INITDB_DATABASE or test. Scripts are not run.

FROM --platform=$BUILDPLATFORM golang:1.26-alpine AS build
WORKDIR /src
# Modules first: this layer is kept as long as go.mod stays the same.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags="-s -w -X main.released=$VERSION" -o /out/duskdb ./cmd/duskdb
RUN go run ./internal/release -notices /out/duskdb > /out/THIRD_PARTY_NOTICES.txt
# Directories that the server, not being root, must be able to write.
RUN mkdir -p /writable/data /writable/tmp

FROM scratch
ARG VERSION
LABEL org.opencontainers.image.title="DuskDB" \
      org.opencontainers.image.description="MongoDB-compatible server for data that expires" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/duskdb/duskdb" \
      org.opencontainers.image.version="$VERSION"
# Copied as entries of their parent, so that the new owner is theirs too.
COPY --from=build --chown=65532:65532 /writable/ /
COPY --from=build /out/duskdb /duskdb
COPY --from=build /out/THIRD_PARTY_NOTICES.txt /THIRD_PARTY_NOTICES.txt
COPY LICENSE /LICENSE

USER 65532:65532
VOLUME /data
EXPOSE 27017
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=3 \
    CMD ["/duskdb", "ping"]
ENTRYPOINT ["/duskdb", "--dbpath", "/data", "--bind_ip", "0.0.0.0", \
    "--initdb", "/docker-entrypoint-initdb.d"]
