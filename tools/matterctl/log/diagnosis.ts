/** What was wrong with a rejected signature, for operators. */
import type { Connection } from 'mongoose';
import { createMutex } from '../../../src/concurrency/mutex';
import type { Diagnosis, Finding } from '../../../src/protocol/diagnosis';
import { createDiagnoseEntry } from '../../../src/signature-diagnosis/diagnose-entry';
import { createFindHeldSecrets } from '../../../src/storage/directory/held-secrets';
import { createKeyRing, type KeyRing } from '../../../src/storage/directory/sealing';
import { createBodies } from '../../../src/storage/push-log/bodies';
import type { LogEntry } from '../../../src/storage/push-log/entry-model';
import { CommandFailure } from '../failure';
import { printable } from '../print';
import type { Tool } from '../tool';

/** Nobody else waits for this process. */
const BOUNDS = { time: 5_000, clock: () => performance.now() };

/** @returns undefined where its signature was not what it was rejected for, or no secret can be opened */
export async function diagnosisOf(
  entry: LogEntry,
  connection: Connection,
  tool: Tool,
): Promise<Diagnosis | undefined> {
  const keyRing = entry.signature && keyRingOf(tool);
  if (!keyRing) return undefined;
  const secrets = createFindHeldSecrets(connection, keyRing);
  const diagnose = createDiagnoseEntry(secrets, BOUNDS, createMutex());
  const id = String(entry._id);
  return diagnose(entry, (await createBodies(connection).find([id])).get(id));
}

/** The rest of what the log knows is shown without them too. */
function keyRingOf({ settings, stderr }: Tool): KeyRing | undefined {
  try {
    return createKeyRing(settings.secretKeys());
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    stderr.write(`The signature was not looked into: ${error.message}\n`);
    return undefined;
  }
}

/** A block under its title. */
export function diagnosisLines({ findings }: Diagnosis): string[] {
  return ['', 'signature', ...findings.flatMap(findingLines).map((line) => `  ${printable(line)}`)];
}

function findingLines({ cause, explanation, fix, difference }: Finding): string[] {
  const lines = [`${cause}: ${explanation}`, `  fix: ${fix}`];
  if (!difference) return lines;
  const { offset, sent, signed } = difference;
  return [
    ...lines,
    `  the first byte that differs: ${offset}`,
    `    sent:   ${sent}`,
    `    signed: ${signed}`,
  ];
}
