/** The paths of the service (contract 2.1). `endpoints.ts` describes the signed endpoints. */
import type { OperationName } from '../domain/operation';

/** Base path of the signed endpoints. */
export const OPEN_PATH = '/api/open';

/** The query that finds open matters and drafts that are not in a list of ids. Body and answer are NDJSON. */
export const ORPHANS = 'matters/orphans';

/** The dry run of a push. */
export const VERIFY = 'verify';

/**
 * Many pushes in one request, one push per line (protocol/batch.ts). The log entry of a batch that is rejected as a
 * whole has this operation.
 */
export const BATCH = 'matters/batch';
export const BATCH_PATH = `${OPEN_PATH}/${BATCH}`;

/**
 * Sends logged pushes again (protocol/resend.ts). The log entry of a resend that is rejected as a whole has this
 * operation.
 */
export const RESEND = 'push-logs/resend';

/** The dry run of a batch. */
export const VERIFY_BATCH = 'verify/batch';

export const pushPath = (operation: OperationName) => `${OPEN_PATH}/matters/${operation}`;
export const queryPath = (name: string) => `${OPEN_PATH}/${name}`;

/** Unsigned endpoints. */
export const ALIVE_PATH = '/healthz';
export const READY_PATH = '/readyz';
export const DOCUMENT_PATH = '/openapi.json';
/** The reference page. The files of the page are below this path. */
export const DOCS_PATH = '/docs';
/** The console for staff of the business systems. The files of the console are below this path. */
export const CONSOLE_PATH = '/console';
