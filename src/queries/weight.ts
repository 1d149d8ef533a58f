/** Roughly how much of an answer a matter takes up. */
import type { Matter } from '../domain/matter';

/** Of everything that is short. */
const FRAME = 1_000;
const PARTY = 120;

/** @returns characters, about */
export function weightOf(matter: Matter): number {
  const { summary, content, payloadJson, parties } = matter;
  const texts = [summary, content, payloadJson].reduce((sum, text) => sum + (text?.length ?? 0), 0);
  return FRAME + PARTY * parties.length + texts;
}
