<?php

declare(strict_types=1);

namespace Reseller\Whmcs;

/**
 * The VM of a WHMCS service.
 *
 * Labels of the VM name its service and its order, so WHMCS does not have to know its identifier. Each click on the same order sends the same
 * Idempotency-Key, so it buys nothing twice. After a termination, the next order of the service has the next number.
 */
final class VmService
{
    /** The service property with the number of the order. It is missing until the first termination. */
    private const ORDER_NUMBER = 'Reseller order number';

    /** In the order of `configoption1` and those that follow. */
    public const OPTIONS = [
        'hostsystem' => ['FriendlyName' => 'Host system', 'Type' => 'text', 'Default' => 'nl_ryzen'],
        'os' => ['FriendlyName' => 'Operating system', 'Type' => 'text', 'Default' => 'debian_12'],
        'cores' => ['FriendlyName' => 'Cores', 'Type' => 'text', 'Default' => '1'],
        'mem' => ['FriendlyName' => 'Memory', 'Type' => 'text', 'Default' => '2048', 'Description' => 'MB'],
        'disk' => ['FriendlyName' => 'Disk', 'Type' => 'text', 'Default' => '20', 'Description' => 'GB'],
        'ips' => ['FriendlyName' => 'IP addresses', 'Type' => 'text', 'Default' => '1'],
        'backup_slots' => ['FriendlyName' => 'Backup slots', 'Type' => 'text', 'Default' => '2'],
        'max_price' => [
            'FriendlyName' => 'Highest price',
            'Type' => 'text',
            'Default' => '',
            'Description' => 'EUR net for 30 days. An order that would cost more is refused',
        ],
    ];

    private const MB_PER_GB = 1024;
    private const BYTES_PER_MB = 1024 ** 2;

    private readonly Api $api;

    /** @param array<string, mixed> $params The module parameters of WHMCS. */
    public function __construct(private readonly array $params)
    {
        $port = $params['serverport'] ? ":{$params['serverport']}" : '';
        $this->api = new Api("{$params['serverhttpprefix']}://{$params['serverhostname']}$port", $params['serveraccesshash']);
    }

    public function test(): void
    {
        installationName($this->params['serverusername']);
        $this->api->get('/vm/list/hosts');
    }

    /** Buys the VM of the order, or finds the one that an earlier click has bought. */
    public function create(): void
    {
        $number = $this->number();
        $vmId = $this->find($number);
        if ($vmId === null) {
            $hostname = trim((string) $this->params['domain']) ?: $this->name();
            $form = ['hostname' => $hostname, 'labels' => "whmcs-service={$this->name()},whmcs-order=$number"] + $this->options();
            $created = $this->api->change('PUT', '/vm/create', $form, "whmcs-vm-{$this->name()}-$number");
            $vmId = $created['identifier'];
            $this->saveAccess(['servicepassword' => $created['config']['password']]);
        }
        if ($this->number() !== $number) {
            $this->remove($vmId);
            throw new \RuntimeException('The service was terminated while its VM was being created. The VM was deleted.');
        }
        $config = $this->api->get("/vm/$vmId/config")['config'];
        $this->saveAccess(['serviceusername' => $config['username'], 'dedicatedip' => $config['ipv4'][0]['ip_address'] ?? '']);
    }

    public function power(string $mode): void
    {
        $this->api->change('POST', "/vm/{$this->vmId()}/power", ['mode' => $mode]);
    }

    public function changePackage(): void
    {
        $vmId = $this->vmId();
        $form = $this->options();
        $vm = $this->api->get("/vm/$vmId/config");
        $this->assertKept('host system', $form['hostsystem'] ?? null, $vm['hostsystem']['name']);
        $this->assertKept('operating system', $form['os'] ?? null, $vm['config']['os']['name']);
        unset($form['hostsystem'], $form['os']);
        $this->api->change('POST', "/vm/$vmId/change", $form);
    }

    /** The client would pay for the other package and keep the old VM. */
    private function assertKept(string $what, ?string $wanted, string $present): void
    {
        if ($wanted !== null && $wanted !== $present) {
            throw new \InvalidArgumentException("The package has the $what \"$wanted\", but the VM has \"$present\", and a change of the package cannot replace it. Nothing was changed. Choose a package with \"$present\", or order a new service.");
        }
    }

    public function resetPassword(): void
    {
        $reset = $this->api->change('POST', "/vm/{$this->vmId()}/password-reset");
        $this->saveAccess(['servicepassword' => $reset['password']]);
    }

    public function terminate(): void
    {
        // The number changes first. So a purchase that is in progress either sees that its order has ended and deletes its VM, or has stored
        // the VM before it is searched for here. After a crash, the next click finds what is left.
        $next = $this->number() + 1;
        $this->params['model']->serviceProperties->save([self::ORDER_NUMBER => (string) $next]);
        foreach ($this->search("whmcs-service={$this->name()},whmcs-order!=$next") as $vmId) {
            $this->remove($vmId);
        }
    }

    /** @return array<string, scalar> For the client area. */
    public function overview(): array
    {
        $vmId = $this->vmId();
        $status = $this->api->get("/vm/$vmId/status");
        $config = $this->api->get("/vm/$vmId/config")['config'];
        return [
            'status' => $status['status'],
            'address' => $config['ipv4'][0]['ip_address'] ?? '',
            'hostname' => $config['hostname'],
            'system' => $config['os']['displayname'],
            'cores' => $config['cores'],
            'mem' => $config['mem'],
            'disk' => $config['disk'],
        ];
    }

    /**
     * The use of all VMs that this WHMCS has at the server, as WHMCS stores it: in MB, and 0 for a limit that does not exist.
     *
     * @return iterable<int, array<string, int>> By the identifiers of their services.
     */
    public function usage(): iterable
    {
        $prefix = installationName($this->params['serverusername']) . '-';
        foreach ($this->api->search('/vm/search', ['labels' => 'whmcs-service'])['list'] as $vm) {
            $name = $vm['labels']['whmcs-service'];
            $serviceId = substr($name, strlen($prefix));
            if (!str_starts_with($name, $prefix) || !ctype_digit($serviceId)) {
                continue;
            }
            try {
                $disk = $this->api->get("/vm/{$vm['vmid']}/status")['usage']['nvme_storage']['data'] ?? null;
                $traffic = $this->api->get("/vm/{$vm['vmid']}/traffic");
            } catch (ApiError) {
                // The VM was deleted, or is measured again tomorrow. The module log has the message.
                continue;
            }
            $sent = array_column($traffic['months'], 'total', 'month')[gmdate('Y-m')] ?? 0;
            yield (int) $serviceId => [
                'disklimit' => $vm['config']['disk'] * self::MB_PER_GB,
                'bwusage' => intdiv($sent, self::BYTES_PER_MB),
                'bwlimit' => intdiv($traffic['included'] ?? 0, self::BYTES_PER_MB),
            ] + ($disk === null ? [] : ['diskusage' => (int) round($disk * self::MB_PER_GB)]);
        }
    }

    private function vmId(): int
    {
        return $this->find($this->number()) ?? throw new \RuntimeException("The service {$this->name()} has no VM. Create it first.");
    }

    /** Tells the service from those of other programs with the same account. */
    private function name(): string
    {
        return installationName($this->params['serverusername']) . "-{$this->params['serviceid']}";
    }

    private function number(): int
    {
        return (int) ($this->params['model']->serviceProperties->get(self::ORDER_NUMBER) ?: 1);
    }

    private function find(int $number): ?int
    {
        return $this->search("whmcs-service={$this->name()},whmcs-order=$number")[0] ?? null;
    }

    /** @return list<int> */
    private function search(string $labels): array
    {
        return array_column($this->api->search('/vm/search', ['labels' => $labels])['list'], 'vmid');
    }

    private function remove(int $vmId): void
    {
        try {
            $this->api->change('DELETE', "/vm/$vmId/delete");
        } catch (ApiError $error) {
            // Another click has deleted it.
            if ($error->status !== 404) {
                throw $error;
            }
        }
    }

    /** @return array<string, string> The options of the product. Configurable options with the same names take their place. */
    private function options(): array
    {
        foreach (array_keys(array_diff_key($this->params['configoptions'] ?? [], self::OPTIONS)) as $unknown) {
            $names = implode(', ', array_keys(self::OPTIONS));
            throw new \InvalidArgumentException("The configurable option \"$unknown\" is none of $names, so the VM would not have it. Nothing was changed. Give it one of these names, or remove it from the product.");
        }
        $options = [];
        foreach (array_keys(self::OPTIONS) as $index => $name) {
            $value = trim((string) ($this->params['configoptions'][$name] ?? $this->params['configoption' . ($index + 1)] ?? ''));
            if ($value !== '') {
                $options[$name] = $value;
            }
        }
        return $options;
    }

    /** @param array<string, string> $fields Those of the API function UpdateClientProduct of WHMCS. */
    private function saveAccess(array $fields): void
    {
        $result = localAPI('UpdateClientProduct', ['serviceid' => $this->params['serviceid']] + $fields);
        if (($result['result'] ?? '') !== 'success') {
            throw new \RuntimeException('WHMCS did not store the access to the VM: ' . ($result['message'] ?? 'it gave no reason') . '.');
        }
    }
}
