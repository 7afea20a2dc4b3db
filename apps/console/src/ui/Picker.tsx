import type {
  Account,
  DedicatedServer,
  Domain,
  HostSystem,
  Invoice,
  MarketItem,
  OperationId,
  OsImage,
  Sale,
  Vm,
} from '@reseller/operator-client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { grouped } from '../api/money.ts';
import { pagesOf } from '../api/queries.ts';
import type { List } from '../document/fields.ts';
import { useRows } from './list.tsx';
import { visible } from './visible.ts';

/** How a person knows an item of a list. An item without a text is not offered. */
const TEXTS = {
  listAccounts: ({ name, erased_at }: Account) => (erased_at === null ? name : undefined),
  listInvoices: ({ id, number, status, unpaid }: Invoice) =>
    status === 'OPEN' ? `${number ?? id}, ${unpaid === null ? 'not issued' : `${grouped(unpaid)} EUR unpaid`}` : undefined,
  listMarketItems: ({ cpu, memory, datacenter, price }: MarketItem) =>
    `${cpu.amount} × ${cpu.type}, ${memory.size} GB, ${datacenter.name}, ${grouped(price)} EUR net`,
  listDedicatedServers: ({ id, ipv4 }: DedicatedServer) => ipv4[0]?.address ?? id,
  listVms: ({ id, hostname, state }: Vm) => (state === 'removed' ? undefined : `${id} ${hostname}`),
  listDomains: ({ name }: Domain) => name,
  listHostSystems: ({ name, displayname }: HostSystem) => `${displayname} (${name})`,
  listOsImages: ({ name, displayname }: OsImage) => `${displayname} (${name})`,
  listSales: ({ title }: Sale) => title,
} satisfies Partial<Record<OperationId, (item: never) => string | undefined>>;

/** With more choices, a filter is above them. */
const FILTER_FROM = 30;

interface Choice {
  readonly value: string;
  readonly text: string;
}

interface Props {
  readonly list: List;
  /** The account that the form is about, if it is known: other accounts' items are not offered. */
  readonly accountId: string | undefined;
  readonly value: string;
  readonly isRequired: boolean;
  readonly onValue: (value: string) => void;
  /** Attributes of the input. */
  readonly common: { readonly id: string; readonly 'aria-describedby': string; readonly 'aria-invalid': boolean };
}

/** Offers the items of a list by their names. */
export function Picker({ list, accountId, value, isRequired, onValue, common }: Props) {
  const [filter, setFilter] = useState('');
  const { rows, isLoading } = useRows(useInfiniteQuery(pagesOf(operationOf(list), {})));
  const choices = rows.flatMap((item) => choiceOf(list, item, accountId));
  const wanted = filter.trim().toLowerCase();
  const shown = choices.filter((choice) => choice.value === value || choice.text.toLowerCase().includes(wanted));
  return (
    <>
      {choices.length >= FILTER_FROM && (
        <input
          type="search"
          aria-label="Filter the choices"
          placeholder="Filter"
          value={filter}
          onChange={({ target }) => setFilter(target.value)}
        />
      )}
      <select {...common} value={value} required={isRequired} aria-busy={isLoading} onChange={({ target }) => onValue(target.value)}>
        <option value="">{isRequired ? 'Choose' : 'None'}</option>
        {value !== '' && choices.every((choice) => choice.value !== value) && <option value={value}>{value}</option>}
        {shown.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {visible(choice.text)}
          </option>
        ))}
      </select>
    </>
  );
}

type ListOperation = keyof typeof TEXTS;

function isListOperation(operation: string): operation is ListOperation {
  return Object.hasOwn(TEXTS, operation);
}

/** Whether a picker offers the items of a list. */
export function hasPicker(list: List): boolean {
  return isListOperation(list.operation);
}

function operationOf({ operation }: List): ListOperation {
  if (!isListOperation(operation)) throw new Error(`The items of ${operation} have no texts for a picker.`);
  return operation;
}

function choiceOf(list: List, item: unknown, accountId: string | undefined): Choice[] {
  const { [list.value]: value, account_id: owner } = Object(item);
  if (accountId !== undefined && accountId !== '' && typeof owner === 'string' && owner !== accountId) return [];
  const text: unknown = Reflect.apply(TEXTS[operationOf(list)], undefined, [item]);
  return typeof text === 'string' ? [{ value: String(value), text }] : [];
}
