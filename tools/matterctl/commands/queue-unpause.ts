import type { Command } from 'commander';
import { withOperator } from '../option-values';
import { printJson, printLine } from '../print';
import type { Tool } from '../tool';
import { type ChangeOptions, withTrail } from '../with-trail';

const ABOUT = `
Matter Push never pauses the whole queue. The API and the dashboards of BullMQ can. While the queue is paused, workers
get no partition jobs and pushes get 503. To pause one client, use "matterctl queue pause".`;

/** `queue unpause` ends a pause of the whole queue that an operator has made with BullMQ. */
export function addQueueUnpause(parent: Command, tool: Tool): void {
  const unpause = parent
    .command('unpause')
    .description('end a pause of the whole queue that somebody made with BullMQ')
    .addHelpText('after', ABOUT);
  withOperator(unpause).action((options: ChangeOptions) => change(options, tool));
}

async function change(options: ChangeOptions, tool: Tool): Promise<void> {
  const { resumeJobQueues } = await import('../queue-view.js');
  const namespace = tool.settings.queue().REDIS_NAMESPACE;
  const action = { command: 'queue unpause', subject: namespace, details: {} };
  const wasPaused = await withTrail(tool, options, action, () => resumeJobQueues(tool));
  const text = wasPaused ? 'the queue is no longer paused' : 'the queue was not paused';
  if (options.json) await printJson(tool.stdout, { wasPaused });
  else await printLine(tool.stdout, text);
}
