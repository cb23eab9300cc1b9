# The first stage has npm and builds, the last hold only what runs: Node's one program on the
# smallest Debian that has what it is linked to, without npm. Nothing is compiled and only the first
# stage runs anything, so one build on any machine makes the images for every architecture that the
# bases have. No keychain inside: a container's secrets are files.
#
# The bases are tags here. Pin them for a build that must be the same again, each by the digest of
# its index, which `docker buildx imagetools inspect node:24-bookworm-slim` shows:
#
#   docker build --build-arg NODE_IMAGE=docker.io/library/node@sha256:… \
#     --build-arg DEBIAN_IMAGE=docker.io/library/debian@sha256:… -t postern .
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim
ARG DEBIAN_IMAGE=docker.io/library/debian:bookworm-slim

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
COPY config/build.ts config/bundle.ts config/declarations.json config/
COPY config/runtime config/runtime
COPY src src
RUN npm ci --ignore-scripts --no-fund --no-audit \
  && npm run --silent build \
  && npm prune --omit=dev --omit=optional --ignore-scripts --no-fund --no-audit \
  && npm pkg delete scripts devDependencies optionalDependencies allowScripts \
  && rm -rf node_modules/.bin node_modules/.cache node_modules/.package-lock.json \
  && find node_modules \( -name '*.map' -o -name '*.d.[cm]ts' -o -name '*.d.ts' \) -delete \
  && find node_modules -type d -empty -delete \
  && install -d -m 0700 -o 1000 -g 1000 /data/postern

FROM ${NODE_IMAGE} AS node

FROM ${DEBIAN_IMAGE} AS runtime
LABEL org.opencontainers.image.title="Postern" \
      org.opencontainers.image.description="An OpenPGP sidecar for chat bots" \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
    HOME=/ \
    MALLOC_ARENA_MAX=2 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    MALLOC_MMAP_THRESHOLD_=69632
WORKDIR /app
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=build --chown=1000:1000 /data /var/lib
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/package.json ./
COPY LICENSE config/healthcheck.pl ./
USER 1000:1000
STOPSIGNAL SIGTERM

# The sandbox as a service, to test a bot against: `docker build --target sandbox -t postern-sandbox .`
# It needs no volume. What follows the name of the image is added to its options.
FROM runtime AS sandbox
EXPOSE 8800 8801
HEALTHCHECK --interval=2s --timeout=10s --start-period=30s --retries=5 \
  CMD ["perl", "/app/healthcheck.pl", "8801"]
ENTRYPOINT ["node", "--min-semi-space-size=2", "--max-semi-space-size=2", "--initial-heap-size=48", "--no-parallel-scavenge", "--memory-saver-mode", "--disable-sigusr1", "--report-exclude-env", "dist/main.js", "sandbox", "--host", "0.0.0.0", "--port", "8800", "--control-port", "8801"]

FROM runtime
ENV POSTERN_DATA_DIR=/var/lib/postern
VOLUME /var/lib/postern
EXPOSE 8700
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 \
  CMD ["perl", "/app/healthcheck.pl"]
ENTRYPOINT ["node", "--min-semi-space-size=2", "--max-semi-space-size=2", "--initial-heap-size=48", "--no-parallel-scavenge", "--memory-saver-mode", "--disable-sigusr1", "--report-exclude-env", "dist/main.js"]
CMD ["run"]
