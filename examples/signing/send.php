<?php
// One signed push, with PHP 8 and nothing else; as `php send.php batch` several in one request.
// As `php send.php sign` it signs what is on stdin.
declare(strict_types=1);

function sign(string $clientId, string $timestamp, string $secret, string $body): string
{
    return hash_hmac('sha256', "$clientId\n$timestamp\n$body", $secret);
}

function setting(string $name): string
{
    $value = getenv($name);
    if ($value === false || $value === '') {
        fwrite(STDERR, "$name is not set\n");
        exit(2);
    }
    return $value;
}

if (($argv[1] ?? '') === 'sign') { // three lines, and what follows is the body, byte for byte
    [$clientId, $timestamp, $secret, $body] = explode("\n", stream_get_contents(STDIN), 4);
    echo sign($clientId, $timestamp, $secret, $body), "\n";
    exit(0);
}

[$url, $clientId, $secret] = array_map('setting', ['MATTER_PUSH_URL', 'CLIENT_ID', 'CLIENT_SECRET']);
// Made once: these bytes are signed, and these bytes are sent. json_encode escapes slashes and
// Chinese; another serializer does not, so that a body that is written again does not match.
if (($argv[1] ?? '') === 'batch') {
    // One push a line, at most 1,000 lines; those of one matter take effect in their order.
    [$operation, $key, $id] = ['batch', 'EXAMPLE-php/batch', 'EXAMPLE-php-batch'];
    $pushes = [
        ['op' => 'upsert', 'body' => ['matterType' => 'TODO', 'externalId' => $id, 'title' => '审批：差旅报销']],
        ['op' => 'status', 'body' => ['externalId' => $id, 'bizStatus' => 'APPROVED']],
    ];
    $body = implode("\n", array_map(fn ($push) => json_encode($push, JSON_THROW_ON_ERROR), $pushes));
} else {
    [$operation, $key] = ['upsert', 'EXAMPLE-php/created'];
    $matter = ['matterType' => 'TODO', 'externalId' => 'EXAMPLE-php', 'title' => '审批：采购申请'];
    $body = json_encode($matter, JSON_THROW_ON_ERROR);
}
$timestamp = (string) time(); // seconds, not milliseconds
$headers = [
    'Content-Type: application/json',
    "X-Client-Id: $clientId",
    "X-Timestamp: $timestamp",
    'X-Signature: ' . sign($clientId, $timestamp, $secret, $body),
    "X-Idempotency-Key: $key", // one per change, or per batch: a retry with it is not applied again
];
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => $headers,
    'content' => $body,
    'timeout' => 60,
    'ignore_errors' => true, // a rejection has the envelope too: read it
]]);
$answer = file_get_contents("$url/api/open/matters/$operation", false, $context);
if ($answer === false) {
    exit(1); // PHP has said why
}
echo $answer, "\n"; // of a batch: what became of each line, in data.results
exit((json_decode($answer, true)['code'] ?? null) === 0 ? 0 : 1);
