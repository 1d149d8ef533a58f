/** The console's pushes: what views, filters and the search box ask for. */
import { REASONS } from '../../../browser/console/read/reasons';
import { questionsOf, reasonsIn } from '../../../browser/console/read/views';
import { NOW } from '../../support/builders';

const ZONE = 'Asia/Shanghai';
const HEX = '65F0a1b2c3d4e5f601234567';
const window = { from: '2024-06-01T00:00' };

describe('a search and filters', () => {
  test.each([
    [{}, [window]],
    [{ view: 'failed', operation: 'status' }, [{ failed: true, operation: 'status', ...window }]],
    [
      { view: 'failed', reason: 'RATE_LIMITED' },
      [{ failed: true, reason: 'RATE_LIMITED', ...window }],
    ],
    [{ q: ' A-1 ' }, [{ externalId: 'A-1' }, { idempotencyKey: 'A-1' }]],
    [{ q: 'x'.repeat(129) }, [{ idempotencyKey: 'x'.repeat(129) }]],
    // It may be the id of a request, or of a matter, or a key.
    [{ q: HEX }, [{ requestId: HEX }, { externalId: HEX }, { idempotencyKey: HEX }]],
  ])('of %j ask for %j', (params, questions) => {
    expect(questionsOf(params, ZONE, NOW)).toEqual(questions);
  });

  test.each([
    ['refused', 'SIGNATURE_REUSED', 'SIGNATURE_REUSED'],
    // What no push of the view has does not put others in its place.
    ['refused', 'VALIDATION_FAILED', reasonsIn('refused')],
    ['late', 'VALIDATION_FAILED', 'CONFIRMATION_TIMEOUT'],
    ['stale', 'VALIDATION_FAILED', undefined],
    ['replayed', 'VALIDATION_FAILED', undefined],
    ['all', 'VALIDATION_FAILED', 'VALIDATION_FAILED'],
  ])('in the view %s, the reason %s asks for %j', (view, reason, asked) => {
    expect(questionsOf({ view, reason }, ZONE, NOW).map((it) => it.reason)).toEqual([asked]);
  });

  test('a view can be narrowed to the reasons that are in it', () => {
    expect(reasonsIn('late')).toEqual(['CONFIRMATION_TIMEOUT']);
    expect(reasonsIn('refused')).toHaveLength(4);
    expect(reasonsIn('stale')).toEqual([]);
    expect(reasonsIn('failed')).toEqual(Object.keys(REASONS));
  });
});
