/** Largest bodies, in bytes, that no setting changes. All others are bounded by BODY_LIMIT. */

export { MAX_PARTIES } from '../domain/parties';

/** Of queries that name many matters. */
export const LINES_LIMIT = 1024 * 1024;
/** Of a list of a million ids. */
export const LIST_LIMIT = 64 * 1024 * 1024;
