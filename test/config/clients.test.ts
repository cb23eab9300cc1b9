/** Clients and consumers in the settings. */
import { expect, test } from 'vitest'
import { approvalRules, givenClients, givenConsumers } from '../../src/config/client-entry.ts'
import { load } from '../../src/config/load.ts'
import { showSettings } from '../../src/config/show.ts'
import { file, folder, refusalOf, sources } from './support.ts'

const HASH = 'ab'.repeat(32)

function reading(entry: string, cwd = folder()) {
  const configFlag = file(cwd, 'a.yaml', `clients:\n  list:\n    - ${entry}\n`)
  return sources({ cwd, configFlag })
}
const given = (entry: string) => givenClients(load(reading(entry)).settings.clients.list)

test('a client has the rights of its entry and the documented defaults', () => {
  expect(given(`{name: a, may: [send], tokenHash: ${HASH}}`)).toEqual([
    {
      name: 'a',
      credential: HASH,
      createdAtMs: null,
      may: ['send'],
      chats: [],
      persons: [],
      maxChars: null,
      outbox: 'asked',
      buttons: false,
      files: true,
      rate: null,
      expiresAtMs: null,
    },
  ])
  const more = 'chats: [-5, all], persons: [7], maxChars: 9, buttons: true, files: false'
  const times = 'rate: 5/min, expires: 2027-01-31'
  expect(
    given(`{name: b, may: [read, send], ${more}, ${times}, tokenHash: ${HASH}}`),
  ).toMatchObject([
    {
      may: ['read', 'send'],
      chats: [-5, 'all'],
      persons: [7],
      maxChars: 9,
      buttons: true,
      files: false,
      rate: { calls: 5, perMs: 60_000 },
      expiresAtMs: Date.parse('2027-01-31'),
    },
  ])
})

test.each([
  ['1/s', 1000],
  ['20/min', 60_000],
  ['3/h', 3_600_000],
  ['999999/d', 86_400_000],
])("a client's rate of %s counts calls in %d ms", (rate, perMs) => {
  const [client] = given(`{name: a, may: [send], rate: ${rate}, tokenHash: ${HASH}}`)
  expect(client?.rate).toEqual({ calls: Number(rate.split('/')[0]), perMs })
})

test("a client's token in a file is stored as its SHA-256", () => {
  const cwd = folder()
  const token = file(cwd, 'token', 'pstn_secret\n')
  const { settings } = load(reading(`{name: a, may: [send], tokenFile: ${token}}`, cwd))
  const [client] = givenClients(settings.clients.list)
  expect(client?.credential).toMatch(/^[0-9a-f]{64}$/)
  expect(JSON.stringify(client)).not.toContain('pstn_secret')
})

test("a client's certificate is stored as its SHA-256 in lower case without colons", () => {
  const print = 'AB:'.repeat(31)
  for (const text of [`"${print}CD"`, `${'ab'.repeat(31)}cd`]) {
    const [client] = given(`{name: a, may: [send], certificate: ${text}}`)
    expect(client?.credential).toBe(`certificate ${'ab'.repeat(31)}cd`)
  }
})

test('a list of clients in `config show` is accepted as settings file', () => {
  const cwd = folder()
  const loaded = load(reading(`{name: a, may: [send], rate: 5/min, tokenHash: ${HASH}}`, cwd))
  file(cwd, 'b.yaml', showSettings(loaded))
  const again = load(sources({ cwd, configFlag: 'b.yaml' }))
  expect(again.settings.clients).toEqual(loaded.settings.clients)
})

const SEND = `name: a, may: [send], tokenHash: ${HASH}`
test.each([
  ['no rights', `{name: a, tokenHash: ${HASH}}`, '0.may: expected a list, in the settings file'],
  ['an empty list of rights', `{name: a, may: [], tokenHash: ${HASH}}`, '0.may'],
  ['an unknown right', `{name: a, may: [sing], tokenHash: ${HASH}}`, '0.may.0'],
  ['a name in capitals', `{${SEND.replace('name: a', 'name: A')}}`, '0.name: expected a name of'],
  ['no token', '{name: a, may: [send]}', '0: expected one of tokenHash, tokenFile and certificate'],
  ['two tokens', `{${SEND}, tokenFile: x}`, '0: expected one of'],
  ['a token in clear', `{${SEND.replace(HASH, 'pstn_x')}}`, '0.tokenHash: expected a SHA-256'],
  ['an unknown unit of its rate', `{${SEND}, rate: 5/week}`, '0.rate: expected a'],
  ['an invalid date', `{${SEND}, expires: soon}`, '0.expires'],
  ['a chat by its name', `{${SEND}, chats: [office]}`, '0.chats.0'],
  ['an unknown setting', `{${SEND}, all: true}`, '0'],
  ['a name of the prototype', `{${SEND}, __proto__: {}}`, '0'],
])('a client with %s is refused', (_what, entry, message) => {
  expect(refusalOf(() => load(reading(entry))).message).toContain(`clients.list: ${message}`)
})

test('two clients of one name are refused, and so is a list in the environment', () => {
  const one = `{name: a, may: [send], tokenHash: ${HASH}}`
  expect(refusalOf(() => load(reading(`${one}\n    - ${one}`))).message).toContain('each name once')
  const env = { ...sources().env, POSTERN_CLIENTS_LIST: one }
  expect(refusalOf(() => load(sources({ env }))).message).toContain('expected a list')
})

test("a client's token file that others can read is refused", () => {
  const cwd = folder()
  const open = file(cwd, 'token', 'pstn_secret\n', 0o644)
  const { settings } = load(reading(`{name: a, may: [send], tokenFile: ${open}}`, cwd))
  expect(refusalOf(() => givenClients(settings.clients.list)).message).toContain(
    `client a: ${open} holds a secret and others can read it`,
  )
})

const all = (entries: string, cwd = folder()) => {
  const configFlag = file(cwd, 'a.yaml', `consumers: [${entries}]\n`)
  return givenConsumers(load(sources({ cwd, configFlag })).settings.consumers)
}

test('a consumer reads all chats and kinds by default and has no secret', () => {
  const [consumer] = all('{name: archive, url: "https://archive.example.org/hook"}')
  expect(consumer).toMatchObject({ secret: null, kinds: null, reader: { chats: ['all'] } })
  expect(consumer?.reader).toMatchObject({ name: 'archive', may: ['read'], files: true })
})

test('a consumer has the secret of its file', () => {
  const cwd = folder()
  const secret = file(cwd, 'secret', 'hidden\n')
  const [consumer] = all(`{name: a, url: "http://h", secretFile: ${secret}}`, cwd)
  expect(consumer?.secret).toBe('hidden')
})

test.each([
  ['{name: a, url: "ftp://h"}', 'consumers'],
  ['{name: a, kinds: []}', 'consumers'],
  ['{name: A}', 'consumers'],
  ['{name: a, may: [send]}', 'consumers'],
  ['{name: a}, {name: a}', 'expected each name once'],
])('the consumer %s is refused', (entries, message) => {
  expect(refusalOf(() => all(entries)).message).toContain(message)
})

test('an approval rule of a client that there is not is refused, and one of a listed client is accepted', () => {
  const configFlag = file(
    folder(),
    'a.yaml',
    'approve: [{chats: [-5], clients: [agent], by: [7]}]\n',
  )
  const { approve } = load(sources({ configFlag })).settings
  const refusal = refusalOf(() => approvalRules(approve, [{ name: 'agnet' }]))
  expect([refusal.code, refusal.message]).toEqual(['settings', 'approve: there is no client agent'])
  expect(approvalRules(approve, [{ name: 'agent' }])).toMatchObject([{ clients: ['agent'] }])
  expect(approvalRules(approve, null)).toHaveLength(1)
})
