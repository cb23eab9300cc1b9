/** The parts between the doors as settings, store and service make them. */
import { expect, onTestFinished, test } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom, type Settings } from '../../src/config/settings.ts'
import { createCore } from '../../src/wiring/core.ts'
import { flags, open, put, temporary } from '../store/support.ts'
import { alice, bot, MADE_MS, mallory } from '../support/openpgp-people.ts'
import { clientOf } from '../support/client.ts'
import { refused } from '../support/refused.ts'
import { ALICE, CHAT, serve, storeWith, useCore } from './core-scene.ts'

const { engine, scene } = useCore()
const DAY_MS = 86_400_000
type Opening = [
  name: string,
  settings: Partial<Settings['open']>,
  from: typeof alice,
  text: string,
  expected: string | undefined,
  others?: string[],
]

test('an approval rule of a client that there is not keeps a sidecar from its start, and no command', async () => {
  const rule = { chats: [CHAT], clients: ['agent'], by: [ALICE], kinds: ['send' as const] }
  const settings = { approve: [{ ...rule, within: '1h' }] }
  const refusal = refused('settings', 'there is no client agent')
  await expect(scene({ settings })).rejects.toThrow(refusal)
  const { core } = await scene({ settings, purpose: 'look' })
  await core.known.clients.add(clientOf({ name: 'agent' }))
  await scene({ settings, store: core.store })
})

test.each<Opening>([
  ['verify: flag', { verify: 'flag' }, mallory, 'words', undefined],
  ['verify: off', { verify: 'off' }, mallory, 'words', 'words'],
  ['normalizeText: true', { normalizeText: true }, alice, 'one\r\ntwo', 'one\ntwo'],
  ['normalizeText: false', { normalizeText: false }, alice, 'one\r\ntwo', 'one\r\ntwo'],
  ['audience: check', { audience: 'check' }, alice, 'words', undefined, [mallory.certificate]],
  ['audience: off', { audience: 'off' }, alice, 'words', 'words', [mallory.certificate]],
])(
  'the setting `open.%s` determines the delivered text of an update',
  async (_name, settings, from, text, expected, others: string[] = []) => {
    const { core } = await scene({ settings: { open: settings } })
    const armored = await engine.seal({
      text,
      certificates: [bot.certificate, ...others],
      signer: from.unlocked,
      cipher: 'aes128',
    })
    const date = Math.floor(Date.now() / 1000)
    const chat = { id: CHAT, kind: 'private' }
    const message = { id: 3, chat, from: { id: ALICE }, date, armored }
    const { updates = [] } =
      (await core.incoming?.open([{ updateId: 1, kind: 'message', message }] as never)) ?? {}
    expect((updates as { message: { text?: string } }[])[0]?.message.text).toBe(expected)
  },
)

test.each([
  ['a bot with a published key seals and opens messages', null, true, [true, true, true, true]],
  [
    'a bot with a retired key opens messages, and sends nothing readable',
    'retired',
    false,
    [false, true, true, true],
  ],
  ['a bot without a key passes messages unchanged', null, false, [false, false, false, false]],
] as const)('%s', async (_what, key, publish, expected) => {
  const { core, send, sent, service } = await scene({ key, settings: { key: { publish } } })
  service.chat.mode = 'open'
  await core.modes.get(CHAT, 0)
  const { publication, replayMemory, incoming, guard } = core
  const has = [publication, replayMemory, incoming].map((part) => part !== null)
  expect([...has, guard.mustSeal(CHAT)]).toEqual(expected)
  const isSent = await send('words').then(
    () => true,
    () => false,
  )
  expect([isSent, sent.length === 1]).toEqual([!expected[3], !expected[3]])
  expect(guard.passesAll).toBe(!expected[3])
})

test.each([
  ['protected', {}, ['sealed', [null]]],
  ['open', {}, ['readable', []]],
  ['protected', { trust: { policy: 'pinned' } }, ['refused', ['not-accepted']]],
] as const)(
  '`previewChat` without a key previews a text for a group of mode %s, with %j',
  async (mode, settings, expected) => {
    const { core, service } = await scene({ key: null, settings })
    Object.assign(service.chat, { kind: 'group', mode })
    const { body, people } = await core.previewChat(CHAT)
    expect([body, people.map(({ skipped }) => skipped)]).toEqual(expected)
  },
)

test('a key that another bot of the process has is not imported', async () => {
  const take = async (ownerOf?: () => string | null) => {
    const { unlocked, certificate } = bot
    const key = { fingerprint: unlocked.fingerprint, certificate, locked: 'l' }
    const adopt = async () => ({ outcome: 'adopted', key, expiresMs: Infinity }) as const
    const parts = { engine: { ...engine, adopt }, ...(ownerOf && { ownerOf }) }
    const { core } = await scene({ key: null, parts })
    await core.transfer.take({ file: new Uint8Array(), passphrase: null }, { mayEndSoon: false })
    return core.keyring.pending?.fingerprint
  }
  expect(await take()).toBe(bot.unlocked.fingerprint)
  expect(await take(() => null)).toBe(bot.unlocked.fingerprint)
  const other = { code: 'refused', message: expect.stringContaining('the bot other') as string }
  await expect(take(() => 'other')).rejects.toMatchObject(other)
})

test('the guard of an unshared store waits for the mode of a chat without a limit', async () => {
  const { send, sent, service } = await scene()
  Object.assign(service.chat, { kind: 'group', mode: 'open' })
  service.onChat = () => void (service.passedMs += DAY_MS)
  await send('words')
  expect(sent).toHaveLength(1)
})

/** A core that opens the store of the settings. */
const begin = async (dataDir: string, o: Partial<Parameters<typeof createCore>[0]> = {}) => {
  const served = serve()
  const settings = settingsFrom({
    upstream: { url: 'http://x' },
    dataDir,
    key: { protection: 'none' },
  })
  const secrets = { botToken: SecretSource.fromValue('t'), clientToken: null, passphrase: null }
  const log: Parameters<typeof createCore>[0]['log'] = served.parts.part('log')
  const core = await createCore({ settings, secrets, log, ...o }, served.link, 'run')
  onTestFinished(() => core[Symbol.asyncDispose]())
  return { core, service: served.service }
}

test('`createCore` makes a store in dataDir unless it may not, and closes the store at its end', async () => {
  const dataDir = temporary()
  const missing = begin(dataDir, { mayCreateStore: false })
  await expect(missing).rejects.toMatchObject({ code: 'store-missing' })
  const { core } = await begin(dataDir)
  await expect(begin(dataDir)).rejects.toMatchObject({ code: 'store-in-use' })
  await core[Symbol.asyncDispose]()
  const again = await begin(dataDir, { mayCreateStore: false })
  expect(await flags(again.core.store)).toMatchObject({ bot_id: '1' })
})

test('`createCore` refuses a restored store, and leaves the store closed', async () => {
  const dataDir = temporary()
  const store = await open(dataDir, { protection: 'none', isRequired: true })
  await put(store, 'backup_taken_at', '2026-01-01T00:00:00Z')
  await store[Symbol.asyncDispose]()
  const restored = { code: 'store-restored' }
  await expect(begin(dataDir)).rejects.toMatchObject(restored)
  await expect(begin(dataDir)).rejects.toMatchObject(restored)
})

test('`createCore` scrubs a store with a due scrub', async () => {
  const store = await storeWith(null)
  await put(store, 'scrub_due', '1')
  await scene({ store, key: null, purpose: 'begin' })
  expect(await flags(store)).not.toHaveProperty('scrub_due')
})

test('the OpenPGP engine of a sidecar judges certificates by the supplied time', async () => {
  const { core, service } = await begin(temporary())
  expect((await core.engine.judge(alice.certificate)).unusable).toBeNull()
  service.passedMs = MADE_MS - DAY_MS - Date.now()
  const other = await begin(temporary())
  Object.assign(other.service, service)
  expect((await other.core.engine.judge(alice.certificate)).unusable).toBe('not-yet-valid')
})
