/** The paths of the service (contract 2.1). */
import type { OperationName } from '../domain/operation';

/** Base path of the signed endpoints. */
export const OPEN_PATH = '/api/open';

/** The query for open matters and drafts that are missing in the caller's list of ids. */
export const ORPHANS = 'matters/orphans';

/** The dry run of a push. */
export const VERIFY = 'verify';

/**
 * Path of a batch below `OPEN_PATH`. In the push log, this path is the `operation` of a rejected batch and of a line
 * without an operation.
 */
export const BATCH = 'matters/batch';
export const BATCH_PATH = `${OPEN_PATH}/${BATCH}`;

/** Path of a resend below `OPEN_PATH`. In the push log, this path is the `operation` of a rejected resend. */
export const RESEND = 'push-logs/resend';

export const VERIFY_BATCH = 'verify/batch';

export const pushPath = (operation: OperationName) => `${OPEN_PATH}/matters/${operation}`;
export const queryPath = (name: string) => `${OPEN_PATH}/${name}`;

/** The liveness probe. This endpoint and all endpoints below are unsigned. */
export const ALIVE_PATH = '/healthz';
export const READY_PATH = '/readyz';
export const DOCUMENT_PATH = '/openapi.json';
/** The reference page and its files. */
export const DOCS_PATH = '/docs';
/** The console for staff of the business systems, and its files. */
export const CONSOLE_PATH = '/console';
