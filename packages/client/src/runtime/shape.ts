/** Converts every list in a response to an array, whatever the API wraps it in. */
import type { ListInvoicesSuccess } from '../generated/types.gen.ts';
import { isRecord } from './json.ts';
import type { ListShape, Operation } from './operation.ts';
import type { ApiResponse } from './request.ts';

/** The `data` of a successful response, as the client returns it. */
export type DataOf<Responses> = Responses[keyof Responses] extends { readonly data: infer Data } ? Shaped<Data> : unknown;

type Shaped<Data> = Data extends { readonly list: infer List }
  ? [keyof Data] extends ['list']
    ? List
    : Data
  : Data extends ListInvoicesSuccess['data']
    ? KeyedList<Data, 'invoiceID'>
    : Data;

/** The response with its list as an array. */
export function shape<R extends ApiResponse<unknown>>({ list }: Operation, response: R): R {
  return list ? { ...response, data: arrayOf(list, response.data) } : response;
}

function arrayOf(list: ListShape, data: unknown): unknown {
  if (!isRecord(data)) return data;
  if ('property' in list) return data[list.property];
  return Object.entries(data).map(([key, item]) => (isRecord(item) ? { [list.keyedBy]: key, ...item } : item));
}

/** The items of a map as a list, each with its key. */
export type KeyedList<Map, Key extends string> = (Map[keyof Map] & { [Name in Key]: string })[];
