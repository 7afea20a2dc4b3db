/** The code of Markdown files, as their readers would run it. */
import { readFileSync } from 'node:fs';

export interface Block {
  /** The first word after the backticks, such as `ts`. */
  readonly language: string;
  /** The words after it, such as `start`. */
  readonly marker: string;
  readonly code: string;
  readonly line: number;
}

const FENCE = /^```(\w+)(?: (\w+))?\n([^]*?)^```$/gm;

export function blocksOf(file: string): Block[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(FENCE)].map(({ 1: language = '', 2: marker = '', 3: code = '', index }) => ({
    language,
    marker,
    code,
    line: text.slice(0, index).split('\n').length,
  }));
}

/** The blocks of a language and a marker, one after the other, as one file. */
export function programOf(blocks: readonly Block[], language: string, marker = ''): string {
  return blocks
    .filter((block) => block.language === language && block.marker === marker)
    .map(({ code }) => code)
    .join('\n');
}

/**
 * The outputs that a file shows, as one pattern: its lines in their order, other lines between them, and `…` for any text. Outputs with
 * the marker `start` are left out, because they belong to blocks that no test types.
 */
export function shownOutput(blocks: readonly Block[], withAddresses: (text: string) => string): RegExp {
  function escape(text: string): string {
    return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  }
  const lines = blocks
    .filter(({ language, marker }) => language === 'text' && marker === '')
    .flatMap(({ code }) => code.split('\n').filter((line) => line.trim() !== ''))
    .map((line) => (line === '…' ? '' : escape(withAddresses(line)).replaceAll('…', '.+')));
  return new RegExp(lines.join('[^]*?'));
}
