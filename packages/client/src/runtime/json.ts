/** Undefined where the text is no JSON. */
// oxlint-disable-next-line typescript/no-explicit-any -- what JSON.parse gives
export const parseJson = (text: string): any => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
