import type { MediaType, Operation, OperationResponse } from './operation.ts';
import { mediaTypeName } from './operations.ts';

/** What came back, read once; knows nothing of what was expected. */
export interface Answer {
  readonly operation: Operation;
  readonly status: number;
  /** Media type in lower case without parameters; empty where the header is missing. */
  readonly mediaType: string;
  readonly body: AnswerBody;
}

export type AnswerBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'json'; readonly value: unknown }
  /** Not JSON, whatever the header says; `problem` says why, without the text itself. */
  | { readonly kind: 'other'; readonly problem: string };

/** Reads a whole answer. */
export async function readAnswer(operation: Operation, response: Response): Promise<Answer> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  return {
    operation,
    status: response.status,
    mediaType: mediaTypeName(response.headers.get('content-type') ?? ''),
    body: readBody(bytes),
  };
}

function readBody(bytes: Uint8Array): AnswerBody {
  if (bytes.length === 0) return { kind: 'empty' };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { kind: 'other', problem: `${bytes.length} bytes that are not UTF-8` };
  }
  try {
    const value: unknown = JSON.parse(text);
    return { kind: 'json', value };
  } catch {
    return {
      kind: 'other',
      problem: `${text.trimStart().startsWith('<') ? 'markup' : 'text'} of ${text.length} characters that is not JSON`,
    };
  }
}

/** What a response documents for a media type, by exact name or range. */
export function mediaFor(response: OperationResponse, mediaType: string): MediaType | undefined {
  const range = `${mediaType.split('/', 1)[0] ?? ''}/*`;
  return response.content[mediaType] ?? response.content[range] ?? response.content['*/*'];
}

/** The JSON that a response documents, by which a body is judged even when it is labelled as something else. */
export function jsonOf(response: OperationResponse): MediaType | undefined {
  for (const [type, media] of Object.entries(response.content)) if (type === 'application/json' || type.endsWith('+json')) return media;
  return undefined;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
