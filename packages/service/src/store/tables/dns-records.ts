export interface DnsRecordsTable {
  domain: string;
  /** Empty for the domain itself. */
  sub: string;
  type: string;
  data: string;
  /** Milliseconds. */
  changed: number;
}
