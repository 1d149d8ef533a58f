/** The types of the client's bodies are those that the contract takes: the compiler compares them. */
import type { z } from 'zod';
import { bodySchemas } from '../../../src/protocol/requests';
import type {
  DeleteBody,
  ReopenBody,
  StatusBody,
  UpsertBody,
} from '../../../tools/client/matter-push-client';

const schemas = bodySchemas({ timeZone: 'UTC', clock: () => 0 });
type Schemas = typeof schemas;
type Input<Name extends keyof Schemas> = z.input<Schemas[Name]>;

/** Lists that are only read are as good as others. */
type Written<T> = {
  -readonly [K in keyof T]: T[K] extends readonly (infer E)[] | null | undefined
    ? E[] | Extract<T[K], null | undefined>
    : T[K];
};
type Same<A, B> = [keyof A, keyof B, A, B] extends [keyof B, keyof A, B, A] ? true : false;

const SAME: {
  readonly upsert: Same<Written<UpsertBody>, Written<Input<'upsert'>>>;
  readonly status: Same<Written<StatusBody>, Written<Input<'status'>>>;
  readonly reopen: Same<Written<ReopenBody>, Written<Input<'reopen'>>>;
  readonly delete: Same<Written<DeleteBody>, Written<Input<'delete'>>>;
} = { upsert: true, status: true, reopen: true, delete: true };

test('every operation has a type for its body', () => {
  expect(Object.keys(SAME)).toEqual(Object.keys(schemas));
});
