<?php

declare(strict_types=1);

namespace Reseller\Whmcs;

/** The service refused a request, or its response was lost. The message is for the administrator of WHMCS. */
final class ApiError extends \RuntimeException
{
    /**
     * @param int $status The HTTP status, or 0 if the response was lost.
     * @param string $type The `type` of the response, such as `wrong_state`.
     * @param int $retryAfter After how many seconds the service wants the next attempt. 0 if it does not say so.
     */
    public function __construct(string $message, public readonly int $status, public readonly string $type, public readonly int $retryAfter)
    {
        parent::__construct($message);
    }
}

/** The API of the Reseller Infrastructure Service, with its extension. */
final class Api
{
    private const ATTEMPTS = 3;
    private const TIMEOUT_SECONDS = 60;

    private readonly string $baseUrl;
    private readonly string $apiKey;

    /**
     * Text that was pasted may begin or end with a blank or a line end.
     *
     * @throws \InvalidArgumentException
     */
    public function __construct(string $baseUrl, #[\SensitiveParameter] string $apiKey)
    {
        $this->baseUrl = rtrim(trim($baseUrl), '/');
        $this->apiKey = trim($apiKey);
        if (preg_match('/^[!-~]+$/D', $this->apiKey) !== 1) {
            throw new \InvalidArgumentException('The API key must be visible ASCII characters without blanks and line ends. Enter it again in the settings of the module.');
        }
    }

    /** @throws ApiError */
    public function get(string $path): mixed
    {
        return $this->send('GET', $path);
    }

    /**
     * Reads what a form asks for.
     *
     * @param array<string, scalar> $form
     * @throws ApiError
     */
    public function search(string $path, array $form): mixed
    {
        return $this->send('POST', $path, $form);
    }

    /**
     * Sends a change. If its response is lost, it is sent again with the same key, so it is carried out once.
     *
     * @param array<string, scalar> $form
     * @param string|null $key The service carries out a request with the same key and form once within 24 hours. Without one, each call is a
     *   request of its own.
     * @throws ApiError
     */
    public function change(string $method, string $path, array $form = [], ?string $key = null): mixed
    {
        return $this->send($method, $path, $form, $key ?? bin2hex(random_bytes(16)));
    }

    /** @param array<string, scalar> $form */
    private function send(string $method, string $path, array $form = [], ?string $key = null): mixed
    {
        for ($attempt = 1; ; $attempt++) {
            try {
                return $this->sendOnce($method, $path, $form, $key);
            } catch (ApiError $error) {
                $isTransient = in_array($error->status, [0, 429, 503], true) || $error->type === 'idempotency_key_in_progress';
                if (!$isTransient || $attempt === self::ATTEMPTS) {
                    throw $error;
                }
                sleep(max($attempt, min($error->retryAfter, self::TIMEOUT_SECONDS)));
            }
        }
    }

    /** @param array<string, scalar> $form */
    private function sendOnce(string $method, string $path, array $form, ?string $key): mixed
    {
        $headers = ["X-SERVICE-APIKEY: {$this->apiKey}"];
        if ($key !== null) {
            $headers[] = "Idempotency-Key: $key";
        }
        $retryAfter = 0;
        $curl = curl_init($this->baseUrl . $path);
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT => self::TIMEOUT_SECONDS,
            CURLOPT_HEADERFUNCTION => function (mixed $curl, string $line) use (&$retryAfter): int {
                $retryAfter = preg_match('/^retry-after:\s*(\d+)/i', $line, $found) === 1 ? (int) $found[1] : $retryAfter;
                return strlen($line);
            },
        ]);
        if ($method !== 'GET') {
            curl_setopt($curl, CURLOPT_POSTFIELDS, http_build_query($form));
        }
        $text = curl_exec($curl);
        $response = is_string($text) ? json_decode($text, true) : null;
        $isEnvelope = is_array($response) && isset($response['status'], $response['message']);
        $message = $isEnvelope ? $response['message'] : 'The response was lost: ' . (curl_error($curl) ?: 'it is not a response of the API') . '.';
        // The module log of WHMCS. It gets no data, because a purchase returns a password.
        if (function_exists('logModuleCall')) {
            logModuleCall('reseller', "$method $path", $key ?? '', $message);
        }
        if ($isEnvelope && $response['status'] === 'success') {
            return $response['data'];
        }
        $status = $isEnvelope ? (int) curl_getinfo($curl, CURLINFO_RESPONSE_CODE) : 0;
        throw new ApiError($message, $status, (string) ($response['type'] ?? 'no_response'), $retryAfter);
    }
}

/**
 * The name of this WHMCS in keys and labels. It tells its orders from those of other programs with the same account.
 *
 * @throws \InvalidArgumentException
 */
function installationName(string $name): string
{
    if (preg_match('/^[A-Za-z0-9][A-Za-z0-9-]{0,19}$/D', $name) !== 1) {
        throw new \InvalidArgumentException("\"$name\" is not a name for this WHMCS. Enter up to 20 letters, digits and hyphens, such as shop, and keep it.");
    }
    return $name;
}
