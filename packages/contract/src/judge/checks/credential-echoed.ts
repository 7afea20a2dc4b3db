import { maskSecrets } from '../../document/secrets.ts';
import { secretsOfCredential, credentialOf } from '../../exchange/credential.ts';
import { jsonOf } from '../../exchange/exchange.ts';
import type { Check, ResponseContext } from '../check.ts';

export const credentialEchoed: Check = {
  id: 'credential-echoed',
  claim: 'No response contains the credential of its request.',
  example: 'The request has `Authorization: Bearer abc…`, and an error message repeats `abc…`.',
  judges:
    'Searches the body and the headers of the response for the key, token or password of the request. Properties that the document marks as secret may contain it.',
  client: 'Logs and caches of responses contain your key.',
  undescribed: 'also',
  applies: ({ security }) => security !== undefined,
  checkResponse(context) {
    const { exchange } = context;
    if (!exchange.echoesCredential || isMarkedSecret(context)) return [];
    return [
      {
        pointer: '',
        verdict: 'violation',
        message: 'the response contains the credential of the request',
        expected: 'a response without the credential',
        observed: 'the credential',
        at: `${exchange.operation.pointer}/responses`,
        rule: 'echoed',
        cause: 'echoed',
        assertion: { kind: 'body', is: 'without-key' },
      },
    ];
  },
};

/** Whether the credential is only in properties that the document marks as secret. */
function isMarkedSecret({ document, exchange, response }: ResponseContext): boolean {
  const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
  if (pointer === undefined || exchange.body.kind !== 'json') return false;
  const texts = [JSON.stringify(maskSecrets(document, pointer, exchange.body.value)), ...Object.values(exchange.headers)];
  const secrets = (exchange.operation.security?.keys ?? []).flatMap((key) => {
    const credential = credentialOf(key, exchange.sent);
    return credential === undefined ? [] : secretsOfCredential(key, credential);
  });
  return secrets.every((secret) => !texts.some((text) => text.includes(secret)));
}
