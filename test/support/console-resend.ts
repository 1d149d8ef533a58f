/** A browser with a service that answers `push-logs/resend`, for unit tests of the console's resend. */
import { self } from '../../browser/console/read/self';
import { begin, end } from '../../browser/console/read/session';
import type { Result } from '../../browser/console/send/resend';

export interface ResendRequest {
  readonly requestIds: readonly string[];
  readonly dryRun?: boolean;
  readonly set?: readonly object[];
}
export type ResendAnswer = (request: ResendRequest, path: string) => object;

const RESEND = 'push-logs/resend';

export const resent = (id: string, more: Partial<Result> = {}): Result => ({
  ...{ resentFrom: id, sent: true, code: 0, message: 'success', outcome: 'UPDATED' },
  ...more,
});
export const allGood: ResendAnswer = ({ requestIds }) => ({
  code: 0,
  data: { results: requestIds.map((id) => resent(id)) },
});
export const rejected = (code: number, reason: string) => ({
  ...{ code, message: 'no', reason, data: null },
});
export const many = (count: number) => Array.from({ length: count }, (_, n) => `id-${n}`);

/** What the pages asked, and how the service answers. Each test begins with client `a`. */
export function fakeService() {
  const service = {
    answer: allGood,
    /** Answers all other paths. */
    other: (() => ({ code: 0, data: {} })) as (
      body: Record<string, unknown>,
      path: string,
    ) => object,
    asked: [] as { path: string; body: string; client: string }[],
    requests: () =>
      service.asked
        .filter(({ path }) => path === RESEND)
        .map(({ body }) => JSON.parse(body) as ResendRequest),
    idsOf: () => service.requests().map(({ requestIds }) => requestIds),
    begin: () => {
      service.asked = [];
      service.answer = allGood;
      end();
      begin({ clientId: 'a', key: 'key-a' });
      self.value = undefined;
    },
  };
  Object.assign(globalThis, {
    location: { hash: '', pathname: '/console', search: '', href: 'http://h/console' },
    sessionStorage: { getItem: () => null, setItem: () => {}, removeItem: () => {} },
    fetch: async (url: URL, { headers, body: bytes }: RequestInit) => {
      const path = url.pathname.replace('/api/open/', '');
      const body = Buffer.from(bytes as Buffer).toString();
      service.asked.push({ path, body, client: new Headers(headers).get('X-Client-Id') ?? '' });
      const request = JSON.parse(body);
      const answer = path === RESEND ? service.answer(request, path) : service.other(request, path);
      return Response.json(answer);
    },
  });
  return service;
}
