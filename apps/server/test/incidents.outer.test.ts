/** The incidents of OPERATIONS.md, carried out with its commands in an installation. */
import { rmSync } from 'node:fs';

import { thawed } from '@reseller/service/test/upgrade/frozen-store.ts';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { leftOut, linkTestImages } from '../../../packages/adapters/test/qemu.ts';
import { awaySystem } from './away-system.ts';
import { newDatabase } from './database.ts';
import { tell } from './faults/figures.ts';
import { install, RUNBOOK, runInstalled } from './installation.ts';
import { temporaryDirectory } from './process.ts';
import { commandsOf } from './runbook.ts';
import { systemPostgres, systemPostgresMissing } from './system-postgres.ts';

/** Of every sandbox. */
const DEMO_ACCOUNT = '01900000-0000-7000-8000-000000000001';

let folder: string;
let installation: string;

beforeAll(() => {
  ({ folder, installation } = install());
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The commands of the runbook that start a service and buy a VM, and functions that a test needs besides. */
function prologue(exports = ''): string {
  return `${exports}
start() {
  /opt/reseller/reseller-server start > service.log & service=$!
  until curl -fso ready.json http://127.0.0.1:4011/readyz; do kill -0 $service || { cat service.log; exit 1; }; sleep 1; done
}
stop() { kill $service; wait $service || true; }
statusOf() { curl -so /dev/null -w "$1 %{http_code}\\n" http://127.0.0.1:4011/accounts -H "Authorization: Bearer $2"; }
begin() { begun=$(date +%s%N); }
end() { echo "took $(( ($(date +%s%N) - begun) / 1000000 )) ms"; }
${commandsOf(RUNBOOK, 'Start and check')}`;
}

/** Runs a script to its end, and prints how long its incident took. */
async function runIncident(name: string, script: string, directory: string): Promise<string> {
  const { code, stdout, stderr } = await runInstalled(installation, script, directory);
  expect({ code, problems: code === 0 ? '' : `${stdout}\n${stderr}` }).toEqual({ code: 0, problems: '' });
  tell(`${name}: ${/^took (\d+ ms)$/m.exec(stdout)?.[1]}`);
  return stdout;
}

test('the operator token was lost: the printed commands replace it', async () => {
  const script = `mkdir /etc/reseller
echo first-token-of-the-operator-0123456789 > /etc/reseller/operator-token
${prologue()}
stop
unset RESELLER_OPERATOR_TOKEN
export RESELLER_OPERATOR_TOKEN_FILE=/etc/reseller/operator-token
systemctl() { stop; start; }
start
statusOf before first-token-of-the-operator-0123456789
begin
${commandsOf(RUNBOOK, 'Incidents', 'systemd')}
end
statusOf lost first-token-of-the-operator-0123456789
statusOf new $(cat /etc/reseller/operator-token)
stop`;
  expect(await runIncident('a lost operator token', script, temporaryDirectory())).toMatch(/before 200\n[^]*lost 401\nnew 200\n/);
});

test('the hypervisor is away: purchases are 503, and go on when it is back, without a restart', async () => {
  const { adapters, switch: away } = await awaySystem('hypervisor');
  const [printed] = /`(reseller-server jobs)` shows what still waits/.exec(RUNBOOK)?.slice(1) ?? [];
  const script = `export RESELLER_ADAPTERS=${adapters}
${prologue()}
attempt() { curl -so refused.json -w "$1 %{http_code} retry-after: %header{retry-after}\\n" -X PUT http://127.0.0.1:4010/vm/create -H "X-SERVICE-APIKEY: $key" -d cores=1 -d mem=1024 -d disk=10 -d os=debian_12 -d hostsystem=nl_ryzen -d hostname=$1; }
touch ${away}
attempt second
grep -o '"message":"[^"]*"' refused.json
/opt/reseller/${printed}
begin
rm ${away}
attempt third
end
for _ in $(seq 60); do /opt/reseller/${printed} | grep -Eq '^deliveries +0 +0 +on time$' && break; sleep 1; done
curl -fsS http://127.0.0.1:4011/metrics -H "Authorization: Bearer $RESELLER_OPERATOR_TOKEN" | grep '^reseller_unavailable_total'
stop`;
  const stdout = await runIncident('the hypervisor is away', script, temporaryDirectory());
  expect(stdout).toMatch(/second 503 retry-after: \d+\n/);
  expect(stdout).toMatch(/^third 200 /m);
  expect(stdout).toMatch(/^reseller_unavailable_total\{api="reseller",cause="infrastructure",system="hypervisor"\} 1$/m);
});

/** `register DOMAIN` registers a domain of a new handle, and `queue NAME` prints the line of a queue. */
const REGISTER = `call() { name=$1; method=$2; path=$3; shift 3; curl -so response.json -w "$name %{http_code} retry-after: %header{retry-after}\\n" -X "$method" "http://127.0.0.1:4010$path" -H "X-SERVICE-APIKEY: $key" "$@"; }
call handle PUT /domain/handle/create -d gender=FEMALE -d firstname=Erika -d lastname=Muster -d street=Weg -d number=1 -d zipcode=60311 -d city=Frankfurt -d region=Hessen -d countrycode=DE -d email=erika@example.org --data-urlencode phone=+49.69123456
handle=$(grep -o '"handle":"[^"]*"' response.json | cut -d'"' -f4)
register() { call "$1" POST /domain/register -d domain="$1" -d handle="$handle"; }
queue() { /opt/reseller/reseller-server jobs | grep -E "^$1 "; }
`;

test('the registrar is away: registrations are 503, and go on when it is back, without a restart', async () => {
  const { adapters, switch: away } = await awaySystem('registrar');
  const script = `export RESELLER_ADAPTERS=${adapters}
${prologue()}
${REGISTER}
register first.net
touch ${away}
register second.net
grep -o '"message":"[^"]*"' response.json
begin
rm ${away}
until register second.net | grep ' 200 '; do sleep 1; done
end
until queue deliveries | grep -E ' 0 +0 +on time$'; do sleep 1; done
curl -fsS http://127.0.0.1:4011/metrics -H "Authorization: Bearer $RESELLER_OPERATOR_TOKEN" | grep '^reseller_unavailable_total'
stop`;
  const stdout = await runIncident('the registrar is away', script, temporaryDirectory());
  expect(stdout).toMatch(/^first.net 200 /m);
  expect(stdout).toMatch(/^second.net 503 retry-after: \d+\n"message":"The registrar /m);
  expect(stdout).toMatch(/^reseller_unavailable_total\{api="reseller",cause="infrastructure",system="registrar"\} 1$/m);
});

test('the name server is away: a zone waits in the jobs, and is published when the name server is back', async () => {
  const { adapters, switch: away } = await awaySystem('dns');
  const script = `export RESELLER_ADAPTERS=${adapters}
${prologue()}
${REGISTER}
register first.net
until queue zones | grep -E '^zones +0 '; do sleep 1; done
touch ${away}
call record PUT /domain/first.net/dns/add -d type=A -d sub=www -d data=192.0.2.1
until queue zones | grep -E '^zones +(1 +0|0 +1) '; do sleep 1; done
begin
rm ${away}
until queue zones | grep -E '^zones +0 +0 +on time$'; do sleep 1; done
end
stop`;
  const stdout = await runIncident('the name server is away', script, temporaryDirectory());
  expect(stdout).toMatch(/^record 200 /m);
});

test('the host was off for two hours and has no NTP: a live service does not start until the printed commands confirm its clock', async () => {
  const script = `${prologue()}
stop
export RESELLER_MODE=live RESELLER_INFRASTRUCTURE=simulated RESELLER_EXTENSION=on RESELLER_PUBLIC_URL=https://api.example.com RESELLER_DATA_DIR=$RESELLER_DATA_DIR/live
start
stop
/opt/reseller/node_modules/.bin/node -e "new (require('node:sqlite').DatabaseSync)(process.env.RESELLER_DATA_DIR + '/store.sqlite').exec('update clock_mark set newest = newest - 7200000')"
mkdir programs && printf '#!/bin/sh\necho no\n' > programs/timedatectl && chmod +x programs/timedatectl
export PATH=$PWD/programs:$PATH
/opt/reseller/reseller-server start 2> refused.txt && echo 'It started.'
cat refused.txt
mkdir /etc/reseller
systemctl() { set -a; . /etc/reseller/service.env; set +a; start; }
begin
${commandsOf(RUNBOOK, 'Incidents', 'clock')}
end
stop`;
  const stdout = await runIncident('a host that was off for two hours', script, temporaryDirectory());
  expect(stdout).toMatch(/at most 60 minutes between the two are allowed unless NTP .* confirm it with RESELLER_CLOCK_CONFIRMED_UNTIL/);
});

test('the host rebooted: the machines of its VMs run again by themselves, and are as the store says', async ({ skip }) => {
  if (leftOut !== undefined) return skip(leftOut);
  const images = `${temporaryDirectory()}/images`;
  await linkTestImages(images, 'debian_12');
  const script = `export RESELLER_HYPERVISOR=qemu RESELLER_QEMU_IMAGES=${images}
${prologue()}
buy second
service_id=$(cat $RESELLER_DATA_DIR/adapters/qemu/vm-*/vm.json | grep -Eo '"service": ?"[^"]*"' | head -1 | cut -d'"' -f4)
machines() { pgrep -f "guest=reseller-$service_id-vm-" || true; }
trap 'kill -9 $(machines)' EXIT
echo bought $(machines | wc -l)
kill -9 $service $(machines)
wait $service || true
until [ -z "$(machines)" ]; do sleep 1; done
echo machines $(machines | wc -l)
begin
start
until [ $(machines | wc -l) = 2 ]; do sleep 1; done
end
until curl -fsS http://127.0.0.1:4011/reconcile -H "Authorization: Bearer $RESELLER_OPERATOR_TOKEN" > reconcile.json; do sleep 1; done
cat reconcile.json
stop`;
  const stdout = await runIncident('a host that rebooted', script, temporaryDirectory());
  expect(stdout).toMatch(/bought 2\nmachines 0\n/);
  expect(stdout).toMatch(/"compared":true/);
  expect(stdout).not.toMatch(/"vm_id":[^n]/);
});

describe.each(['embedded', 'postgres'] as const)('%s', (engine) => {
  test('a job failed: the printed commands show it with its reason, and try it again', async () => {
    const [show = '', retry = ''] = commandsOf(RUNBOOK, 'Incidents')
      .split('\n')
      .filter((line) => line.startsWith('/opt/reseller/reseller-server jobs'));
    expect(retry).toContain(DEMO_ACCOUNT);
    const [exports, break_, mend] =
      engine === 'postgres'
        ? [
            `export DATABASE_URL='${await newDatabase()}'`,
            `psql -q "$DATABASE_URL" -c "create function refuse() returns trigger language plpgsql as 'begin raise exception ''the tax office refuses''; end'" -c 'create trigger refuse before insert on invoices for each row execute function refuse()'`,
            `psql -q "$DATABASE_URL" -c 'drop trigger refuse on invoices'`,
          ]
        : [
            '',
            `onStore "create trigger refuse before insert on invoices begin select raise(abort, 'the tax office refuses'); end"`,
            `onStore 'drop trigger refuse'`,
          ];
    const now = new Date();
    const monthEnd = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1, 0, 1)).toISOString();
    const script = `${prologue(exports)}
onStore() { /opt/reseller/node_modules/.bin/node -e "new (require('node:sqlite').DatabaseSync)(process.env.RESELLER_DATA_DIR + '/store.sqlite').exec(process.argv[1])" "$1"; }
stop
${break_}
start
curl -fsS -X POST http://127.0.0.1:4011/sandbox/clock/advance -H "Authorization: Bearer $RESELLER_OPERATOR_TOKEN" -H 'content-type: application/json' -d '{"to":"${monthEnd}"}'
${show}
stop
${mend}
start
begin
${retry}
until ${show} | grep -Eq '^period_ends +0 +0 +on time$'; do sleep 1; done
end
echo invoices $(curl -fsS http://127.0.0.1:4010/accounting/invoices -H "X-SERVICE-APIKEY: $key" | grep -o '"total"' | wc -l)
stop`;
    const stdout = await runIncident(`a failed job, ${engine}`, script, temporaryDirectory());
    expect(stdout).toMatch(
      /^period_ends +0 +1 +held up +account\/[0-9a-f-]{36} .*$[^]*01900000-0000-7000-8000-000000000001 .*the tax office refuses/m,
    );
    expect(stdout).toMatch(/^These jobs run within seconds:$/m);
    expect(stdout).toMatch(/^invoices [1-9]/m);
  });
});

test('an upgrade failed: its line names the session, and the printed commands end it and go on', { tags: 'deep' }, async () => {
  // A store of the first version.
  const url = await thawed('postgres');
  const reader = new Client({ connectionString: url, application_name: 'report' });
  await reader.connect();
  reader.on('error', () => {});
  onTestFinished(() => reader.end().catch(() => {}));
  await reader.query('begin');
  await reader.query('select count(*) from vms');
  const printed = commandsOf(RUNBOOK, 'Upgrade', 'sessions');
  expect(printed).toContain('PID');
  const script = `export DATABASE_URL='${url}' RESELLER_DATA_DIR=/var/lib/reseller
begin() { begun=$(date +%s%N); }
end() { echo "took $(( ($(date +%s%N) - begun) / 1000000 )) ms"; }
/opt/reseller/reseller-server migrate 2> failed.txt && echo 'It did not fail.'
cat failed.txt
pid=$(sed -En 's/.*These sessions hold locks: ([0-9]+) .*/\\1/p' failed.txt)
begin
${printed.replace('PID', "'$pid'")}
/opt/reseller/reseller-server migrate
end`;
  const stdout = await runIncident('a failed upgrade', script, temporaryDirectory());
  expect(stdout).toMatch(/failed \(.*lock timeout\)\. It changed nothing.* \d+ \(report, idle in transaction, /);
  expect(stdout).toMatch(/Ran \d+ migrations:\n/);
});

test('on PostgreSQL, pg_dump and pg_restore as printed bring the store back', async ({ skip }) => {
  if (systemPostgresMissing !== undefined) return skip(systemPostgresMissing);
  const script = `${prologue(`export DATABASE_URL='${await systemPostgres()}'`)}
begin
${commandsOf(RUNBOOK, 'Backup', 'postgres')}
end
buy second
stop
begin
${commandsOf(RUNBOOK, 'Restore', 'postgres')}
start
end
buy third
echo names $(psql -At "$DATABASE_URL" -c "select hostname from vms where hostname in ('first', 'second', 'third') order by created")
stop`;
  const stdout = await runIncident('pg_restore', script, temporaryDirectory());
  expect(stdout).toMatch(/Raised \d+ fencing tokens by 1000000\./);
  expect(stdout).toMatch(/names first third$/m);
});
