/**
 * The answer of a call with each instant as a `Date`. The call keeps its answer as it came: await it for that.
 *
 * @throws TypeError when the answer is not as the document describes it.
 * @throws ResellerError as the call does.
 */
export async function withDates<Answer extends { data: unknown }>(
  call: Promise<unknown>,
  transform: (envelope: unknown) => Promise<Answer>,
): Promise<Answer['data']> {
  const data = structuredClone(await call);
  try {
    return (await transform({ data })).data;
  } catch (cause) {
    throw new TypeError(
      'The answer is not as the document describes it, so that its dates cannot be read. Await the call itself to get it as it came.',
      {
        cause,
      },
    );
  }
}
