/** A live service bills real resellers. In a sandbox, they test without spending money. */
export type Mode = 'sandbox' | 'live';
