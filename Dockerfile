# One image for all process types: web by default, worker and release by their command. It contains matterctl,
# and no tools of development. The base is Node 24 by digest: a newer one is a change of this file.
FROM node:24-bookworm-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --ignore-scripts
COPY tsconfig.json ./
COPY scripts/build.mjs ./scripts/build.mjs
COPY scripts/lib ./scripts/lib
COPY src ./src
COPY browser ./browser
COPY docs/alerts.md docs/runbook.md ./docs/
COPY workers ./workers
COPY tools/client ./tools/client
COPY tools/matterctl ./tools/matterctl
RUN node scripts/build.mjs service && chmod +x dist/tools/matterctl/matterctl.js \
  && npm prune --omit=dev --ignore-scripts

FROM node:24-bookworm-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df
# The commit, for example: docker build --build-arg REVISION=$(git rev-parse HEAD) .
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Matter Push" \
  org.opencontainers.image.description="Queue-backed, HMAC-signed ingestion of to-dos and notices into a portal's matter ledger" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production
# As in Procfile: a fifth less processor time for a push, for up to 100 MB more memory.
ENV NODE_OPTIONS=--max-semi-space-size=64
WORKDIR /app
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY examples/signing ./examples/signing
RUN ln -s /app/dist/tools/matterctl/matterctl.js /usr/local/bin/matterctl
USER node
EXPOSE 3000
# No shell around it: SIGTERM reaches the process, which drains: DRAIN_TIMEOUT is how long that may take.
CMD ["node", "dist/src/web.js"]
