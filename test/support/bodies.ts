/** What the contract says to bodies. */

import type { OperationName } from '../../src/domain/operation';
import { fieldErrors } from '../../src/protocol/json-body';
import { createBodyParsers, type ParsedBody } from '../../src/protocol/requests';
import { NOW } from './builders';
import type { Body } from './push-bodies';

export const CONTRACT = { timeZone: 'Asia/Shanghai', clock: () => NOW };

const parsers = createBodyParsers(CONTRACT);

/** The smallest body that is valid for an operation, with more laid over it. */
export function aBody(operation: OperationName, over: Body = {}): Body {
  const upsert = { matterType: 'TODO', externalId: 'A-1', title: 'title' };
  return { ...(operation === 'upsert' ? upsert : { externalId: 'A-1' }), ...over };
}

/** @throws Error where the body is rejected */
export function accept(operation: OperationName, over: Body = {}): ParsedBody {
  const parsed = parsers[operation](aBody(operation, over));
  if (!parsed.success) throw new Error(JSON.stringify(fieldErrors(parsed.error)));
  return parsed.data;
}

/** The fields that a body is rejected for, each once; empty where it is accepted. */
export function rejectedFields(operation: OperationName, body: Body): string[] {
  const parsed = parsers[operation](body);
  if (parsed.success) return [];
  return [...new Set(fieldErrors(parsed.error).map(({ field }) => field))];
}

/** The same for the smallest valid body with more laid over it. */
export const rejected = (operation: OperationName, over: Body) =>
  rejectedFields(operation, aBody(operation, over));
