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
