/** A variable of the environment. Undefined where there is none, such as in a browser. */
export function environmentVariable(name: string): string | undefined {
  const process: { env?: Record<string, string | undefined> } | undefined = Reflect.get(globalThis, 'process');
  try {
    return process?.env?.[name];
  } catch {
    // Deno throws if the program may not read its environment.
    return undefined;
  }
}
