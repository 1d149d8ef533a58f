/** The form that fixes a push has an input that suits each field; the JSON editor fixes the others. */
import { matterModel } from '../../src/storage/ledger/matters';
import { axeFindings } from '../support/axe';
import { fillIn, press, shows } from '../support/console-page';
import { inConsole } from '../support/console-rig';

interface Area {
  readonly value: string;
  readonly selectionStart: number;
  readonly selectionEnd: number;
}

inConsole('the inputs of the form that fixes a push', {}, ({ service, open }) => {
  const editorOf = (requestId: string) => open(`#/push?id=${requestId}&fix=1&lang=en`, '#fix-body');
  const inLedger = (externalId: string) => matterModel(service().db).findOne({ externalId }).lean();
  const at = (place: string) => `.fix [data-field="${place}"]`;

  test('fix a number, a truth value, a role, a kind and a time', async () => {
    const { requestId } = await service().push('upsert', {
      ...{ externalId: 'FORM-1', matterType: 'TASK', title: 7, deadlineAt: 'tomorrow' },
      ...{ replaceParties: 'yes', parties: [{ username: 'alice', partyRole: 'BOSS' }] },
    });
    const page = await editorOf(requestId);
    await page.waitForSelector(at('title'));
    await press(page, `${at('title')} + button`);
    await page.select(at('matterType'), '"TODO"');
    await page.select(at('replaceParties'), 'true');
    await page.select(at('parties[0].partyRole'), '"ASSIGNEE"');
    await fillIn(page, at('deadlineAt'), '2027-01-02T03:04:05');
    expect(await axeFindings(page)).toEqual([]);
    await press(page, '.fix button[type="submit"]');
    await shows(page, 'The push is valid. Resend it now.', '.fix');
    await press(page, '.fix button.main');
    await shows(page, 'Resent. The ledger has the new data.', '.fix');
    expect(await inLedger('FORM-1')).toMatchObject({
      ...{ title: '7', matterType: 'TODO', deadlineAt: new Date('2027-01-02T03:04:05+08:00') },
      parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }],
    });
  });

  test('lead to the JSON editor for a list that is none, with the field selected', async () => {
    const { requestId } = await service().push('upsert', {
      ...{ externalId: 'FORM-2', matterType: 'TODO', title: ' ', parties: 'alice' },
    });
    const page = await editorOf(requestId);
    await page.waitForSelector('.advanced:not([open])');
    await press(page, at('parties'));
    await page.waitForSelector('.advanced[open]');
    const selected = await page.$eval('#fix-body', (element) => {
      const { value, selectionStart, selectionEnd } = element as unknown as Area;
      return value.slice(selectionStart, selectionEnd);
    });
    expect(selected).toBe('"parties": "alice"');
  });

  return undefined;
});
