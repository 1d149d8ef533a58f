/** A resend as the audit trail tells it. */
import type { AuditDetails } from '../../../src/storage/audit/audit-model';
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import type { Change } from '../with-trail';
import type { ResendSummary } from './report';

/** What was selected. @param options that decide with the filter what is sent */
export function resendChange({ from, to, ...filter }: LogFilter, options: AuditDetails): Change {
  const { clientId, requestId, externalId, systemCode } = filter;
  return {
    command: 'log resend',
    subject: requestId ?? externalId ?? clientId ?? systemCode ?? null,
    ...(clientId !== undefined && { clientId }),
    details: { ...filter, from: iso(from), to: iso(to), ...options },
  };
}

/** What came of it; each push is in the push log, with its operator. */
export function resendResult({ pushes, matters, rejected, results }: ResendSummary): AuditDetails {
  return { pushes, matters, rejected, results };
}

const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
