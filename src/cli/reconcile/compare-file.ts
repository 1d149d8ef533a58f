/** One run: a checked file against the ledger, with progress, report and re-push file. */
import { formatLocal, parseDateTime } from '../../contract/time';
import { createMatterReader } from '../../ledger/matter-reader';
import { showProgress } from '../progress';
import type { Tool } from '../tool';
import { type DatabaseOptions, withMongo } from '../with-mongo';
import { createJsonReport, createTableReport } from './report';
import { createRepushFile } from './repush-file';
import { listOrphans, reconcile } from './run-reconcile';
import type { Source } from './source';
import { type Summary, summarize } from './summary';
import { createTally, type Tally } from './tally';

export interface FileJob extends DatabaseOptions {
  readonly systemCode: string;
  readonly repushPath: string;
  readonly orphans: boolean;
  readonly overwriteNewer: boolean;
  /** When the reading began, epoch milliseconds. */
  readonly startedAt: number;
  /** Most rows of the table. */
  readonly limit: number;
}

/** @throws DatabaseSetupError, and what the files' system calls throw; no re-push file is left then */
export async function compareFile(source: Source, job: FileJob, tool: Tool): Promise<Summary> {
  const { repushPath, startedAt } = job;
  const tally = createTally();
  const report = job.json ? createJsonReport(tool) : createTableReport(tool, job.limit);
  const repushFile = createRepushFile(repushPath);
  const hideProgress = showTally(tally, source, tool);
  const options = { overwriteNewer: job.overwriteNewer, formatLocal: deadlineIn(tool) };
  try {
    await withMongo(tool, job, async (connection) => {
      const { systemCode } = job;
      const ledger = createMatterReader(connection);
      const sinks = { onEntry: report.add, onLine: repushFile.add };
      const reconciling = { systemCode, source, ledger, tally, options, ...sinks };
      await reconcile(reconciling);
      if (job.orphans) await listOrphans(reconciling);
    });
    repushFile.finish();
  } finally {
    hideProgress();
    repushFile.discard();
  }
  await report.finish();
  return summarize(tally.counts(), source, { repushPath, elapsedMs: Date.now() - startedAt });
}

function showTally(tally: Tally, source: Source, { stderr }: Tool): () => void {
  const state = () => {
    const { compared, equal } = tally.counts();
    return { done: compared, note: `${compared - equal} differ` };
  };
  return showProgress({ stderr, total: source.size, things: 'matters', state });
}

/** With an offset only in the hour that clocks repeat: there the local form may mean the other one. */
function deadlineIn({ settings }: Tool): (instant: number) => string {
  const timeZone = settings.timeZone();
  return (instant) => {
    const local = formatLocal(instant, timeZone);
    return parseDateTime(local, timeZone) === instant ? local : new Date(instant).toISOString();
  };
}
