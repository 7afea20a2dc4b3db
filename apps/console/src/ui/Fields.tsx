/** The inputs of a form. */
import type { Field } from '../document/fields.ts';
import { unitsFor } from '../document/units.ts';
import { Control } from './Control.tsx';
import { Button } from './controls.tsx';
import { Code } from './Description.tsx';
import { hasText, rowsIn, withoutRow } from './form.ts';
import type { Values } from './form.ts';

export interface FieldsProps {
  readonly fields: readonly Field[];
  readonly values: Values;
  /** Messages by path. */
  readonly errors: ReadonlyMap<string, string>;
  readonly prefix?: string;
  /** The account that the form is about, if it is known. */
  readonly accountId?: string | undefined;
  readonly onValues: (change: (values: Values) => Values) => void;
}

export function Fields({ fields, prefix = '', ...others }: FieldsProps) {
  return fields.map((field) => <OneField key={field.name} field={field} path={`${prefix}${field.name}`} {...others} />);
}

type OneFieldProps = Omit<FieldsProps, 'fields' | 'prefix'> & { readonly field: Field; readonly path: string };

function OneField({ field, path, ...others }: OneFieldProps) {
  const { kind, name, description, fields = [], required, nullable } = field;
  if (kind === 'object' || kind === 'variant') {
    const isOptional = !required || nullable;
    const isLeftOut = isOptional && !hasText(others.values, path);
    const inner = isLeftOut ? fields.map((one) => ({ ...one, required: false })) : fields;
    return (
      <fieldset>
        <legend>{labelOf(name)}</legend>
        <p className="hint">
          <Code text={description} /> {isOptional ? 'Leave its fields empty for none.' : ''}
        </p>
        {kind === 'object' ? <Fields fields={inner} prefix={`${path}.`} {...others} /> : <Variant field={field} path={path} {...others} />}
      </fieldset>
    );
  }
  if (kind === 'rows' || kind === 'map')
    return (
      <fieldset>
        <legend>{labelOf(name)}</legend>
        <p className="hint">
          <Code text={description} />
        </p>
        <Rows field={field} path={path} {...others} />
      </fieldset>
    );
  if (kind === 'lines' && field.values !== undefined) return <Boxes field={field} path={path} {...others} />;
  return <Input field={field} path={path} {...others} />;
}

/** A list of texts that the document enumerates: a box for each. */
function Boxes({ field: { name, description, values: choices = [] }, path, values, errors, onValues }: OneFieldProps) {
  const chosen = new Set((values[path] ?? '').split('\n'));
  const error = errors.get(path);
  function toggle(choice: string, isChosen: boolean): void {
    const next = choices.map(String).filter((one) => (one === choice ? isChosen : chosen.has(one)));
    onValues((before) => ({ ...before, [path]: next.join('\n') }));
  }
  return (
    <fieldset>
      <legend>{labelOf(name)}</legend>
      <p className="hint">
        {error !== undefined && <span className="error">{error}. </span>}
        <Code text={description} />
      </p>
      <div className="boxes">
        {choices.map(String).map((choice) => (
          <label key={choice}>
            <input type="checkbox" checked={chosen.has(choice)} onChange={({ target }) => toggle(choice, target.checked)} /> {choice}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The items of a list of objects, or of an object whose names the person chooses. */
function Rows({ field, path, ...others }: OneFieldProps) {
  const { fields = [], key } = field;
  const { values, onValues } = others;
  const count = rowsIn(values, path);
  const singular = labelOf(field.name).replace(/s$/, '');
  return (
    <>
      {Array.from({ length: count }, (_, index) => {
        const row = `${path}.${index}.`;
        return (
          <div key={index} className="row-fields" role="group" aria-label={`${singular} ${index + 1}`}>
            {key && <OneField field={{ ...key, description: '' }} path={`${row}name`} {...others} />}
            <Fields fields={fields} prefix={key ? `${row}value.` : row} {...others} />
            <Button
              kind="quiet"
              aria-label={`Remove ${singular.toLowerCase()} ${index + 1}`}
              onClick={() => onValues((before) => withoutRow(before, path, index))}
            >
              Remove
            </Button>
          </div>
        );
      })}
      <Button onClick={() => onValues((before) => ({ ...before, [`${path}.rows`]: String(count + 1) }))}>
        {count === 0 ? 'Add' : 'Add another'}
      </Button>
    </>
  );
}

function Variant({ field, path, ...others }: OneFieldProps) {
  const { values, onValues } = others;
  const variants = field.variants ?? [];
  const chosen = variants.find(({ title }) => title === values[`${path}.kind`]) ?? variants[0];
  return (
    <>
      <div className="field">
        <label className="label" htmlFor={`${path}.kind`}>
          Kind
        </label>
        <select
          id={`${path}.kind`}
          value={chosen?.title}
          onChange={({ target }) => onValues((before) => ({ ...before, [`${path}.kind`]: target.value }))}
        >
          {variants.map(({ title }) => (
            <option key={title} value={title}>
              {labelOf(title)}
            </option>
          ))}
        </select>
        <span className="hint">
          <Code text={chosen?.description ?? ''} />
        </span>
      </div>
      <Fields fields={chosen?.fields ?? []} prefix={`${path}.`} {...others} />
    </>
  );
}

function Input({ field, path, values, errors, accountId, onValues }: OneFieldProps) {
  const { name, title, description, required, nullable, unit } = field;
  const error = errors.get(path);
  const isOptional = !required || nullable;
  const hintId = `hint-${path}`;
  return (
    <div className="field">
      <label className="label" htmlFor={`field-${path}`}>
        {title ?? (field.list === undefined ? labelOf(name) : labelOf(name).replace(/ ID$/, ''))}{' '}
        {isOptional && field.kind !== 'boolean' && <span className="muted">optional</span>}
      </label>
      <Control
        field={field}
        id={`field-${path}`}
        hintId={hintId}
        isInvalid={error !== undefined}
        text={values[path] ?? ''}
        accountId={accountId ?? values['account_id'] ?? values['path:account_id']}
        onText={(text) => onValues((before) => ({ ...before, [path]: text }))}
      />
      <span className="hint" id={hintId}>
        {error !== undefined && <span className="error">{error}. </span>}
        <Code text={description} />
        {unit !== undefined &&
          ` In ${unitsFor(unit)
            .join(', ')
            .replace(/, (?=[^,]*$)/, ' or ')}.`}
        {field.kind === 'instant' && ' In UTC.'}
        {field.kind === 'lines' && ' One per line.'}
      </span>
    </div>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  api: 'API',
  bic: 'BIC',
  cidr: 'CIDR',
  cpu: 'CPU',
  datacenter: 'data centre',
  ddos: 'DDoS',
  displayname: 'display name',
  dns: 'DNS',
  gbit: 'Gbit',
  hdd: 'HDD',
  hostsystem: 'host system',
  iban: 'IBAN',
  id: 'ID',
  ids: 'IDs',
  ip: 'IP',
  ips: 'IP addresses',
  ipv4: 'IPv4',
  ipv6: 'IPv6',
  mem: 'memory',
  nvme: 'NVMe',
  os: 'OS',
  tld: 'TLD',
  tlds: 'TLDs',
  vat: 'VAT',
  vm: 'VM',
  vms: 'VMs',
};

/** `monthly_price` becomes `Monthly price`. */
export function labelOf(name: string): string {
  const words = name
    .split('_')
    .map((word) => WORDS[word] ?? word)
    .join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
