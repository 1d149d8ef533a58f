/** Rejections that need no secret of the client, only its id, which is public. */
import type { Reason } from '../../protocol/errors';

/** Of all others the signature was right, or nobody looked at it. */
export const WRONG_SIGNATURE: readonly Reason[] = ['SIGNATURE_MISMATCH', 'TIMESTAMP_OUT_OF_WINDOW'];

export const BY_ANYBODY: readonly Reason[] = [...WRONG_SIGNATURE, 'NO_USABLE_SECRET'];
