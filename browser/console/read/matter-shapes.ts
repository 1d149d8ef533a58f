/** The answers about matters, with the fields that the console reads (docs/openapi.json). */

export interface Party {
  readonly username: string;
  readonly partyRole: 'ASSIGNEE' | 'CC' | 'RECIPIENT';
  readonly displayName: string;
  readonly unread: boolean;
}

export interface Matter {
  readonly systemCode: string;
  readonly externalId: string;
  readonly matterId: string;
  readonly matterType: 'TODO' | 'NOTICE' | 'ALERT' | 'REMIND';
  /** Absent, like the other texts, if the key has no access to bodies. */
  readonly title?: string;
  readonly summary?: string | null;
  readonly content?: string | null;
  readonly pcUrl: string | null;
  readonly mobileUrl: string | null;
  readonly bizType: string | null;
  readonly priority: string | null;
  readonly bizStatus: string;
  readonly phase: 'DRAFT' | 'OPEN' | 'CONCLUDED' | 'DELETED';
  readonly deadlineAt: string | null;
  readonly initiatorExtId: string | null;
  readonly initiatorUsername: string | null;
  readonly externalStatusCode: string | null;
  readonly externalStatusLabel: string | null;
  readonly sourceUpdatedAt: string | null;
  readonly payloadJson?: string | null;
  readonly parties: readonly Party[];
  readonly deleted: boolean;
  readonly deletedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly revision: number;
}

export interface MattersPage {
  readonly matters: readonly Matter[];
  readonly nextCursor: string | null;
  readonly examined?: number;
}
