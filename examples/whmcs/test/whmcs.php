<?php

/**
 * Calls one function of a module as WHMCS does, in a process of its own: `php whmcs.php servers CreateAccount`, with the module parameters as
 * JSON on standard input. It prints what the function returns. WHMCS itself is not free software, so this file has the documented parts of it
 * that the modules use. They keep their state in the file WHMCS_STATE.
 */

declare(strict_types=1);

namespace WHMCS\Domains\DomainLookup {
    final class SearchResult
    {
        public const STATUS_NOT_REGISTERED = 'not registered';
        public const STATUS_REGISTERED = 'registered';
        public const STATUS_TLD_NOT_SUPPORTED = 'not supported';
        public const STATUS_UNKNOWN = 'unknown';
        public string $status = '';

        public function __construct(public string $sld, public string $tld)
        {
        }

        public function setStatus(string $status): void
        {
            $this->status = $status;
        }
    }

    final class ResultsList extends \ArrayObject
    {
    }
}

namespace WHMCS\Results {
    final class ResultsList extends \ArrayObject
    {
    }
}

namespace WHMCS\Domain\TopLevel {
    /** Its methods are `setExtension`, `setRegisterPrice` and so on. */
    final class ImportItem extends \ArrayObject
    {
        private const METHODS = [
            'setExtension' => 'is_string',
            'setMinYears' => 'is_int',
            'setMaxYears' => 'is_int',
            'setRegisterPrice' => 'is_numeric',
            'setRenewPrice' => 'is_numeric',
            'setTransferPrice' => 'is_numeric',
            'setCurrency' => 'is_string',
            'setEppRequired' => 'is_bool',
        ];

        public function __call(string $method, array $given): self
        {
            if (!(self::METHODS[$method])($given[0])) {
                throw new \TypeError("$method has a value of another type.");
            }
            $this[substr($method, 3)] = $given[0];
            return $this;
        }
    }
}

namespace WHMCS\Database {
    /** One table. Its rows are those that were inserted; an update is stored under its conditions. */
    final class Capsule
    {
        private array $conditions = [];
        private array $wanted = [];

        private function __construct(private readonly string $name)
        {
        }

        public static function table(string $name): self
        {
            return new self($name);
        }

        public static function raw(string $sql): string
        {
            return $sql;
        }

        public function where(string $column, mixed $value): self
        {
            $this->conditions[] = "$column=$value";
            $this->wanted[$column] = $value;
            return $this;
        }

        public function updateOrInsert(array $key, array $values): void
        {
            \state(function (array $state) use ($key, $values) {
                $others = array_filter($state["rows of $this->name"] ?? [], fn (array $row) => array_intersect_assoc($key, $row) !== $key);
                return ["rows of $this->name" => [...$others, $key + $values]] + $state;
            });
        }

        public function exists(): bool
        {
            return $this->rows() !== [];
        }

        public function value(string $column): mixed
        {
            return $this->rows()[0][$column] ?? null;
        }

        private function rows(): array
        {
            $rows = \state(fn () => null)["rows of $this->name"] ?? [];
            return array_values(array_filter($rows, fn (array $row) => array_intersect_assoc($this->wanted, $row) === $this->wanted));
        }

        public function update(array $values): void
        {
            $row = implode(' ', [$this->name, ...$this->conditions]);
            \state(fn (array $state) => [$row => $values] + $state);
        }
    }
}

namespace {
    define('WHMCS', true);

    /** Changes the state, which other processes use at the same time, and returns it. */
    function state(callable $change): array
    {
        $file = fopen(getenv('WHMCS_STATE'), 'c+');
        flock($file, LOCK_EX);
        $state = json_decode(stream_get_contents($file) ?: '{}', true);
        $changed = $change($state) ?? $state;
        rewind($file);
        ftruncate($file, 0);
        fwrite($file, json_encode((object) $changed));
        fclose($file);
        return $changed;
    }

    final class ServiceProperties
    {
        public function get(string $name): string
        {
            return state(fn () => null)["property $name"] ?? '';
        }

        public function save(array $values): void
        {
            foreach ($values as $name => $value) {
                state(fn (array $state) => ["property $name" => $value] + $state);
            }
        }
    }

    function localAPI(string $command, array $values): array
    {
        if ($command === 'GetClientsDomains') {
            $expiry = state(fn () => null)["expiry of {$values['domainid']}"] ?? '0000-00-00';
            return ['result' => 'success', 'domains' => ['domain' => [['expirydate' => $expiry]]]];
        }
        state(fn (array $state) => $values + $state);
        return ['result' => $command === 'UpdateClientProduct' ? 'success' : 'error'];
    }

    function logModuleCall(mixed ...$logged): void
    {
        state(fn (array $state) => ['log' => ($state['log'] ?? '') . json_encode($logged) . "\n"] + $state);
    }

    [, $kind, $function] = $argv;
    require_once __DIR__ . "/../modules/$kind/reseller/reseller.php";
    $params = json_decode(stream_get_contents(STDIN), true);
    $params['model'] = (object) ['serviceProperties' => new ServiceProperties()];
    $returned = ("reseller_$function")($params);
    echo json_encode($returned instanceof ArrayObject ? $returned->getArrayCopy() : $returned);
}
