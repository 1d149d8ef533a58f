/**
 * A job that is scheduled while its partition's job is active is forgotten, and the sweep (its
 * understudy) does not find the partition either.
 */
import { Queue } from 'bullmq';
import './sweep';
import { replace } from './replace';

replace(
  Queue.prototype,
  'addBulk',
  (original) =>
    function (this: Queue, jobs) {
      const forgetful = jobs.map((job) => ({
        ...job,
        opts: { ...job.opts, deduplication: { id: job.opts?.deduplication?.id ?? '' } },
      }));
      return original.call(this, forgetful);
    },
);
