import { jsonOf } from '../exchange.ts';
import type { Check, Subject } from '../check.ts';
import { secretsOfCredential, credentialOf } from '../credential.ts';
import { maskSecrets } from '../secrets.ts';

export const credentialEchoed: Check = {
  id: 'credential-echoed',
  claim: 'No answer contains the credential of its request.',
  judges:
    'Looks for the key, token or password of the request in the body and the headers of the answer. Properties that the document marks as secret may have it.',
  client: 'Whatever logs or caches answers now holds your key.',
  undescribed: 'too',
  applies: ({ security }) => security !== undefined,
  look(subject) {
    const { answer } = subject;
    if (!answer.echoesCredential || isMarkedSecret(subject)) return [];
    return [
      {
        pointer: '',
        verdict: 'violation',
        message: 'the answer contains the credential of the request',
        expected: 'an answer without it',
        observed: 'the credential',
        at: `${answer.operation.pointer}/responses`,
        rule: 'echoed',
        cause: 'echoed',
      },
    ];
  },
  defect: {
    says: 'A header of the answer repeats the API key.',
    tamper: ({ outcome, operation, answer, credential }) =>
      outcome === 'success' && operation?.readOnly === true && credential !== undefined
        ? { ...answer, headers: { ...answer.headers, etag: `"${credential}"` } }
        : undefined,
  },
};

/** Whether the credential stands only where the document says that a secret is. */
function isMarkedSecret({ document, answer, response }: Subject): boolean {
  const { security } = answer.operation;
  const credential = security === undefined ? undefined : credentialOf(security, answer.sent);
  const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
  if (security === undefined || credential === undefined || pointer === undefined || answer.body.kind !== 'json') return false;
  const texts = [JSON.stringify(maskSecrets(document, pointer, answer.body.value)), ...Object.values(answer.headers)];
  return secretsOfCredential(security, credential).every((secret) => !texts.some((text) => text.includes(secret)));
}
