/**
 * A file of pushes: folded with the service's own rules into what the ledger must hold. One state
 * per externalId is in memory, not the lines: a state grows with its matter, not with its pushes.
 */
import { createHash } from 'node:crypto';
import { fold, type PriorResult } from '../../../src/domain/fold';
import type { Matter } from '../../../src/domain/matter';
import { PushError } from '../../../src/protocol/errors';
import { fieldErrors, parseJsonBody } from '../../../src/protocol/json-body';
import { createBodyParsers, type ParsedBody } from '../../../src/protocol/requests';
import type { Folded } from '../../../src/queries/reconcile/expected';
import { type PushLine, parsePushLine } from '../push/push-line';
import type { RawLine } from '../streams';
import type { Problems, Source } from './source';

export interface PushFile {
  readonly lines: () => AsyncIterable<RawLine>;
  readonly systemCode: string;
  readonly timeZone: string;
  readonly concluded: ReadonlySet<string>;
}

interface State {
  /** Undefined: no push made a matter of it yet. */
  readonly matter: Matter | undefined;
  /** Of pushes with an idempotency key of their own. */
  readonly priorResults: ReadonlyMap<string, PriorResult>;
}

const NEW: State = { matter: undefined, priorResults: new Map() };

/** @param onLine called with each line that was read */
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
    expectedMatters: async function* (): AsyncGenerator<Folded> {
      for (const { matter } of states.values()) {
        if (matter) yield { kind: 'folded', expected: matter };
      }
    },
    unknownFields: [],
    withoutUpsert: states.size - matters,
    withoutId,
  };
}

/** @returns (the built function) a message where the service would reject the body */
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

/** A push that the domain rejects changes nothing, as in the service. */
function apply(
  { matter, priorResults }: State,
  push: ParsedBody & PushLine,
  { systemCode, concluded }: PushFile,
): State {
  const { externalId = '', operation } = push;
  // The service answers a repeated key with the first outcome, if the body is the same too.
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
