/** One run: a checked file against the ledger, with progress, report and re-push file. */
import { formatLocal, parseDateTime } from '../../../src/protocol/time';
import type { RepushLine } from '../../../src/queries/reconcile/repush';
import { note } from '../print';
import { showProgress } from '../progress';
import type { SourceOptions } from '../source/options';
import type { MatterSource } from '../source/sources';
import { withSources } from '../source/with-sources';
import type { Tool } from '../tool';
import {
  createJsonReport,
  createTableReport,
  type Report,
  type Summary,
  summarize,
} from './report';
import { createCheckRepush, createRepushFile, type RepushFile } from './repush-file';
import { listOrphans, reconcile } from './run-reconcile';
import { createProblems, type Problems, type Source } from './source';
import { createTally, type Tally } from './tally';

export interface FileJob extends SourceOptions {
  /** Undefined: that of the client that asks. */
  readonly systemCode?: string | undefined;
  readonly repushPath: string;
  readonly orphans: boolean;
  readonly overwriteNewer: boolean;
  /** Of matters that are not here, where the file does not say it. */
  readonly matterType?: string | undefined;
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
  const problems = createProblems(repushPath, tool);
  const hideProgress = showTally(tally, source, tool);
  try {
    await withSources(tool, job, ({ matters: ledger }) =>
      compareAll({ source, job, tool, ledger, tally, report, repushFile, problems }),
    );
    repushFile.finish();
  } finally {
    hideProgress();
    repushFile.discard();
  }
  await report.finish();
  if (problems.lines() > 0) {
    problems.tell();
    note(tool.stderr, 'The service would reject the lines above: mend them, or import the users.');
  }
  return summarize(tally.counts(), source, { repushPath, elapsedMs: Date.now() - startedAt });
}

interface Comparing {
  readonly source: Source;
  readonly job: FileJob;
  readonly tool: Tool;
  readonly ledger: MatterSource;
  readonly tally: Tally;
  readonly report: Report;
  readonly repushFile: RepushFile;
  readonly problems: Problems;
}

async function compareAll(comparing: Comparing): Promise<void> {
  const { source, job, tool, ledger, tally, report } = comparing;
  const reconciling = {
    systemCode: job.systemCode ?? '',
    source,
    ledger,
    tally,
    options: {
      ...{ overwriteNewer: job.overwriteNewer, matterType: job.matterType },
      formatLocal: deadlineIn(tool),
    },
    onEntry: report.add,
    onLines: createLineSink(comparing),
  };
  await reconcile(reconciling);
  if (job.orphans) await listOrphans(reconciling);
}

/** @returns takes lines into the re-push file, and names those that the service would reject */
function createLineSink({ tool, ledger, tally, repushFile, problems }: Comparing) {
  const check = createCheckRepush({
    timeZone: tool.settings.timeZone(),
    concluded: tool.settings.concluded(),
    unknownUsers: ledger.unknownUsers,
  });
  let written = 0;
  return async (lines: readonly RepushLine[]): Promise<void> => {
    const before = written;
    written += lines.length;
    for (const line of lines) repushFile.add(line);
    for (const [index, problem] of (await check(lines)).entries()) {
      if (problem === undefined) continue;
      tally.wouldFail();
      problems.add(before + index + 1, `${lines[index]?.body.externalId}: ${problem}`);
    }
  };
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
