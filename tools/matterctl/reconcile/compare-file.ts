/** Compares a checked file with the ledger: shows the progress, prints the report, and writes the re-push file. */
import { formatUnambiguous } from '../../../src/protocol/time';
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
import { createTally, type DifferenceTally } from './tally';

export interface FileJob extends SourceOptions {
  /** Undefined: the system of the client that signs. */
  readonly systemCode?: string | undefined;
  readonly repushPath: string;
  readonly orphans: boolean;
  readonly overwriteNewer: boolean;
  /** Type for matters that are not in the ledger and whose line states no type. */
  readonly matterType?: string | undefined;
  /** Start of the read of the file, epoch milliseconds. */
  readonly startedAt: number;
  /** Maximum rows of the table. */
  readonly limit: number;
}

/** @throws CommandFailure, and system errors of files; then no re-push file is left */
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
    problems.report();
    note(
      tool.stderr,
      'The service would reject the lines above: correct them, or import the users.',
    );
  }
  return summarize(tally.counts(), source, { repushPath, elapsedMs: Date.now() - startedAt });
}

interface Comparing {
  readonly source: Source;
  readonly job: FileJob;
  readonly tool: Tool;
  readonly ledger: MatterSource;
  readonly tally: DifferenceTally;
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

/** @returns a function that adds lines to the re-push file, and records the lines that the service would reject */
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

function showTally(tally: DifferenceTally, source: Source, { stderr }: Tool): () => void {
  const state = () => {
    const { compared, equal } = tally.counts();
    return { done: compared, note: `${compared - equal} differ` };
  };
  return showProgress({ stderr, total: source.size, things: 'matters', state });
}

function deadlineIn({ settings }: Tool): (instant: number) => string {
  const timeZone = settings.timeZone();
  return (instant) => formatUnambiguous(instant, timeZone);
}
