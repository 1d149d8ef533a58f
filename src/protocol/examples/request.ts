/** Values that the examples share. */

export const EXAMPLE_TIME = Date.UTC(2026, 10, 21, 13, 52, 1, 570);
export const EXAMPLE_REQUEST_ID = '6b01a201c4a79446377b7ed1';
export const EXAMPLE_MATTER_ID = '382528584385822720';
export const EXAMPLE_EXTERNAL_ID = 'PR-2026-001';
