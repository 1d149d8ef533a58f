/**
 * Reads a file of pushes, and computes with the rules of the service which matters the ledger must have. In memory is
 * one state for each externalId, not the lines, so the memory does not grow with the number of pushes.
 */
import { createHash } from 'node:crypto';
import { fold, type PriorResult } from '../../../src/domain/fold';
import type { Matter } from '../../../src/domain/matter';
import { PushError } from '../../../src/protocol/errors';
import { fieldErrors, parseJsonBody } from '../../../src/protocol/json-body';
import { createBodyParsers, type ParsedBody } from '../../../src/protocol/requests';
import type { FoldedMatter } from '../../../src/queries/reconcile/expected';
import { type PushLine, parsePushLine } from '../push/push-line';
import type { TextLine } from '../streams';
import type { Problems, Source } from './source';

export interface PushFile {
  readonly lines: () => AsyncIterable<TextLine>;
  readonly systemCode: string;
  readonly timeZone: string;
  readonly concluded: ReadonlySet<string>;
}

interface State {
  /** Undefined if no push has created the matter yet. */
  readonly matter: Matter | undefined;
  /** Results of pushes with an idempotency key, by fingerprint. */
  readonly priorResults: ReadonlyMap<string, PriorResult>;
}

const NEW: State = { matter: undefined, priorResults: new Map() };

/** @param onLine called after each line is read */
export async function openPushes(
  push: PushFile,
  problems: Problems,
  onLine: () => void,
): Promise<Source> {
  const parse = createBodyParser(push.timeZone);
  const states = new Map<string, State>();
  const ofBadLines = new Set<string>();
  let unnamed = 0;
  let withoutId = 0;
  for await (const raw of push.lines()) {
    onLine();
    const line = parsePushLine(raw);
    if (!line) continue;
    const body = 'op' in line ? parse(line) : line.message;
    if (typeof body === 'string') {
      problems.add(raw.number, body);
      const named = 'op' in line ? line.externalId : undefined;
      if (named === undefined) unnamed += 1;
      else ofBadLines.add(named);
    } else if (body.externalId === undefined) withoutId += 1;
    else if ('op' in line) {
      const state = states.get(body.externalId) ?? NEW;
      states.set(body.externalId, apply(state, { ...body, ...line }, push));
    }
  }
  const leftOut = { leftOut: problems.lines(), leftOutUnnamed: unnamed };
  return { ...toSource(states, ofBadLines, withoutId), ...leftOut };
}

function toSource(
  states: ReadonlyMap<string, State>,
  ofBadLines: ReadonlySet<string>,
  withoutId: number,
): Omit<Source, 'leftOut' | 'leftOutUnnamed'> {
  const matters = [...states.values()].filter(({ matter }) => matter).length;
  return {
    size: matters,
    names: (externalId) => states.has(externalId) || ofBadLines.has(externalId),
    ids: () => new Set([...states.keys(), ...ofBadLines]),
    expectedMatters: async function* (): AsyncGenerator<FoldedMatter> {
      for (const { matter } of states.values()) {
        if (matter) yield { kind: 'folded', expected: matter };
      }
    },
    unknownFields: [],
    withoutUpsert: states.size - matters,
    withoutId,
  };
}

/** @returns a function that parses the body of a line; it returns a message if the service would reject the body */
function createBodyParser(timeZone: string): (line: PushLine) => ParsedBody | string {
  const parsers = createBodyParsers({ timeZone, clock: Date.now });
  return ({ op, body }) => {
    try {
      const parsed = parsers[op](parseJsonBody(body));
      if (parsed.success) return parsed.data;
      const names = new Set(fieldErrors(parsed.error).map(({ field }) => field));
      return `the service rejects such a push: ${[...names].join(', ')}`;
    } catch (error) {
      if (!(error instanceof PushError)) throw error;
      return `the service rejects such a push: ${error.reason}`;
    }
  };
}

/** Applies a push to a state. A push that `fold` rejects changes nothing, as in the service. */
function apply(
  { matter, priorResults }: State,
  push: ParsedBody & PushLine,
  { systemCode, concluded }: PushFile,
): State {
  const { externalId = '', operation } = push;
  // The service answers a push with the same key and body as an earlier one with the result of the earlier push.
  const idempotencyFingerprint =
    push.key === undefined ? undefined : `${push.op}\n${push.key}\n${digestOf(push.body)}`;
  const context = { systemCode, externalId, now: 0, newMatterId: 0n, names: new Map(), concluded };
  const pushes = [{ id: String(push.number), operation, idempotencyFingerprint }];
  const { matter: after, results } = fold(matter, pushes, context, priorResults);
  const [result] = results;
  if (
    idempotencyFingerprint === undefined ||
    result?.duplicateOf ||
    result?.decision.kind !== 'accepted'
  ) {
    return { matter: after, priorResults };
  }
  const { outcome } = result.decision;
  const priorResult = { pushId: String(push.number), outcome, matterId: 0n };
  return {
    matter: after,
    priorResults: new Map(priorResults).set(idempotencyFingerprint, priorResult),
  };
}

const digestOf = (body: Buffer) => createHash('sha256').update(body).digest('base64');
