import type { FailedAuthentications, OperatorToken, Verifier } from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';

import { pagesOf } from '../api/queries.ts';
import { useMayUse, useSession } from '../app/session.ts';
import { ActionButton, ActionMenu } from '../ui/Actions.tsx';
import { Instant, PageHead, Section, Status, Text } from '../ui/controls.tsx';
import { DataTable } from '../ui/DataTable.tsx';
import type { Column } from '../ui/DataTable.tsx';
import { useRows } from '../ui/list.tsx';

/** Who may use the operator API: tokens, third parties, and failed attempts. */
export function Access() {
  const { name, scopes } = useSession();
  const mayListTokens = useMayUse('listOperatorTokens');
  return (
    <>
      <PageHead title="Access">
        <ActionButton id="verifyOtp" />
      </PageHead>
      <div className="page">
        <p>
          You are signed in as <strong>{name}</strong> with {scopes.length === 1 ? 'the scope' : 'the scopes'} {scopes.join(', ')}.
        </p>
        {mayListTokens && <Tokens />}
        <Verifiers />
        <FailedAttempts />
      </div>
    </>
  );
}

const TOKENS: readonly Column<OperatorToken>[] = [
  { header: 'Token', cell: ({ name }) => <Text value={name} /> },
  { header: 'State', width: '6.5rem', cell: ({ revoked }) => <Status value={revoked === null ? 'valid' : 'revoked'} /> },
  { header: 'Scopes', cell: ({ scopes }) => <Text value={scopes.join(', ')} /> },
  { header: 'Expires', width: '12rem', wide: true, cell: ({ valid_until }) => <Instant at={valid_until} /> },
];

function Tokens() {
  const tokens = useRows(useInfiniteQuery(pagesOf('listOperatorTokens', {})));
  return (
    <Section title="Operator tokens" actions={<ActionButton id="createOperatorToken" />}>
      <DataTable
        caption="Operator tokens"
        columns={TOKENS}
        {...tokens}
        rowKey={({ id }) => id}
        actions={({ id, name, revoked }) => {
          const common = { path: { operator_token_id: id }, target: name };
          return (
            <ActionMenu
              of={name}
              actions={
                revoked === null
                  ? [
                      { id: 'rotateOperatorToken', ...common },
                      { id: 'revokeOperatorToken', ...common },
                    ]
                  : []
              }
            />
          );
        }}
        empty={{
          title: 'Only the token in the configuration exists',
          text: 'Create one for each person and program, with the scopes that it needs.',
        }}
      />
    </Section>
  );
}

const VERIFIERS: readonly Column<Verifier>[] = [
  { header: 'Third party', cell: ({ name }) => <Text value={name} /> },
  { header: 'State', width: '6.5rem', cell: ({ revoked }) => <Status value={revoked === null ? 'valid' : 'revoked'} /> },
  { header: 'Created', width: '12rem', wide: true, cell: ({ created }) => <Instant at={created} /> },
];

function Verifiers() {
  const verifiers = useRows(useInfiniteQuery(pagesOf('listVerifiers', {})));
  return (
    <Section title="Third parties that verify one-time codes" actions={<ActionButton id="registerVerifier" />}>
      <DataTable
        caption="Third parties"
        columns={VERIFIERS}
        {...verifiers}
        rowKey={({ id }) => id}
        actions={({ id, name, revoked }) => (
          <ActionMenu of={name} actions={revoked === null ? [{ id: 'revokeVerifier', path: { verifier_id: id }, target: name }] : []} />
        )}
        empty={{ title: 'There is no third party', text: 'Register one, such as a support desk, to let it verify one-time codes.' }}
      />
    </Section>
  );
}

const FAILED: readonly Column<FailedAuthentications>[] = [
  { header: 'Minute (UTC)', width: '12rem', cell: ({ minute }) => <Instant at={minute} /> },
  { header: 'API', width: '7rem', wide: true, cell: ({ api }) => api },
  { header: 'Network', cell: ({ network }) => <code>{network}</code> },
  { header: 'Attempts', width: '6rem', align: 'right', cell: ({ count }) => count },
];

function FailedAttempts() {
  const failed = useRows(useInfiniteQuery(pagesOf('listFailedAuthentications', {})));
  return (
    <Section title="Requests without a valid key or token">
      <DataTable
        caption="Requests without a valid key or token"
        columns={FAILED}
        {...failed}
        rowKey={({ minute, api, network }) => `${minute} ${api} ${network}`}
        empty={{ title: 'None', text: 'Every request had a valid key or token.' }}
      />
    </Section>
  );
}
