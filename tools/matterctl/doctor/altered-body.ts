/** Does the body arrive as it was sent? Gateways that read JSON like to write it anew. */
import { type Check, failed, passed } from './check';
import { judge } from './judge';
import { type Access, callSigned } from './service';

/** What is left alone by everybody who passes bytes on. */
const PROBES: readonly (readonly [what: string, body: string])[] = [
  ['nothing special', '{"externalIds":["doctor"]}'],
  ['white space', '{ "externalIds" : [ "doctor" ],\r\n\t"note": "" }\n'],
  ['letters', '{"externalIds":["doctor"],"note":"审批 é 🚀"}'],
  ['escapes', '{"externalIds":["doctor"],"note":"\\u5ba1\\/ <&> \' + ="}'],
  ['numbers', '{"externalIds":["doctor"],"note":[1.0,1e3,12345678901234567890]}'],
  ['the order of fields', '{"b":1,"externalIds":["doctor"],"a":null,"b":2}'],
  ['200 KiB', `{"externalIds":["doctor"],"note":"${'x'.repeat(200 * 1024)}"}`],
];

export async function alteredBody(access: Access, path: string): Promise<Check> {
  const altered: string[] = [];
  for (const [what, body] of PROBES) {
    const heard = await callSigned(access, path, body);
    if (heard.envelope?.code === 0) continue;
    // Whatever it says of the client or the headers: with the bodies before this one they were right.
    if (heard.envelope?.reason !== 'SIGNATURE_MISMATCH') return notWith(what, judge(heard, 'body'));
    altered.push(what);
  }
  if (altered.length === 0) return passed('body', 'it arrives byte for byte');
  const fix =
    'Let the gateway pass bodies on as bytes: no rewriting of JSON, no other character set.';
  return failed('body', `it is changed on the way: ${altered.join(', ')}`, fix);
}

const notWith = (what: string, { detail, fix = '' }: Check): Check =>
  failed('body', `with ${what} in it: ${detail}`, fix);
