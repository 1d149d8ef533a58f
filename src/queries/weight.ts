/** The weight of a matter is its approximate size in an answer, in characters. */
import type { Matter } from '../domain/matter';

/** Estimated characters of all short fields of a matter together. */
const FRAME = 1_000;
const PARTY = 120;

export function weightOf(matter: Matter): number {
  const { summary, content, payloadJson, parties } = matter;
  const texts = [summary, content, payloadJson].reduce((sum, text) => sum + (text?.length ?? 0), 0);
  return FRAME + PARTY * parties.length + texts;
}
