/** Which answers are those of the service: everything else is an answer from elsewhere, whatever its code. */
import { judgeBatch } from '../../../tools/client/batch-verdict';
import type { HttpAnswer } from '../../../tools/client/exchange';
import { envelopeOf, judge } from '../../../tools/client/verdict';

const ID = '6b01a201c4a79446377b7ed1';
const ENVELOPE = {
  ...{ code: 0, message: 'success', requestId: ID, timestamp: '2026-11-21T13:52:01.570Z' },
  data: { matterId: '1', outcome: 'CREATED' },
};
const PROBLEM = { field: 'title', message: 'is missing', more: 1 };

const answer = (body: unknown): HttpAnswer => ({
  ...{ url: 'http://service', status: 200, text: JSON.stringify(body), replayed: false },
  ...{ location: undefined, retryAfter: undefined, ratePolicy: undefined },
});

test('an envelope has its fields, and lists of problems only in their form', () => {
  const rejected = { ...ENVELOPE, code: 400, reason: 'VALIDATION_FAILED', retryable: false };
  const { more: _, ...problem } = PROBLEM;
  expect(envelopeOf(answer({ ...rejected, errors: [PROBLEM], warnings: [{ field: 1 }] }))).toEqual({
    ...rejected,
    ...{ errors: [problem], warnings: [] },
  });
  expect(envelopeOf(answer({ ...ENVELOPE, message: 7 }))).toMatchObject({ message: '' });
  expect(judge(answer(ENVELOPE))).toMatchObject({ kind: 'answered', requestId: ID });
});

test.each<[string, unknown]>([
  ['no object', [ENVELOPE]],
  ['null', null],
  ['a code that is no number', { ...ENVELOPE, code: '0' }],
  ['a number without end', JSON.parse('{"code":1e999}')],
  ['no request id', { ...ENVELOPE, requestId: undefined }],
  ['an empty request id', { ...ENVELOPE, requestId: '' }],
  ['no timestamp', { ...ENVELOPE, timestamp: undefined }],
  ['a reason that is no text', { ...ENVELOPE, reason: null }],
  ['a rejection without a reason', { ...ENVELOPE, code: 400 }],
  ['retryable that is no flag', { ...ENVELOPE, retryable: 'yes' }],
])('an answer is from elsewhere: %s', (_, body) => {
  expect(envelopeOf(answer(body))).toBeUndefined();
  expect(judge(answer(body))).toMatchObject({ kind: 'rejected', reason: 'HTTP_200' });
});

describe('a batch', () => {
  const LINE = { line: 1, code: 0, requestId: ID, externalId: null, matterId: '1', outcome: 'NO' };
  const batch = (results: unknown, code = 0) => answer({ ...ENVELOPE, code, data: { results } });

  test('has a verdict for each line; warnings keep what else they have', () => {
    const warnings = [PROBLEM];
    expect(judgeBatch(batch([{ ...LINE, warnings }]), 2).lines).toMatchObject([
      { kind: 'answered', data: { externalId: null, warnings } },
      { kind: 'rejected', reason: 'NO_RESULT' },
    ]);
  });

  test.each<[string, number, unknown]>([
    ['no list', 0, {}],
    ['a line without a number', 0, [{ ...LINE, line: undefined }]],
    ['a line whose request id is a number', 0, [{ ...LINE, requestId: 1 }]],
    ['a line whose reason is null', 0, [{ ...LINE, reason: null }]],
    ['a problem without a message', 0, [{ ...LINE, errors: [{ field: 'title' }] }]],
    ['another code', 208, [LINE]],
  ])('is rejected as a whole: %s', (_, code, results) => {
    expect(judgeBatch(batch(results, code), 1).lines).toBeUndefined();
  });
});
