/** The inputs of a form. */
import type { Field } from '../document/fields.ts';
import type { Values } from './form.ts';

export interface FieldsProps {
  readonly fields: readonly Field[];
  readonly values: Values;
  /** Messages by path. */
  readonly errors: ReadonlyMap<string, string>;
  readonly prefix?: string;
  readonly onChange: (path: string, text: string) => void;
}

export function Fields({ fields, prefix = '', ...others }: FieldsProps) {
  return fields.map((field) => <OneField key={field.name} field={field} path={`${prefix}${field.name}`} {...others} />);
}

type OneFieldProps = Omit<FieldsProps, 'fields' | 'prefix'> & { readonly field: Field; readonly path: string };

function OneField({ field, path, ...others }: OneFieldProps) {
  const { kind, name, description, fields = [], required, nullable } = field;
  if (kind === 'object' || kind === 'variant')
    return (
      <fieldset>
        <legend>{labelOf(name)}</legend>
        <p className="hint">
          {description} {!required || nullable ? 'Leave its fields empty for none.' : ''}
        </p>
        {kind === 'object' ? <Fields fields={fields} prefix={`${path}.`} {...others} /> : <Variant field={field} path={path} {...others} />}
      </fieldset>
    );
  return <Input field={field} path={path} {...others} />;
}

function Variant({ field, path, values, onChange, errors }: OneFieldProps) {
  const variants = field.variants ?? [];
  const chosen = variants.find(({ title }) => title === values[`${path}.kind`]) ?? variants[0];
  return (
    <>
      <div className="field">
        <label className="label" htmlFor={`${path}.kind`}>
          Kind
        </label>
        <select id={`${path}.kind`} value={chosen?.title} onChange={({ target }) => onChange(`${path}.kind`, target.value)}>
          {variants.map(({ title }) => (
            <option key={title} value={title}>
              {labelOf(title)}
            </option>
          ))}
        </select>
        <span className="hint">{chosen?.description}</span>
      </div>
      <Fields fields={chosen?.fields ?? []} prefix={`${path}.`} values={values} onChange={onChange} errors={errors} />
    </>
  );
}

function Input({ field, path, values, errors, onChange }: OneFieldProps) {
  const { name, description, required, nullable } = field;
  const error = errors.get(path);
  const isOptional = !required || nullable;
  const hintId = `hint-${path}`;
  return (
    <div className="field">
      <label className="label" htmlFor={`field-${path}`}>
        {labelOf(name)} {isOptional && field.kind !== 'boolean' && <span className="muted">optional</span>}
      </label>
      <Control
        field={field}
        id={`field-${path}`}
        hintId={hintId}
        isInvalid={error !== undefined}
        text={values[path] ?? ''}
        onText={(text) => onChange(path, text)}
      />
      <span className="hint" id={hintId}>
        {error !== undefined && <span className="error">{error}. </span>}
        {description}
        {field.kind === 'lines' && !field.values && ' One per line.'}
        {field.kind === 'lines' && field.values && ` One per line: ${field.values.join(', ')}.`}
      </span>
    </div>
  );
}

interface ControlProps {
  readonly field: Field;
  readonly id: string;
  readonly hintId: string;
  readonly isInvalid: boolean;
  readonly text: string;
  readonly onText: (text: string) => void;
}

function Control({ field: { kind, values, required, nullable, name }, id, hintId, isInvalid, text, onText }: ControlProps) {
  const isRequired = required && !nullable;
  const common = { id, 'aria-describedby': hintId, 'aria-invalid': isInvalid, spellCheck: false };
  if (kind === 'boolean')
    return <input type="checkbox" {...common} checked={text === 'true'} onChange={({ target }) => onText(String(target.checked))} />;
  if (kind === 'enum')
    return (
      <select {...common} value={text} required={isRequired} onChange={({ target }) => onText(target.value)}>
        <option value="">{isRequired ? 'Choose' : 'Default'}</option>
        {values?.map((value) => (
          <option key={value} value={String(value)}>
            {String(value)}
          </option>
        ))}
      </select>
    );
  if (kind === 'lines' || kind === 'json')
    return (
      <textarea
        {...common}
        rows={kind === 'json' ? 8 : 3}
        value={text}
        required={isRequired}
        className="mono"
        onChange={({ target }) => onText(target.value)}
      />
    );
  return (
    <input
      {...common}
      type={/password|^code$/.test(name) ? 'password' : 'text'}
      autoComplete="off"
      inputMode={kind === 'integer' ? 'numeric' : 'text'}
      value={text}
      required={isRequired}
      onChange={({ target }) => onText(target.value)}
    />
  );
}

const WORDS: Readonly<Record<string, string>> = {
  api: 'API',
  bic: 'BIC',
  dns: 'DNS',
  hdd: 'HDD',
  iban: 'IBAN',
  id: 'ID',
  ids: 'IDs',
  ip: 'IP',
  ips: 'IP addresses',
  mem: 'memory',
  nvme: 'NVMe',
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
