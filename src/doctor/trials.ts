/** In which order mistakes are tried: each alone, then the likely ones two by two. */
import type { HeldSecret } from '../directory/held-secrets';
import { type BodyVariant, bodyVariants } from './body-variants';
import { type Algorithm, OTHER_ALGORITHMS } from './digests';
import { type KeyVariant, keyVariants } from './keys';
import type { RefusedRequest } from './refused-request';
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
  readonly all: () => Iterable<Deviation>;
  /** Those that are tried together with another kind. */
  readonly common: () => Iterable<Deviation>;
}

/** Cheap and likely ones first. */
const SINGLES: readonly Name[] = ['key', 'text', 'body', 'algorithm', 'time'];
/** The first of the two is made once for each: bodies are the dearest. */
const PAIRS: readonly (readonly [Name, Name])[] = [
  ['body', 'key'],
  ['key', 'text'],
  ['time', 'text'],
  ['time', 'key'],
  ['body', 'text'],
  ['body', 'time'],
  ['body', 'algorithm'],
  ['algorithm', 'text'],
  ['algorithm', 'key'],
  ['algorithm', 'time'],
];

/** What all that is right was made with is `keys`: the secrets that work. */
export interface Trials {
  readonly keys: readonly KeyVariant[];
  /** The first one does nothing otherwise. */
  readonly deviations: Iterable<Deviation>;
}

export function trialsOf(
  { clientId, sent, body, receivedAt }: RefusedRequest,
  secrets: readonly HeldSecret[],
): Trials {
  const keys = keyVariants(clientId, secrets, receivedAt);
  const wrongKeys = keys.filter(({ cause }) => cause !== undefined).map((key) => ({ key }));
  const texts = signingTexts(clientId).map((text) => ({ text }));
  const times = Array.from(timeVariants(sent.timestamp ?? ''), (time) => ({ time }));
  const algorithms = OTHER_ALGORITHMS.map((algorithm) => ({ algorithm }));
  const bodies = function* () {
    for (const variant of bodyVariants(body)) yield { body: variant };
  };
  const kinds: Readonly<Record<Name, Kind>> = {
    key: { all: () => wrongKeys, common: () => wrongKeys.filter(({ key }) => key.isCommon) },
    text: { all: () => texts, common: () => texts.filter(({ text }) => text.isCommon) },
    time: { all: () => times, common: () => times.filter(({ time }) => time.isCommon) },
    algorithm: { all: () => algorithms, common: () => algorithms },
    body: { all: bodies, common: bodies },
  };
  return { keys: keys.filter(({ cause }) => cause === undefined), deviations: inOrder(kinds) };
}

function* inOrder(kinds: Readonly<Record<Name, Kind>>): Generator<Deviation> {
  yield {};
  for (const name of SINGLES) yield* kinds[name].all();
  for (const [one, other] of PAIRS) {
    for (const first of kinds[one].common()) {
      for (const second of kinds[other].common()) yield { ...first, ...second };
    }
  }
}
