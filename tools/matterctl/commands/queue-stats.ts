import type { Command } from 'commander';
import { findStuck, type StuckReport } from '../../../src/queue/inspect/stuck';
import type { PushesView } from '../../../src/queue/inspect/view';
import { hottest, type WaitingClient } from '../../../src/queue/inspect/waiting-tally';
import { withJson } from '../option-values';
import { type Cell, printFields, printJson, printLine, printTable } from '../print';
import { age, GROUP_HEAD, groupRow, jobState, printCut, printStuck } from '../queue-cells';
import type { Tool } from '../tool';

/** Maximum rows of a table, so that the output fits on one screen. */
const TOP = 5;
const PARTITION_HEAD = ['PARTITION', 'WAITING', 'OLDEST', 'JOB', 'FOR'];
const CLIENT_HEAD = ['CLIENT', 'WAITING', 'OLDEST'];

/** `queue stats` prints the state of the queue on one screen. */
export function addQueueStats(parent: Command, tool: Tool): void {
  withJson(
    parent
      .command('stats')
      .description(
        'how much waits, for how long, for which clients and keys; which jobs are stuck',
      ),
  ).action(async ({ json }: { readonly json?: boolean }) => {
    const { withQueueView } = await import('../queue-view.js');
    const { report, pushes } = await withQueueView(tool, async (view) => {
      const report = await findStuck(view.partitions);
      return { report, pushes: await view.pushes() };
    });
    if (json) await printJson(tool.stdout, toStats(report, pushes));
    else await printScreen(tool, report, pushes);
    printStuck(tool, report.stuck);
    printCut(tool, pushes.cutPartitions);
  });
}

function toStats(
  { partitions, stuck }: StuckReport,
  { groups, clients, cutPartitions }: PushesView,
) {
  const ages = partitions.flatMap(({ oldestMs }) => oldestMs ?? []);
  return {
    waiting: partitions.reduce((sum, { waiting }) => sum + waiting, 0),
    oldestMs: ages.length > 0 ? Math.max(...ages) : null,
    stuck,
    partitions,
    clients,
    hottest: hottest(groups, TOP),
    cutPartitions,
  };
}

async function printScreen(tool: Tool, report: StuckReport, pushes: PushesView): Promise<void> {
  const { stdout } = tool;
  const stats = toStats(report, pushes);
  const gap = () => printLine(stdout, '');
  await printFields(stdout, {
    waiting: stats.waiting,
    oldest: age(stats.oldestMs),
    'stuck jobs': stats.stuck.length,
  });
  await gap();
  const partitions = stats.partitions.map((view): Cell[] => {
    const { partition, waiting, oldestMs, job } = view;
    return [
      partition,
      waiting,
      age(oldestMs),
      jobState(view, stats.stuck),
      age(job?.forMs ?? null),
    ];
  });
  await printTable(stdout, PARTITION_HEAD, partitions);
  if (stats.clients.length === 0) return;
  await gap();
  await printTable(stdout, CLIENT_HEAD, stats.clients.slice(0, TOP).map(clientRow));
  await gap();
  await printTable(stdout, GROUP_HEAD, stats.hottest.map(groupRow));
}

const clientRow = ({ clientId, waiting, oldestMs }: WaitingClient): Cell[] => [
  clientId,
  waiting,
  age(oldestMs),
];
