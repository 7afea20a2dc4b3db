/** Connection strings with several hosts, as libpq takes them. The driver `pg` takes one host. */

/** The parts of a connection string of PostgreSQL. */
export interface DatabaseAddress {
  readonly user: string;
  readonly database: string;
  /** Host and port of each server, in their order. */
  readonly hosts: readonly string[];
  /** A connection string for each host. */
  readonly urls: readonly string[];
  /** The kind of session that the connection string requires (`target_session_attrs`). Undefined if it requires none. */
  readonly targetSession: string | undefined;
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(\/.*)$/i;

/** Reads a connection string such as postgres://user:password@one:5432,two:5432/database; undefined if it is not one. */
export function readDatabaseUrl(url: string): DatabaseAddress | undefined {
  const [, start = '', named = '', tail = ''] = PARTS.exec(url) ?? [];
  const [authorities, rest] = named === '' ? hostInQuery(tail) : [named, tail];
  const urls = authorities.split(',').map((host) => `${start}${host}${rest}`);
  const parsed = urls.flatMap((text) => (URL.canParse(text) ? [new URL(text)] : []));
  const [first] = parsed;
  if (!first || parsed.length < urls.length || parsed.some(({ hostname }) => hostname === '')) return undefined;
  if (!/^\/[^/]+$/.test(first.pathname)) return undefined;
  return {
    user: decodeURIComponent(first.username),
    database: decodeURIComponent(first.pathname.slice(1)),
    hosts: parsed.map(({ host }) => host),
    urls,
    targetSession: first.searchParams.get('target_session_attrs') ?? undefined,
  };
}

/** The host and port in the query, as libpq takes them: `/database?host=/folder&port=5433` for a socket in a folder. */
function hostInQuery(tail: string): readonly [authority: string, rest: string] {
  const [path = '', query = ''] = tail.split('?', 2);
  const parameters = new URLSearchParams(query);
  const [host, port] = [parameters.get('host') ?? '', parameters.get('port')];
  parameters.delete('host');
  parameters.delete('port');
  const rest = parameters.size === 0 ? path : `${path}?${parameters}`;
  return [`${encodeURIComponent(host)}${host !== '' && port !== null ? `:${port}` : ''}`, rest];
}
