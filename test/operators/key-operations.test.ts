/** What commands on keys, secrets and backups do with the parts of a sidecar, and what they answer. */
import { describe, expect, test, vi } from 'vitest'
import { BACKUPS } from '../../src/operators/backups.ts'
import { FLOOR_MS, KEYS } from '../../src/operators/keys.ts'
import type { OperationParts } from '../../src/operators/operation.ts'
import { OUTBOX } from '../../src/operators/outbox.ts'
import { OutboxEntries } from '../../src/outbox/entries.ts'
import { ROTATION } from '../../src/operators/rotation.ts'
import { SECRETS } from '../../src/operators/secrets.ts'
import { memoryGaps, restoredFrom } from '../../src/store/flags.ts'
import { entryOf } from '../outbox/support.ts'
import { open, put, temporary } from '../store/support.ts'
import { NO_APPROVALS } from '../support/approvals.ts'
import { refused } from '../support/refused.ts'

const DAY_MS = 86_400_000
const AT_MS = Date.UTC(2026, 2, 1)
const AT = '2026-03-01T00:00:00.000Z'
const BASE = { createdAtMs: AT_MS, certificate: 'cert', publishedAtMs: null }
const GONE = { ...BASE, retiredAtMs: null, destroyedAtMs: null }
const ACTIVE = { ...GONE, fingerprint: 'aa', state: 'active', publishedAtMs: AT_MS + 1000 }
const RETIRED = { ...ACTIVE, fingerprint: 'cc', state: 'retired', retiredAtMs: AT_MS + DAY_MS }
const OWN = [
  ACTIVE,
  { ...GONE, fingerprint: 'bb', state: 'pending' },
  RETIRED,
  { ...RETIRED, fingerprint: 'dd', state: 'destroyed', destroyedAtMs: AT_MS + 9 * DAY_MS },
] as const
type Own = { fingerprint: string; state: string }

/** As long as a store takes at least. */
const later = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))

/** The parts that operations on keys work on; `nowMs` by the earlier of two clocks. */
function keyParts(o: { keys?: readonly Own[]; nowMs?: number; manages?: boolean } = {}) {
  const { keys = OWN, nowMs = Infinity, manages = true } = o
  const did: unknown[] = []
  const does =
    (name: string, result?: unknown) =>
    async (...given: unknown[]) => {
      await later()
      did.push([name, ...given])
      return result
    }
  const parts = {
    keyring: {
      all: keys,
      active: keys.find(({ state }) => state === 'active'),
      pending: keys.find(({ state }) => state === 'pending'),
      find: (named: string) => keys.find(({ fingerprint }) => fingerprint === named),
      opens: ({ state }: Own) => state === 'active' || state === 'retired',
      opensUntilMs: () => AT_MS + 30 * DAY_MS,
      clocks: { earliestMs: () => nowMs },
      destroy: does('destroy'),
    },
    keyUsage: {
      of: (fingerprint: string) =>
        fingerprint === 'cc'
          ? { messages: 5, media: 2, lastAtMs: AT_MS + 2 * DAY_MS }
          : { messages: 0, media: 0, lastAtMs: null },
      flush: does('flush'),
    },
    transfer: {
      give: does('give', 'armored'),
      relock: does('relock', 'relocked'),
      entrust: () => Promise.resolve(null),
    },
    store: {
      method: 'none' as string | null,
      copy: does('copy', '/data/postern.backup-1'),
      move: vi.fn(),
    },
    knownChats: { privateReadable: true, setPrivateReadable: does('setPrivateReadable') },
    storeCopies: () => ['postern.db.before-2'],
  }
  const all = { ...parts, publication: manages ? {} : null }
  return { did, ...parts, parts: all as unknown as OperationParts }
}

const rowOf = async (fingerprint: string) =>
  (await KEYS.keyList.run(keyParts().parts, {})).find((row) => row.fingerprint === fingerprint)

describe('keys', () => {
  test('`keyList` lists each key with its times and the number of messages it opened', async () => {
    expect(await rowOf('aa')).toEqual({
      fingerprint: 'aa',
      state: 'active',
      createdAt: AT,
      publishedAt: '2026-03-01T00:00:01.000Z',
      retiredAt: null,
      destroyedAt: null,
      opensUntil: null,
      opens: true,
      openedMessages: 0,
      openedMedia: 0,
      lastOpenedAt: null,
    })
    expect(await rowOf('cc')).toMatchObject({
      retiredAt: '2026-03-02T00:00:00.000Z',
      opensUntil: '2026-03-31T00:00:00.000Z',
      openedMessages: 5,
      openedMedia: 2,
      lastOpenedAt: '2026-03-03T00:00:00.000Z',
    })
    expect(await rowOf('dd')).toMatchObject({
      destroyedAt: '2026-03-10T00:00:00.000Z',
      opensUntil: null,
      opens: false,
    })
  })

  test.each([
    ['the named key', OWN, 'cc', { fingerprint: 'cc', state: 'retired' }],
    ['the active key', OWN, undefined, { fingerprint: 'aa', state: 'active' }],
    ['the first pending key', OWN.slice(1), undefined, { fingerprint: 'bb', state: 'pending' }],
  ])('`keyShow` and `keyExport` use %s', async (_which, keys, fingerprint, shown) => {
    const { parts, did } = keyParts({ keys })
    const named = fingerprint === undefined ? {} : { fingerprint }
    const certificate = 'cert'
    expect(await KEYS.keyShow.run(parts, named)).toEqual({ ...shown, certificate })
    const given = await SECRETS.keyExport.run(parts, { ...named, passphrase: 'words' })
    expect(given).toEqual({ ...shown, armored: 'armored' })
    expect(did).toEqual([['give', shown.fingerprint, 'words']])
  })

  test('`keyShow` refuses an unknown fingerprint and an empty keyring', async () => {
    const look = (keys: readonly Own[], input: { fingerprint?: string }) => async () =>
      await KEYS.keyShow.run(keyParts({ keys }).parts, input)
    const hint = '`postern key list`'
    await expect(look([], {})).rejects.toEqual(refused('refused', 'there is no key yet', { hint }))
    const unknown = refused('refused', 'no key of ours has this fingerprint', { hint })
    await expect(look(OWN, { fingerprint: 'xx' })).rejects.toEqual(unknown)
  })

  test.each([
    ['the published key', 'aa', 'it is the published key', 'key rotate` puts'],
    ['the pending key', 'bb', 'it waits for its publication', 'rotate --abandon'],
    ['a destroyed key', 'dd', 'it is destroyed already', 'key list` shows'],
    ['an unknown key', 'xx', 'no key of ours', 'key list` shows'],
    [
      'a key retired for less than four days',
      'cc',
      'may still wait',
      'from 2026-03-06T00:00:00.000Z on',
    ],
  ])('`keyDeletion` and `keyDelete` refuse %s', async (_which, fingerprint, message, hint) => {
    const { parts, did } = keyParts({ nowMs: RETIRED.retiredAtMs + FLOOR_MS - 1 })
    for (const { run } of [KEYS.keyDeletion, KEYS.keyDelete]) {
      await expect(async () => await run(parts, { fingerprint })).rejects.toEqual(
        refused('refused', message, { hint }),
      )
    }
    expect(did).toEqual([])
  })

  test('`keyDelete` writes the usage of the key and destroys it once four days have passed', async () => {
    const { parts, did } = keyParts({ nowMs: RETIRED.retiredAtMs + FLOOR_MS })
    expect(await KEYS.keyDelete.run(parts, { fingerprint: 'cc' })).toEqual({
      fingerprint: 'cc',
      message: 'destroyed; its certificate stays, to verify what it signed',
    })
    expect(did).toEqual([['flush'], ['destroy', 'cc']])
  })

  test('`keyDeletion` reports the messages that become unreadable and the places of copies', async () => {
    const { parts } = keyParts()
    const report = await KEYS.keyDeletion.run(parts, { fingerprint: 'cc' })
    expect(report.key).toEqual(await rowOf('cc'))
    const rest = 'and later by phones that had not learned of the next key'
    expect(report.loses).toEqual([
      expect.stringContaining(`from 2026-03-01T00:00:01.000Z to 2026-03-02T00:00:00.000Z ${rest}`),
      'files of those chats that are fetched again',
      'it would have gone on opening until 2026-03-31T00:00:00.000Z',
      'so far it has opened 5 messages and 2 files, the last at 2026-03-03T00:00:00.000Z',
    ])
    expect(report.unsure).toEqual([
      'postern.db.before-2 in dataDir, a copy from before an upgrade',
      'backups and exports that were made of it',
      expect.stringContaining('SSDs, snapshots'),
      expect.stringContaining('the memory of a running sidecar'),
    ])
  })

  test('`keyDeletion` reports a key that was never published from its creation on', async () => {
    const old = { ...GONE, fingerprint: 'gg', state: 'retired' }
    const { parts, keyring } = keyParts({ keys: [old] })
    keyring.opens = () => false
    const { loses } = await KEYS.keyDeletion.run(parts, { fingerprint: 'gg' })
    expect(loses).toEqual([
      expect.stringContaining(`from ${AT} to now and later`),
      expect.anything(),
      'so far it has opened 0 messages and 0 files',
    ])
  })
})

test.each([
  ['publish', KEYS.keyPublish, { replace: false }],
  ['rotate', ROTATION.keyRotate, {}],
  ['abandon', ROTATION.keyAbandon, {}],
  ['generate', SECRETS.keyGenerate, {}],
  ['import', SECRETS.keyImport, { file: '', passphrase: null }],
] as const)(
  '`key %s` is refused where the sidecar manages no key',
  async (_name, { run }, input) => {
    const { parts, did } = keyParts({ manages: false })
    const error = refused('refused', 'key.publish is off', { hint: 'set key.publish to true' })
    await expect(async () => await run(parts, input as never)).rejects.toEqual(error)
    expect(did).toEqual([])
  },
)

const WRAPPER = { wrap: () => Promise.resolve(''), unwrap: () => Promise.reject(new Error()) }

const protect = async (
  input: { protection: 'none' | 'keychain' | 'exec' | 'passphrase'; passphrase: string | null },
  o: { before?: string | null; isScrubbed?: boolean } = {},
) => {
  const { parts, store, did } = keyParts()
  store.method = o.before ?? null
  store.move.mockImplementation(async (_to, relock: (...given: unknown[]) => unknown) => {
    expect(await relock('locked', { from: 'a', to: 'b' })).toBe('relocked')
    store.method = 'meanwhile'
    return { isScrubbed: o.isScrubbed ?? true, oldEntry: 'postern-7' }
  })
  const { protection, message } = await SECRETS.keyProtect.run(
    { ...parts, wrapper: WRAPPER },
    input,
  )
  expect(protection).toBe(input.protection)
  expect(did).toEqual([['relock', 'locked', { from: 'a', to: 'b' }]])
  return { moved: store.move.mock.calls.map(([to]) => to as object), message }
}

test.each([
  ['none', null, { method: 'none' }, /^the store rests without .* or the next start is refused$/],
  ['keychain', 'unused', { method: 'keychain' }, /under the OS keychain .* leave it at auto$/],
  [
    'exec',
    null,
    { method: 'exec', wrapper: WRAPPER },
    /which the command of key.protection wrapped/,
  ],
  ['passphrase', 'new', { method: 'passphrase', passphrase: 'new' }, /from the next start on$/],
] as const)(
  '`keyProtect` moves the store under the protection %s',
  async (protection, passphrase, wanted, message) => {
    const result = await protect({ protection, passphrase })
    expect(result).toEqual({ moved: [wanted], message: expect.stringMatching(message) })
  },
)

test.each([
  ['none', 'backups and copies made before are still without protection'],
  ['passphrase', 'backups and copies made before still open with the old passphrase'],
  ['exec', 'backups and copies made before still need the command, and the key that it used'],
  ['keychain', 'still need the keychain’s entry postern-7, which stays'],
])(
  '`keyProtect` names the copies that remain of a store protected by %s',
  async (before, message) => {
    const input = { protection: 'none', passphrase: null } as const
    expect((await protect(input, { before })).message).toMatch(new RegExp(`; .*${message}$`))
    const left = await protect(input, { before, isScrubbed: false })
    expect(left.message).toMatch(/stays in the log of the database until the sidecar stops$/)
  },
)

test.each([
  ['`passphrase` and no new passphrase', 'passphrase', 'no new passphrase was given'],
  ['`exec` and no configured command', 'exec', 'key.protection names no command'],
] as const)('`keyProtect` with %s moves nothing', async (_what, protection, message) => {
  const { parts, store } = keyParts()
  const input = { protection, passphrase: null }
  const run = async () => await SECRETS.keyProtect.run({ ...parts, wrapper: null }, input)
  await expect(run).rejects.toThrow(message)
  expect(store.move).not.toHaveBeenCalled()
})

/** A store restored from a backup, or not, whose bot has this key at the service. */
const accept = async (shown: string | null, takenAt: string | null, isLatest: boolean) => {
  const store = await open(temporary(), { protection: 'none' })
  if (takenAt !== null) await put(store, 'backup_taken_at', takenAt)
  const publishedKey = () => Promise.resolve(shown)
  const outbox = await OutboxEntries.load(store, NO_APPROVALS)
  for (const id of ['sent', 'waits']) {
    await outbox.add(entryOf({ id }), Buffer.from('{}'))
  }
  await outbox.change('sent', () => ({ state: 'sent', sentId: 7 }))
  const clients = { suspendAdded: async () => ['reporter'] }
  const parts = { ...keyParts().parts, store, publishedKey, outbox, clients } as never
  const accepting = Promise.resolve(BACKUPS.backupAccept.run(parts, { isLatest }))
  const result: unknown = await accepting.catch((error: unknown) => error)
  const states = Object.fromEntries(outbox.all.map(({ id, state }) => [id, state]))
  const isOpen = (await restoredFrom(store)) === null
  return { result, isOpen, gaps: await memoryGaps(store), states, outbox, parts }
}
const replayed = [
  `; messages signed between ${AT} and now will be withheld as replayed`,
  'held until `postern outbox retry ID`, or dropped: waits',
  'suspended until `postern client confirm NAME`, or removed: reporter',
  `not in the backup, to be made again: blocks and other decisions after ${AT}, clients removed since, people forgotten since`,
].join('\n')

test.each([
  [null, 'the service shows no key for the bot'],
  ['cc', 'the service shows cc, which is in the backup (retired)'],
])('`backupAccept` accepts a backup when the service shows the key %s', async (shown, message) => {
  const states = { sent: 'sent', waits: 'waiting' }
  const latest = { result: { message }, isOpen: true, gaps: [], states }
  expect(await accept(shown, AT, true)).toMatchObject(latest)
  const { result, gaps } = await accept(shown, AT, false)
  expect([result, gaps.length]).toEqual([{ message: `${message}${replayed}` }, 1])
})

test('a call of a restored backup is held until the operator retries it, and one that was sent stays so', async () => {
  const { states, outbox, parts } = await accept(null, AT, false)
  expect(states).toEqual({ sent: 'sent', waits: 'held' })
  expect(outbox.waiting).toEqual([])
  expect(outbox.get('waits')?.code).toBe('postern_outbox_restored')
  await OUTBOX.outboxRetry.run(parts, { id: 'waits', readable: false })
  expect(outbox.get('waits')).toMatchObject({ state: 'waiting', code: null, isForSealed: true })
})

test('`backupAccept` refuses a backup older than the key at the service, and a store that was not restored', async () => {
  const newer = await accept('zz', AT, true)
  const message = `the service shows zz, which is not in this backup of ${AT}`
  expect(newer.result).toEqual(
    refused('store-restored', message, { hint: 'restore a later backup' }),
  )
  expect(newer.isOpen).toBe(false)
  const { result } = await accept(null, null, true)
  expect(result).toEqual(
    refused('refused', 'was not restored from a backup', { hint: '`postern status`' }),
  )
})
