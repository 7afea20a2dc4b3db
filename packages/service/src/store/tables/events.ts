import type { Generated } from 'kysely';

/** Events that are not in the feed yet. Triggers add them, in the transaction of the change. */
export interface EventInboxTable {
  id: Generated<number>;
  account_id: string;
  type: string;
  /** The subject of the event, such as `vm/70418`. */
  subject: string;
  /** JSON: the facts of the event, as they are in the store. */
  facts: string;
  /** The only webhook that receives it. Null for all. */
  webhook_id: string | null;
}

/** The feed of an account. */
export interface EventFeedsTable {
  account_id: string;
  /** The position of its last event. */
  last: number;
  /** The position of the last event that was deleted. 0 if none was. */
  deleted: number;
  /** 1 if its account was erased, and its events are being deleted in steps. */
  forgotten: Generated<number>;
}

/** Events of the last 30 days. */
export interface EventsTable {
  /** UUID, also the `webhook-id` of its deliveries. */
  id: string;
  account_id: string;
  /** 1, 2, 3, … for each account, in the order in which they can be read. */
  position: number;
  type: string;
  subject: string;
  /** JSON, as the feed and the deliveries show it. */
  data: string;
  /** Milliseconds: when it came into the feed. */
  entered: number;
}

/** The URLs that receive the events of an account. */
export interface WebhooksTable {
  id: string;
  account_id: string;
  url: string;
  description: string;
  /** JSON: the types of its events. Null for all. */
  types: string | null;
  /** 0 while nothing is sent. Its deliveries wait. */
  enabled: number;
  /** Why the service disabled it. Null if the service did not. */
  disabled_reason: string | null;
  /** Milliseconds: the first failure since the last success. Null if there was none. */
  failing_since: number | null;
  /** The number of its last delivery. */
  last_delivery: number;
  /** Milliseconds. */
  created: number;
  /** 1 if the account has removed it, and its deliveries are being deleted in steps. */
  removed: Generated<number>;
  /** 1 while it is being removed, replayed or enabled in steps. */
  has_steps: Generated<number>;
  /** The position up to which a replay has added deliveries. Null if none is in progress. */
  replay_after: Generated<number | null>;
  /** The position of the last event of the replay. */
  replay_until: Generated<number | null>;
  /** The number of its next delivery. */
  replay_number: Generated<number | null>;
  /** The event up to which its waiting deliveries were made due again. Null if none wait for that. Nothing is sent meanwhile. */
  resume_after: Generated<string | null>;
  /** The number of the delivery that confirms the URL: nothing else is sent until it has arrived. 0 if it was not added yet. Null once confirmed. */
  confirming: Generated<number | null>;
}

/** The secrets that deliveries are signed with. A webhook has two during a rotation. */
export interface WebhookSecretsTable {
  id: string;
  webhook_id: string;
  /** Encrypted with the service's secret. */
  sealed_secret: string;
  /** Milliseconds: when a rotated secret ends. Null for the current one. */
  expires: number | null;
}

/** Events that a webhook receives, has received, or could not receive. */
export interface WebhookDeliveriesTable {
  webhook_id: string;
  /** 1, 2, 3, … for each webhook. Those of a subject are sent in this order. */
  number: number;
  event_id: string;
  /** That of the event. */
  subject: string;
  state: 'pending' | 'delivered' | 'failed';
  /** Since the webhook was last enabled. */
  attempts: number;
  /** Milliseconds. Null before the first attempt since the webhook was last enabled. */
  first_attempt: number | null;
  last_attempt: number | null;
  /** The HTTP status of the last attempt. Null if there was no response. */
  status: number | null;
  /** Why the last attempt failed. Null if it did not. */
  error: string | null;
  /** Milliseconds that the last attempt took. */
  duration: number | null;
  /** Milliseconds: the earliest time of the next attempt. */
  next_attempt: number;
  /** Milliseconds: until then, the instance with the claim is sending it. */
  claimed_until: number;
  claim: string | null;
  /** Milliseconds. */
  created: number;
  /** 1 while it waits for an earlier delivery of the subject. Triggers keep it. */
  blocked: Generated<number>;
}
