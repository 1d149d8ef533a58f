/** In which order mistakes are tried: each alone, then the likely ones two by two. */
import type { HeldSecret } from '../storage/directory/held-secrets';
import { type BodyVariant, bodyVariants } from './body-variants';
import { type Algorithm, OTHER_ALGORITHMS } from './digests';
import { type KeyVariant, keyVariants } from './keys';
import type { RejectedRequest } from './rejected-request';
import { type SigningText, signingTexts } from './signing-texts';
import { type TimeVariant, timeVariants } from './timestamps';

/** What a caller did otherwise; what is absent it did right. */
export interface Deviation {
  readonly key?: KeyVariant;
  readonly body?: BodyVariant;
  readonly text?: SigningText;
  readonly time?: TimeVariant;
  readonly algorithm?: Algorithm;
}

type Name = keyof Deviation;

/** A way to go wrong. */
interface Kind {
  /** Likely ones: they are tried first, and together with another kind. */
  readonly common: () => Iterable<Deviation | undefined>;
  readonly others: () => Iterable<Deviation>;
}

const SINGLES: readonly Name[] = ['key', 'text', 'time', 'body', 'algorithm'];
/** The first of the two is made once for each: bodies are the dearest. */
const PAIRS: readonly (readonly [Name, Name])[] = [
  ['body', 'key'],
  ['key', 'text'],
  ['time', 'text'],
  ['time', 'key'],
  ['body', 'text'],
  ['body', 'time'],
  ['algorithm', 'text'],
  ['algorithm', 'key'],
  ['body', 'algorithm'],
];

export interface Trials {
  /** The secrets that work: for all that deviate in something else. */
  readonly keys: readonly KeyVariant[];
  /** First the one that does nothing otherwise; undefined where making one came to nothing new. */
  readonly deviations: Iterable<Deviation | undefined>;
}

export function trialsOf(
  { clientId, sent, body, receivedAt }: RejectedRequest,
  secrets: readonly HeldSecret[],
): Trials {
  const keys = keyVariants(clientId, secrets, receivedAt);
  const isOwn = ({ cause, isQueryKey }: KeyVariant) => cause === undefined && !isQueryKey;
  const alone = keys.filter(({ isQueryKey }) => isQueryKey).map((key) => ({ key }));
  const wrong = keys.filter((key) => !isOwn(key) && !key.isQueryKey);
  const bodies = function* () {
    for (const variant of bodyVariants(body)) yield variant && { body: variant };
  };
  const kinds: Readonly<Record<Name, Kind>> = {
    key: kindOf(wrong, (key) => ({ key })),
    text: kindOf(signingTexts(clientId), (text) => ({ text })),
    time: kindOf([...timeVariants(sent.timestamp ?? '')], (time) => ({ time })),
    algorithm: kindOf(OTHER_ALGORITHMS, (algorithm) => ({ algorithm })),
    body: { common: bodies, others: () => [] },
  };
  return { keys: keys.filter(isOwn), deviations: inOrder(kinds, alone) };
}

function kindOf<T extends { readonly isCommon: boolean }>(
  variants: readonly T[],
  deviate: (variant: T) => Deviation,
): Kind {
  const common = variants.filter(({ isCommon }) => isCommon).map(deviate);
  const others = variants.filter(({ isCommon }) => !isCommon).map(deviate);
  return { common: () => common, others: () => others };
}

function* inOrder(
  kinds: Readonly<Record<Name, Kind>>,
  queryKeys: readonly Deviation[],
): Generator<Deviation | undefined> {
  yield {};
  yield* queryKeys;
  for (const name of SINGLES) yield* kinds[name].common();
  for (const name of SINGLES) yield* kinds[name].others();
  for (const [one, other] of PAIRS) {
    for (const first of kinds[one].common()) {
      if (!first) yield undefined;
      else for (const second of kinds[other].common()) yield { ...first, ...second };
    }
  }
}
