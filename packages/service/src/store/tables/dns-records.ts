export interface DnsRecordsTable {
  /** UUID. */
  id: string;
  domain: string;
  /** Empty for the domain itself. */
  sub: string;
  type: string;
  /** Records of the same name and type have different data. */
  data: string;
  /** Seconds. The same for all records of a name and type. */
  ttl: number;
  /** Milliseconds. */
  changed: number;
}
