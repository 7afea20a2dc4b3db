/** The data of records as PowerDNS writes them: zone file format with absolute names. */
import { textParts } from '../dns.ts';

/** The number of the word that is a name, counted from 0, in the data of each type. */
const NAME_AT: Readonly<Record<string, number>> = {
  ALIAS: 0,
  CNAME: 0,
  DNAME: 0,
  HTTPS: 1,
  MX: 1,
  NAPTR: 5,
  NS: 0,
  PTR: 0,
  SRV: 3,
  SVCB: 1,
};

/** A name with its final dot. */
export function absolute(name: string): string {
  return name.endsWith('.') ? name : `${name}.`;
}

/** The content of a record in the API of PowerDNS. */
export function contentOf(type: string, data: string): string {
  if (type === 'TXT') return quoted(data);
  const at = NAME_AT[type];
  if (at === undefined) return data;
  // A word in quotation marks can contain blanks.
  const words = data.matchAll(/ *((?:[^ "\\]|\\.|"(?:[^"\\]|\\.)*")+)/gy);
  return Array.from(words, ([, word = '']) => word)
    .map((word, index) => (index === at ? absolute(word) : parameterOf(type, word)))
    .join(' ');
}

/** A parameter of an SVCB or HTTPS record. PowerDNS 4.7 refuses quotation marks in the place where it writes none, and unknown names. */
function parameterOf(type: string, word: string): string {
  if (type !== 'SVCB' && type !== 'HTTPS') return word;
  return word
    .replace(/^alpn="(.*)"$/, 'alpn=$1')
    .replace(/^ech=(.*)$/, 'ech="$1"')
    .replace(/^(mandatory=.*)\bdohpath\b/, '$1key7')
    .replace(/^dohpath(?==)/, 'key7');
}

/** A text in parts, in which quotes, backslashes and everything beyond printable ASCII are escaped (RFC 1035, 5.1). */
function quoted(text: string): string {
  return textParts(text)
    .map((part) => `"${[...part].map(escaped).join('')}"`)
    .join(' ');
}

function escaped(byte: number): string {
  const character = String.fromCodePoint(byte);
  if (character === '"' || character === '\\') return `\\${character}`;
  return byte >= 0x20 && byte <= 0x7e ? character : `\\${String(byte).padStart(3, '0')}`;
}
