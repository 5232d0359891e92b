# DuskDB in an image of one file: the static binary.
#
#   docker build -t duskdb .
#   docker run -d -p 127.0.0.1:27017:27017 -v duskdb-data:/data duskdb
#
# Arguments after the image's name are added to the command line:
#
#   docker run duskdb --setParameter ttlMonitorSleepSecs=1

FROM golang:1.26-alpine AS build
WORKDIR /src
# Modules first: this layer is kept as long as go.mod stays the same.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags="-s -w" -o /out/duskdb ./cmd/duskdb
# Directories that the server, not being root, must be able to write.
RUN mkdir -p /root-fs/data /root-fs/tmp && chmod 1777 /root-fs/tmp \
 && chown 65532:65532 /root-fs/data

FROM scratch
LABEL org.opencontainers.image.title="DuskDB" \
      org.opencontainers.image.description="MongoDB-compatible server for data that expires" \
      org.opencontainers.image.licenses="Apache-2.0"
# COPY of the parent directory keeps the owners that were set above.
COPY --from=build /root-fs/ /
COPY --from=build /out/duskdb /duskdb
COPY LICENSE /LICENSE

USER 65532:65532
VOLUME /data
EXPOSE 27017
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --start-interval=1s --retries=3 \
    CMD ["/duskdb", "ping"]
ENTRYPOINT ["/duskdb", "--dbpath", "/data", "--bind_ip", "0.0.0.0"]
