/** The checks of `matterctl doctor` in their order, their results, and what a rejection reveals about the set-up. */
import type { ServiceAnswer } from './service';

export const CHECKS = [
  'reachable',
  'clock',
  'headers',
  'secret',
  'client',
  'service',
  'body',
  'round trip',
] as const;
export type CheckName = (typeof CHECKS)[number];

export interface Check {
  readonly check: CheckName;
  readonly status: 'ok' | 'failed' | 'skipped';
  readonly detail: string;
  /** What to do; only for a failed check. */
  readonly fix?: string;
}

export const passed = (check: CheckName, detail: string): Check => ({
  ...{ check, status: 'ok', detail },
});
export const failed = (check: CheckName, detail: string, fix: string): Check => ({
  ...{ check, status: 'failed', detail, fix },
});
export const skipped = (check: CheckName): Check => ({
  ...{ check, status: 'skipped', detail: 'not tried: first correct the failed check' },
});

const GATEWAY =
  'Look at what stands between: a gateway, a firewall or a login page; it must pass POST on /api/open.';
const NETWORK =
  'Is the URL right, does the service run, does the network let this machine through?';
const HEADERS =
  'Let the gateway pass X-Client-Id, X-Timestamp and X-Signature on, once each and unchanged.';

/** Reasons of rejections that always have the same cause: the check that fails, its detail and its fix. */
const REASONS: Readonly<Record<string, readonly [check: CheckName, detail: string, fix: string]>> =
  {
    HMAC_HEADERS_MISSING: [
      'headers',
      'X-Client-Id, X-Timestamp or X-Signature does not arrive, or arrives twice',
      HEADERS,
    ],
    TIMESTAMP_OUT_OF_WINDOW: [
      'clock',
      'the timestamp is more than 300 s off for the service',
      'Set the clock of this machine by NTP; see that no gateway changes X-Timestamp.',
    ],
    SIGNATURE_MISMATCH: [
      'secret',
      'the service does not know the client id, or the secret is another one',
      'Compare the client id with "matterctl client list"; "matterctl client rotate" makes a new secret.',
    ],
    NO_USABLE_SECRET: [
      'client',
      'the client is PUBLIC, or its secret cannot be opened',
      'Create a client with a secret, or look at SECRET_KEYS of the service.',
    ],
    CLIENT_DISABLED: ['client', 'the client is disabled', 'Run "matterctl client enable".'],
    CLIENT_PAUSED: [
      'client',
      'an operator has paused its pushes; its queries are answered',
      'Ask the operators when; "matterctl queue resume" lets it push again.',
    ],
    HEADERS_TOO_LARGE: [
      'headers',
      'the head of the request is over 16 KiB when it arrives',
      'Let the gateway take Cookie and its own large headers off on the way to the service.',
    ],
    DATABASE_NOT_PREPARED: [
      'service',
      'its database is not prepared: the release step was not run, or indexes are missing',
      'Run the release step (node dist/src/release.js) with the settings of the service; the log of web names what is missing.',
    ],
    DATABASE_UNAVAILABLE: [
      'service',
      'its database does not answer, or rejects writes',
      'Look at MongoDB: a full disk, a quota, a missing right? The log of web has the error of the server.',
    ],
    QUEUE_UNAVAILABLE: [
      'service',
      'its queue does not answer, takes no writes, or was paused with BullMQ',
      'Run "matterctl status": it names the cause; "matterctl queue unpause" ends a pause.',
    ],
    QUEUE_MEMORY_FULL: [
      'service',
      'Redis is at its maxmemory',
      'Do workers run? Otherwise give Redis more memory.',
    ],
    SHUTTING_DOWN: [
      'service',
      'the process that answers is being stopped',
      'Try again; let the load balancer ask /readyz.',
    ],
    CONFIRMATION_TIMEOUT: [
      'service',
      'the push was not confirmed in time',
      'Does a worker run? "matterctl status" and "matterctl queue stats" show what waits and why.',
    ],
    NO_SYSTEM_CODE: [
      'client',
      'the client has no system code',
      'Create it anew with "matterctl client create --system-code".',
    ],
  };

/**
 * The failed check for an answer that is not a success.
 *
 * @param check used if the answer does not reveal another check
 */
export function checkOf(
  { status, envelope, location, failure }: ServiceAnswer,
  check: CheckName,
): Check {
  if (failure !== undefined) return failed(check, `nobody answers: ${failure}`, NETWORK);
  if (!envelope && location !== undefined) {
    const detail = `something else answers, with status ${status} and a redirect to ${location}`;
    return failed(
      check,
      detail,
      'Give the address of the service itself: no push follows a redirect.',
    );
  }
  if (!envelope) return failed(check, `something else answers, with status ${status}`, GATEWAY);
  const { reason = `code ${envelope.code}`, requestId } = envelope;
  const known = REASONS[reason];
  if (known) return failed(...known);
  const fix = `Try again; if it stays so, look for ${requestId} in the log of the service.`;
  return failed(check, `rejected with ${reason}`, fix);
}
