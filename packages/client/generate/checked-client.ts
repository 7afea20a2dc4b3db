/**
 * Has each generated function check that it got a client, because JavaScript has no compiler that asks for one. `openapi-ts` has no option for it.
 *
 * @param functions The text of `sdk.gen.ts`.
 */
export function withCheckedClient(functions: string): string {
  return functions
    .replace(/^import .*\bClient,.* from ('.*');$/m, '$&\nimport { checkedClient } from $1;')
    .replaceAll('options.client.', 'checkedClient(options).');
}
