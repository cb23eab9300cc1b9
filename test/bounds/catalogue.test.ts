/**
 * SECURITY, 3.1 to 3.8: where each row of the catalogue of bad inputs is tested, or why it
 * is not. `catalogue-openpgp.test.ts` has 3.3 and 3.4. Codes, names and exit codes are DESIGN's where the two differ.
 */
import { testChapters, vector, type Row } from '../support/catalogue.ts'

const HTTP: Record<string, Row> = {
  H1: [['http/requests.yaml', 'a call with another Authorization than the token']],
  H2: [['http/requests.yaml', 'another token of the same length', 'a shorter', 'a longer token']],
  H3: [['http/requests.yaml', 'two Authorization lines are', 'Bearer is accepted in any case']],
  H4: [['http/requests.yaml', 'an unknown Host is refused', 'no Host or two are a bad request']],
  H5: [['http/requests.yaml', 'a web page with the token is refused', 'cross-site']],
  H6: [['http/requests.yaml', 'no answer permits a browser', 'a preflight']],
  H7: [['http/requests.yaml', 'application/json garbage', 'charset=utf-16', 'text/plain']],
  H8: [['http/requests.yaml', 'without the one type of JSON, or with an encoding']],
  H9: [['http/requests.yaml', 'a longer body is refused, and the connection closes']],
  H10: [['http/requests.yaml', 'both a length and chunks', 'two lengths', 'LF alone', '20 KB']],
  H11: [
    ['http/slow', 'headers never end', 'one byte at a time', 'block no other caller'],
    ['bounds/slow-bodies', 'other calls are served meanwhile'],
  ],
  H12: [['http/requests.yaml', 'CONNECT request is closed', 'upgrade is', 'http://localhost/bot']],
  H13: [['http/requests.yaml', '%2e%2e', '..%2f..%2fbot', '//localhost', '{5*2032}']],
  H14: [
    ['http/requests.yaml', 'a path outside the API is not found'],
    ['guard/unknown', 'an unknown path is passed byte by byte for `GET`, and refused'],
  ],
  H15: [['http/headers', 'no header of the bot reaches the service', 'X-Forwarded-For']],
  H16: [
    ['http/hang-up', 'leaves one finished call at the service, not two'],
    ['http/routes-send', 'leaves one finished call in a'],
  ],
  H17: [['http/malformed', 'two requests in one piece are answered in their order']],
}

const JSON_BODIES: Record<string, Row> = {
  J1: [
    ['http/requests.yaml', 'null', 'a list', 'a string', 'an end too early', 'a byte-order mark'],
    ['http/routes-send', 'no body at all'],
  ],
  J2: [['http/body', 'bytes that are not UTF-8']],
  J3: [['http/requests.yaml', 'a depth of 33', 'a depth of 100 000']],
  J4: [['http/requests.yaml', 'a prototype', 'a constructor']],
  J5: [
    ['http/requests.yaml', 'a key twice', 'a key twice, once escaped'],
    ['http/routes-send', 'a chat twice'],
  ],
  J6: [['http/requests.yaml', '9007199254740993', '1.5', '1e400', 'true']],
  J7: [['guard/limits', 'breaks the rules of readable texts is refused in a protected chat']],
  J8: [['translate/draft', 'a send is accepted exactly when its text fits']],
  J9: [['http/routes-send', 'armor', 'both']],
  J10: [['guard/unknown', 'a field outside the specification is refused by name']],
  J11: [['http/routes-edit', 'an edit of buttons alone has no body']],
  J12: [
    ['contract/cases/send.ts', 'a send with a field of the wrong type is a bad request'],
    ['contract/cases/send.ts', 'the same sendId in another chat answers conflict'],
    ['translate/draft', 'sendId.toLowerCase()'],
  ],
  J13: [
    ['translate/draft', 'is refused with a code of the service'],
    ['sandbox/bodies', 'bad_markup'],
    ['http/routes-me', 'teapot_only'],
  ],
}

const MEDIA: Record<string, Row> = {
  D1: [
    ['attachments/serving', 'a file of %i bytes is served as it was sealed'],
    ['attachments/crowded', 'four files of 64 MiB at once stay within a bound of memory'],
  ],
  D2: [
    ['attachments/hostile', '64 MiB and a byte', 'is refused within a bound of memory'],
    ['service/media', 'a content length %s', 'a download without a length ends at the maximum'],
  ],
  D3: [['attachments/hostile', '8 MiB of recipients', '8 MiB of nameless recipients']],
  D4: [vector('framing-tiny-chunks'), ['peers/peers', 'is read as a file with the same outcome']],
  D5: [['attachments/hostile', 'a flipped bit in its last block is refused without one byte']],
  D6: [
    [
      'attachments/service-fails',
      'survives one lost connection',
      'a redirect with status %i for a file is not followed',
      'a page of a proxy',
    ],
    ['service/media', 'a download that never starts, stalls or drips ends'],
    ['service/media-answers', 'a slow or broken download is not repeated'],
  ],
  D7: [['attachments/stored', 'an armored sealed file is served decrypted']],
  D8: [
    ['http/requests.yaml', 'a target is a bad request where'],
    ['attachments/media-urls', 'the media url %j is left unchanged'],
  ],
  D9: [['contract/cases/media.ts', 'an attachment that is not sealed to the bot answers']],
  D10: [['attachments/access', 'a media request without token and url key is 401']],
}

const SETTINGS: Record<string, Row> = {
  G1: [
    ['config/problems', 'no such setting'],
    ['config/rules', 'without credentials', 'without /bot/v1', 'without a query'],
    ['double/bad-start', 'exits with 2, names all of them, and writes nothing'],
  ],
  G2: [['config/secrets', 'a space inside', 'a token file of mode %s', 'is empty']],
  G3: [['config/rules', 'a listener for bots on %s requires `bot.clientToken`']],
  G4: [
    ['config/environment', 'NODE_ENV=development'],
    ['cli/run', 'would not be safe'],
  ],
  G5: [['config/secrets', 'a secret and its file in one source are refused']],
  G6: [['http/listen', 'a port in use is refused', 'left by a dead process', 'with a live server']],
  // A link is read: that is how a container's platform hands in its files.
  G7: [
    [
      'config/file',
      'nested aliases is refused',
      'file over 1 MiB is refused',
      'a symbolic link to a settings file',
    ],
  ],
  G8: [
    ['openpgp/library/adopt', 'of a locked key with %s', 'is a certificate', 'is of RSA 1024'],
    ['openpgp/library/adopt', 'a subkey that only signs', 'has expired'],
    ['openpgp/library/key-shape', 'two keys', 'two blocks', 'a key of version 3'],
    ['cli/scripts/long/key-import-refused.txt', 'prints the reason of a refusal and keeps nothing'],
  ],
}

const FILES: Record<string, Row> = {
  F1: [
    [
      'store/read-only',
      'is refused as `store-unwritable`',
      'on a read-only disk with %s is refused as',
    ],
  ],
  F2: [
    ['store/full-disk', 'a %s on a full disk is refused'],
    ['store/backup', 'a backup on a full disk is refused', 'a restore on a full disk'],
    ['faults/command-kills', 'error=ENOSPC'],
  ],
  F3: [
    [
      'store/data-dir-checks',
      'a data directory of mode %o',
      'a data directory with only a store is closed to others',
      'a file of the store is closed',
      'of another user is refused',
    ],
  ],
  F4: [['store/refusing', 'no bytes', 'only its first page', 'wrong passphrase', 'newer']],
  F5: [
    ['store/create', 'unfinished databases and backups are removed'],
    ['faults/command-kills', 'at a system call leaves store and files intact'],
  ],
  F6: [['store/refusing', 'a store of another process is refused as `store-in-use`']],
  F7: [['faults/command-kills', 'error=EIO']],
  F8: [['double/publication', 'makes no key while its clock and the service’s differ']],
  F9: [['docs/runbooks', 'refuses a backup older than the published key until']],
}

const UPSTREAM: Record<string, Row> = {
  U1: [['service/retry-after', "['rate_limited', '7', 60, 7]"]],
  U2: [['service/retry-after', "['flood_wait', '-1', 12, 12]", "'1000000000', 12, 3600"]],
  U3: [
    [
      'service/misbehaving',
      'an empty success',
      'a success without a result',
      'an HTML page of a proxy',
    ],
    ['service/repeating', 'a send answered by %s is repeated with the same bytes'],
  ],
  U4: [
    ['service/misbehaving', 'a service that stops sending %s', 'sends its %s byte by byte ends'],
    ['bounds/slow-bodies', 'slow answers and slow bodies end by a timeout'],
  ],
  U5: [
    ['service/repeating', 'a send whose connection is reset is repeated once with the same bytes'],
  ],
  U6: [['service/misbehaving', 'is not followed to another host']],
  U7: [
    ['bounds/giant-answers', 'a million updates', '200 MB without an end'],
    ['bounds/odd-answers', 'U7 a poll with update ids'],
  ],
  U8: [
    ['service/one-reading', 'an answer with one reading is passed on byte for byte'],
    ['http/routes-me', 'teapot_only'],
    ['bounds/odd-answers', 'U8 an update of an unknown kind'],
  ],
  U9: [['service/tls', 'in the past', 'for another name', 'signed by itself', 'TLS 1.1']],
  U10: [['updates/at-service', 'a revoked token makes every call unauthorized']],
  U11: [['updates/at-service', 'a paused bot is refused polls']],
  U12: [['guard/wrong-body-kind', 'refused for %s is not repeated']],
  U13: [['bounds/odd-answers', 'U13 a send whose successful answer']],
  U14: [
    ['service/answers', 'clock skew is reported from a valid Date header'],
    ['double/publication', 'makes no key while its clock and the service’s differ'],
  ],
  U15: [
    ['guard/recipients', 'a private chat without a key'],
    ['guard/private', 'whose key list is refused as open receives no text'],
  ],
  U16: [['service/misbehaving', 'an unrequested answer sent %s is not used for the next call']],
}

testChapters([
  ['3.1 HTTP from the bot side', 'H', 17, HTTP],
  ['3.2 JSON', 'J', 13, JSON_BODIES],
  ['3.5 media', 'D', 10, MEDIA],
  ['3.6 settings and start', 'G', 8, SETTINGS],
  ['3.7 file system', 'F', 9, FILES],
  ['3.8 upstream', 'U', 16, UPSTREAM],
])
