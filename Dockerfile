# Two stages: the first has npm, the second only what runs. No compilers, no keychain, no shell
# is needed to start, to stop or to be asked for health.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY config/runtime config/runtime
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-fund --no-audit

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    POSTERN_DATA_DIR=/var/lib/postern
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY src src
RUN install -d -m 0700 -o node -g node /var/lib/postern
USER node
VOLUME /var/lib/postern
EXPOSE 8700
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8701/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--disable-sigusr1", "--report-exclude-env", "src/main.ts"]
CMD ["run"]
