/** Derives the settings of the parts of the web process from the configuration. */
import path from 'node:path';
import { MAX_PARTIES } from '../domain/parties';
import type { PageFiles } from '../http/documents';
import { readConsoleFiles, readDocsFiles } from '../http/pages';
import { type Config, demoClientFile, queryKeyRate } from '../infra/config';
import { timeoutOf } from '../protocol/endpoints';
import { TIMESTAMP_WINDOW } from '../protocol/headers';
import { BATCH, RESEND } from '../protocol/paths';
import type { PushSettings } from '../pushes/pushes';
import type { SelfSettings } from '../queries/self-queries';
import { REPLAY_WINDOW } from '../storage/push-log';

/** The path of PUBLIC_URL without the trailing slash; empty if PUBLIC_URL is empty or has no path. */
export const pathPrefixOf = ({ PUBLIC_URL: publicUrl }: Config): string =>
  publicUrl === '' ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');

export const pushSettings = (config: Config): PushSettings => ({
  signatureGrace: config.SIGNATURE_GRACE,
  rate: { rate: config.RATE_LIMIT, burst: config.RATE_BURST },
  queryKeyRate: queryKeyRate(config),
  pushTimeout: timeoutOf('upsert', config),
  batchTimeout: timeoutOf(BATCH, config),
  resendTimeout: timeoutOf(RESEND, config),
  maxInFlight: config.MAX_IN_FLIGHT,
  batchMaxItems: config.BATCH_MAX_ITEMS,
  bodyLimit: config.BODY_LIMIT,
  batchBodyLimit: config.BATCH_BODY_LIMIT,
  concludedStatuses: config.CONCLUDED_STATUSES,
  portalTimeZone: config.PORTAL_TIME_ZONE,
  idempotentReplay: config.IDEMPOTENT_REPLAY === 'on',
});

/** The settings that `clients/me` shows. */
export function selfSettings(config: Config): SelfSettings {
  const { PUSH_LOG_RETENTION: pushLog, PUSH_BODY_RETENTION: bodies } = config;
  const { rate: perSecond, burst } = queryKeyRate(config);
  const grace = config.SIGNATURE_GRACE;
  return {
    rate: { perSecond: config.RATE_LIMIT, burst: config.RATE_BURST },
    queryKeyRate: { perSecond, burst },
    timeZone: config.PORTAL_TIME_ZONE,
    concludedStatuses: config.CONCLUDED_STATUSES,
    retentions: {
      pushLog: seconds(pushLog),
      bodies: seconds(Math.min(bodies, pushLog)),
      replay: config.IDEMPOTENT_REPLAY === 'on' ? seconds(REPLAY_WINDOW) : 0,
    },
    limits: {
      bodyBytes: config.BODY_LIMIT,
      pushTimeout: config.PUSH_TIMEOUT,
      batchLines: config.BATCH_MAX_ITEMS,
      batchBytes: config.BATCH_BODY_LIMIT,
      batchTimeout: config.BATCH_TIMEOUT,
      timestampWindow: TIMESTAMP_WINDOW,
      signatureGrace: grace === 'off' ? null : seconds(grace),
      parties: MAX_PARTIES,
    },
  };
}

const seconds = (ms: number) => ms / 1000;

/** The root folder of the project; `__dirname` is dist/src/web. */
const ROOT = path.join(__dirname, '../../..');

export function readPages(config: Config): PageFiles {
  if (config.PAGES === 'off') return new Map();
  const { HOST, PUBLIC_URL } = config;
  const publicName = PUBLIC_URL === '' ? [] : [new URL(PUBLIC_URL).hostname];
  const demo = { file: demoClientFile(config), ownNames: [HOST, ...publicName] };
  const docs = readDocsFiles(ROOT, config.DOCS_DEMO === 'on' ? demo : undefined);
  return new Map([...docs, ...readConsoleFiles(ROOT)]);
}
