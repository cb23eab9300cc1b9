<?php
$given = json_decode(stream_get_contents(STDIN), true);
$answers = [];
foreach ($given['calls'] as $call) {
    $handle = curl_init($given['base'] . $call['path']);
    $headers = ['Authorization: Bearer ' . $given['token']];
    $method = $call['method'];
    if ($method === 'HEAD') curl_setopt($handle, CURLOPT_NOBODY, true);
    elseif ($method === 'POST') curl_setopt($handle, CURLOPT_POST, true);
    else curl_setopt($handle, CURLOPT_CUSTOMREQUEST, $method);
    if (isset($call['body'])) {
        $headers[] = 'Content-Type: application/json';
        curl_setopt($handle, CURLOPT_POSTFIELDS, json_encode(json_decode($call['body'])));
    }
    curl_setopt($handle, CURLOPT_HTTPHEADER, $headers);
    curl_setopt($handle, CURLOPT_RETURNTRANSFER, true);
    $text = curl_exec($handle);
    $answers[] = [
        'status' => curl_getinfo($handle, CURLINFO_RESPONSE_CODE),
        'type' => curl_getinfo($handle, CURLINFO_CONTENT_TYPE),
        'body' => $text,
    ];
}
echo json_encode($answers);
