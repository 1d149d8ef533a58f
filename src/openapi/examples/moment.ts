/** What all examples share: one request at one moment. */

export const MOMENT = Date.UTC(2026, 10, 21, 13, 52, 1, 570);
export const REQUEST_ID = '6b01a201c4a79446377b7ed1';
export const MATTER_ID = '382528584385822720';
export const EXTERNAL_ID = 'PR-2026-001';
