/**
 * Data of successful responses that many requests get, such as a price list. An operation returns the same object until the data change, so
 * its text is written once.
 */
const shared = new WeakSet<object>();

/** Declares that data are never modified and are returned again. */
export function shareData<Data extends object>(data: Data): Data {
  shared.add(data);
  return data;
}

export function isSharedData(data: unknown): data is object {
  return typeof data === 'object' && data !== null && shared.has(data);
}
