/**
 * SECURITY, 5.4: what has misled others, and where it is shown that it does not mislead us. A name
 * is as whoever told of it gave it; `must` says what comes out here instead.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { missing, vector, vectorText, type Row } from '../support/catalogue.ts'

interface Advisory {
  /** What it was. */
  what: string
  /** What comes out here. */
  must: string
  tested: Row
}

const OPENPGP: Record<string, Advisory> = {
  'CVE-2025-47934': {
    what: 'openpgp.js verified one text of a signed message and gave another.',
    must: 'A message with anything beside its one signed text is damaged, as a file too.',
    tested: [
      vector('p26-literal-before', 'p26-literal-after', 'p26-compressed-beside'),
      vector('p26-compressed-before'),
      ['openpgp/stream/differential', 'a message with mutated packets inside is read as a file'],
    ],
  },
  'openpgpjs 108': {
    what: 'openpgp.js gave a text that was appended to a signed one.',
    must: 'A message with two texts is damaged.',
    tested: [vector('p26-literal-after')],
  },
  'CVE-2023-41037': {
    what: 'openpgp.js took words before a cleartext signature’s text for signed ones.',
    must: 'Cleartext signatures are no messages, and words among armor headers spoil the armor.',
    tested: [vector('p19-cleartext-signed', 'p04-header-without-colon')],
  },
  'CVE-2019-9153': {
    what: 'openpgp.js took a signature of another type for one over the text.',
    must: 'Only signatures over a document are valid; of all other types they are bad.',
    tested: [vector('p32-standalone', 'p32-timestamp', 'p32-certification')],
  },
  'CVE-2019-9154': {
    what: 'openpgp.js believed subpackets that are not signed.',
    must: 'Dates and recipients count only where they are hashed.',
    tested: [vector('p37-not-hashed', 'unhashed-date')],
  },
  'CVE-2019-9155': {
    what: 'openpgp.js used points that are not on their curve, which tells of the secret key.',
    must: 'Such a sender’s point opens nothing; such a certificate is not sealed to.',
    tested: [
      vector('zero-point'),
      ['openpgp/library/off-curve', 'whose ephemeral point is not on', 'never sealed to'],
      ['openpgp/crypto/primitives', 'agreement with the low-order point'],
      ['guard/recipients', 'offCurve()'],
    ],
  },
  'CVE-2024-58261': {
    what: 'Sequoia read on for ever where a certificate’s primary key was of an unknown version.',
    must: 'Such a certificate is unusable as `version`, before anything else of it is read.',
    tested: [['openpgp/library/key-shape', 'a key of version 3', 'a key of version 6']],
  },
  'CVE-2025-67897': {
    what: 'Sequoia panicked at a wrapped session key that is shorter than the shortest.',
    must: 'A message with a shortened session key is damaged, by either engine.',
    tested: [['openpgp/engine', 'a wrapped session key that was cut opens nothing']],
  },
  'CVE-2025-13470': {
    what: 'rnp 0.18.0 sealed to session keys of zeros alone.',
    must: 'A session key is fresh for each message, and none is of zeros.',
    tested: [['openpgp/engine', 'messages have session keys of their own']],
  },
  'gpg.fail': {
    what: 'GnuPG misread form feeds, overlong lines, and a header about dashes, in and before text.',
    must: 'Armor with a form feed is damaged, long lines are data, and no header means anything.',
    tested: [
      vector('p04-form-feed', 'p04-long-line', 'p04-not-dash-escaped', 'p19-not-dash-escaped'),
      ['openpgp/format/armor', 'rejects an arbitrary text'],
    ],
  },
  EFAIL: {
    what: 'Programs gave out text whose integrity was not proven.',
    must: 'Nothing leaves before the hash over all of it was right; without one, nothing at all.',
    tested: [
      vector('p13-unprotected', 'p13-downgraded', 'p14-no-hash'),
      ['attachments/hostile', 'a flipped bit in its last block is refused without one byte'],
    ],
  },
  'CVE-2026-85783': {
    what: 'An age library tried as many recipients as a file had.',
    must: 'What is not for us is dropped unread, and the rest is tried up to a bound.',
    tested: [
      vector('p09-flood'),
      [
        'openpgp/format/recipient-scan',
        'anonymous packets are candidates up to',
        'at most `BOUNDS.namedAttempts`',
      ],
      ['attachments/hostile', '8 MiB of nameless recipients'],
    ],
  },
}

const CHATS: Record<string, Advisory> = {
  'CVE-2022-39249': {
    what: 'Matrix clients took keys that others passed on, and believed whom they were said to be of.',
    must: 'Certificates are taken from the service’s key lists alone.',
    tested: [
      vector('p26-certificate-beside'),
      ['guard/passing-keys', 'a certificate in or beside a person’s message'],
    ],
  },
  'CVE-2022-39250': {
    what: 'A Matrix client mixed up one kind of key identifier with another.',
    must: 'Certificates are known by fingerprints that we compute, never by what is said of them.',
    tested: [['guard/recipients', 'fingerprint-mismatch']],
  },
  'CVE-2022-39251': {
    what: 'A Matrix client took what was sealed in one way for what must be sealed in another.',
    must: 'A message is no file and a file no message; only its sender’s key speaks for a sender.',
    tested: [
      [
        'attachments/replays',
        'a sealed message delivered again as a file',
        'does not become a file',
      ],
      ['translate/signers', 'twelve forged signatures cause fewer'],
    ],
  },
  'CVE-2021-40823': {
    what: 'Matrix clients gave keys to devices that the server had chosen.',
    must: 'A list that contradicts itself, or what is known, is not sealed to.',
    tested: [
      ['guard/passing-keys', 'a key beside a chat in an update does not become'],
      ['kernel/people/recipients', 'two keys for one person'],
      ['kernel/people/trust', 'a certificate of two people is disputed'],
    ],
  },
  'CVE-2024-47080': {
    what: 'A Matrix client gave what was said before to people who came later.',
    must: 'What was sealed is never sealed again for others, not even when it is sent again.',
    tested: [
      ['guard/mode-flips', 'is repeated with the same sealed bytes'],
      ['double/hanging', 'a hanging sealed send is repeated once with the same bytes'],
    ],
  },
  'CVE-2024-50336': {
    what: 'A Matrix client followed a media id that was a path.',
    must: 'A url of another form is neither fetched nor changed, and no path with dots leaves.',
    tested: [
      ['attachments/media-urls', '/media/../bot/v1/me', 'is left unchanged'],
      ['http/requests.yaml', '/media/..%2f..%2fbot%2fv1%2ftoken%2frevoke'],
    ],
  },
  'GHSA-vrc7-775g-ggqc': {
    what: 'A program took what was not sealed where it had to be sealed.',
    must: 'Readable words in a protected chat are withheld, and none of ours leave for one.',
    tested: [
      ['translate/verdicts', 'plaintext-in-protected'],
      ['guard/latch', 'a chat that claims to be open %s receives no readable text'],
      ['guard/lookup-fails', 'no text leaves when mode and key list are answered by %s'],
    ],
  },
  'ePrint 2024/918': {
    what: 'Delta Chat let unverified paths decide about verified ones: keys that came in passing.',
    must: 'One who signs must go on signing, and neither words nor what surrounds them bring keys.',
    tested: [
      vector('p26-certificate-beside', 'p39-signed-around-compressed', 'p39-signed-twice'),
      ['kernel/opening/signatures', 'an earlier verdict of unsigned is void once the person %s'],
      ['guard/passing-keys', 'a certificate in or beside a person’s message'],
    ],
  },
}

const DOORS: Record<string, Advisory> = {
  'CVE-2025-66414, CVE-2025-66416': {
    what: 'Local servers of the MCP kits answered web pages that came under another name.',
    must: 'A strange Host is turned away, and so is every web page.',
    tested: [['http/requests.yaml', 'an unknown Host is refused', 'Sec-Fetch-Site: cross-site']],
  },
  'pantalaimon e62cfe0': {
    what: 'A proxy took characters off a token’s start.',
    must: 'The token is compared whole.',
    tested: [['http/requests.yaml', 'a token with something before it', 'accepted in any case']],
  },
  'GHSA-5hvv-m4w4-gf6v': {
    what: 'oauth2-proxy let in whoever called itself a health checker.',
    must: 'No name of a program is a token.',
    tested: [['http/requests.yaml', 'GoogleHC/1.0', 'took for a right is none']],
  },
  'GHSA-7x63-xv5r-3p2x, CVE-2026-76835': {
    what: 'oauth2-proxy believed a header about which path was asked for.',
    must: 'No header changes which path, method or address it is.',
    tested: [
      ['http/requests.yaml', 'X-Forwarded-Uri'],
      ['http/headers', 'neither query nor headers change the path'],
    ],
  },
  'GHSA-vjrc-mh2v-45x6': {
    what: 'oauth2-proxy handed on a header that a stranger had spelt with underscores.',
    must: 'No header of the bot’s is believed or handed on, however spelt.',
    tested: [
      ['http/requests.yaml', 'X_Forwarded_Uri', 'X_Auth_Request_User'],
      ['http/headers', 'X_Forwarded_Proto'],
    ],
  },
  'GHSA-7rh7-c77v-6434': {
    what: 'oauth2-proxy looked for paths that need no token in the query too.',
    must: 'No spelling of a path does without a token.',
    tested: [['http/requests.yaml', '/bot/v1/commands?/healthz']],
  },
  'CVE-2025-32442, CVE-2026-25223, CVE-2026-3419, CVE-2026-33806': {
    what: 'fastify let a body past its schema by the spelling of its type.',
    must: 'One spelling of JSON is read, by one reader whatever it is called; all else is a bad request.',
    tested: [
      [
        'http/requests.yaml',
        'application/json garbage',
        'application/json\\ta',
        'Application/JSON',
      ],
    ],
  },
  'CVE-2018-7160': {
    what: 'A web page could reach the inspector of a Node process.',
    must: 'A signal opens none, and a start with one is refused.',
    tested: [
      ['cli/run', 'continues after SIGHUP and SIGUSR1'],
      ['config/environment', 'inspect'],
    ],
  },
}

const UNDICI: Record<string, Advisory> = {
  'CVE-2026-48931': {
    what: 'An answer that nobody asked for was given to the next call.',
    must: 'It is given to nobody.',
    tested: [
      ['service/misbehaving', 'an unrequested answer sent %s is not used for the next call'],
    ],
  },
  'CVE-2026-22036': {
    what: 'An answer in hundreds of encodings was unpacked as often.',
    must: 'An answer in any encoding is refused unread.',
    tested: [
      ['service/misbehaving', 'a long chain of encodings', 'an encoding that was not requested'],
    ],
  },
  'CVE-2026-1525': {
    what: 'Two lengths in one message were read differently along the way.',
    must: 'An answer with two lengths is none.',
    tested: [['service/misbehaving', 'two lengths', 'a length and chunked encoding']],
  },
  'CVE-2026-2581': {
    what: 'The interceptor that shares answers kept them all.',
    must: 'No interceptor is used.',
    tested: [
      ['bounds/advisories', 'the source imports only pools, agents and the connector of undici'],
    ],
  },
  'CVE-2026-2229': {
    what: 'A WebSocket frame ended the process.',
    must: 'No WebSocket is used.',
    tested: [
      ['bounds/advisories', 'the source imports only pools, agents and the connector of undici'],
    ],
  },
  'CVE-2025-47279': {
    what: 'Each refused certificate of a server left some memory behind.',
    must: 'The version in use does not; here it is checked that no older one is.',
    tested: { why: 'a few KiB for each handshake show after hours, in no test that ends' },
  },
}

const ALL: Record<string, Advisory> = { ...OPENPGP, ...CHATS, ...DOORS, ...UNDICI }

test.each(Object.entries(ALL))('the advisory %s names existing tests or a reason', (_, one) => {
  expect(missing(one.tested)).toEqual([])
})

const NAMES = /CVE-[\d-]+\d|GHSA-[\w-]+|gpg\.fail|EFAIL|ePrint [\d/]+|openpgpjs \d+/g
const covers = (name: string): string[] => {
  const line = /^covers: (.*)$/m.exec(vectorText(name) ?? '')?.[1] ?? ''
  return [...line.matchAll(NAMES)].map(([found]) => found)
}

test.each(Object.entries(ALL))(
  'each vector of the advisory %s names the advisory',
  (name, { tested }) => {
    const rows = 'why' in tested ? [] : tested
    const vectors = rows.flatMap(([file, ...names]) => (file === 'vectors' ? names : []))
    for (const one of vectors) expect(covers(one), one).toContain(name)
  },
)

test('each advisory in a vector has a row in the table', () => {
  const folders = ['messages', 'certificates', 'chats'].map(
    (folder) => new URL(`../vectors/${folder}/`, import.meta.url),
  )
  const names = folders.flatMap((folder) => readdirSync(folder))
  const named = names.flatMap((file) => covers(file.replace('.txt', '')))
  expect(Object.keys(ALL)).toEqual(expect.arrayContaining(named))
})

const root = new URL('../../', import.meta.url)

test('the source imports only pools, agents and the connector of undici', () => {
  const source = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(new URL(`src/${path}`, root), 'utf8'))
    .join('\n')
  const imports = [...source.matchAll(/import (?:type )?\{([^}]*)\} from 'undici'/g)]
  const names = imports.flatMap(([, list = '']) => list.split(',').map((name) => name.trim()))
  expect([...new Set(names)].toSorted()).toEqual([
    'Agent',
    'Dispatcher',
    'EnvHttpProxyAgent',
    'Pool',
    'buildConnector',
    'type Dispatcher',
  ])
  expect(source).not.toMatch(/\binterceptors?\b|\bRetryHandler\b|\bnew (WebSocket|EventSource)\b/)
})

/** The first versions without what is named above, as far as that is known. */
const LEAST = { openpgp: [6, 3, 1], fastify: [5, 8, 5], undici: [8, 12, 0] } as const

test.each(Object.entries(LEAST))('the dependency %s is no older than %j', (name, least) => {
  const manifest = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
  const { dependencies, devDependencies: bundled } = manifest
  const version = String(dependencies[name] ?? bundled[name])
    .split('.')
    .map(Number)
  const weigh = (parts: readonly number[]): number =>
    parts.reduce((sum, part) => sum * 10_000 + part, 0)
  expect(weigh(version)).toBeGreaterThanOrEqual(weigh(least))
})
