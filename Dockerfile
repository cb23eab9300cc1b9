# Two stages: the first has npm, the second only what runs. Nothing is compiled and the second
# stage runs nothing, so one build on any machine makes the image for every architecture that the
# base image has. No keychain inside: a container's secrets are files.
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY config/runtime config/runtime
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-fund --no-audit \
  && npm pkg delete scripts devDependencies optionalDependencies allowScripts \
  && npm sbom --sbom-format=cyclonedx > sbom.cdx.json \
  && find node_modules \( -name '*.map' -o -name '*.d.[cm]ts' -o -name '*.d.ts' \) -delete \
  && install -d -m 0700 -o 1000 -g 1000 /data/postern

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="Postern" \
      org.opencontainers.image.description="An OpenPGP sidecar for chat bots" \
      org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
    POSTERN_DATA_DIR=/var/lib/postern
WORKDIR /app
COPY --from=dependencies --chown=1000:1000 /data /var/lib
COPY --from=dependencies /app/node_modules node_modules
COPY --from=dependencies /app/package.json /app/sbom.cdx.json ./
COPY LICENSE ./
COPY src src
USER 1000:1000
VOLUME /var/lib/postern
EXPOSE 8700
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 \
  CMD ["node", "src/main.ts", "status"]
ENTRYPOINT ["node", "--disable-sigusr1", "--report-exclude-env", "src/main.ts"]
CMD ["run"]
