/** The store of the parts between the doors: shared, made, looked for, handed in. */
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { OperatorError } from '../../src/errors.ts'
import { createCore } from '../../src/wiring/core.ts'
import { flags, open, put, temporary } from '../store/support.ts'
import { alice, MADE_MS } from '../support/openpgp-people.ts'
import { serve, storeWith, useCore } from './core-scene.ts'
import { PlayedStore } from './played-store.ts'

const { scene } = useCore()
const DAY_MS = 86_400_000
const UNWRITABLE = { code: 'postern_store_unwritable' }
const GROUP = { kind: 'group', mode: 'open' }

describe('a store that sidecars share', () => {
  const shared = async (settings: object = {}) => {
    const played = new PlayedStore(await storeWith('active'))
    return { played, ...(await scene({ store: played.shared, settings })) }
  }

  test('is asked before each decision, and readable words leave within two seconds', async () => {
    const { played, send, sent, service } = await shared()
    Object.assign(service.chat, GROUP)
    played.onFresh = async () => void (service.passedMs += 1500)
    await send('words')
    played.onFresh = async () => void (service.passedMs += 2000)
    await expect(send('words')).rejects.toMatchObject(UNWRITABLE)
    played.onFresh = () => Promise.reject(new Error('out of reach'))
    await expect(send('words')).rejects.toThrow('out of reach')
    expect(sent).toHaveLength(1)
  })

  test('gives the turn for each step with the key, and lets sends wait for it', async () => {
    const { played, core, send, sent } = await shared()
    const locks: string[] = []
    played.onLock = async (name) => void locks.push(name)
    await send('words')
    await core.publication?.compareNow()
    expect(locks).toEqual(['sends', 'rotation'])
    played.isHeld = false
    await expect(send('words')).rejects.toMatchObject(UNWRITABLE)
    expect(sent).toHaveLength(1)
  })

  test('is not that of one sidecar, where readable words may take their time', async () => {
    const { send, sent, service } = await scene()
    Object.assign(service.chat, GROUP)
    service.onChat = () => void (service.passedMs += DAY_MS)
    await send('words')
    expect(sent).toHaveLength(1)
  })
})

describe('the store', () => {
  const SECRETS = { botToken: SecretSource.fromValue('t'), clientToken: null, passphrase: null }
  /** A core that opens what the settings name. */
  const begin = async (dataDir: string, o: Partial<Parameters<typeof createCore>[0]> = {}) => {
    const key = { protection: 'none' } as const
    const served = serve()
    const log: Parameters<typeof createCore>[0]['log'] = served.parts.part('log')
    const settings = settingsFrom({ upstream: { url: 'http://x' }, dataDir, key })
    const core = await createCore({ settings, secrets: SECRETS, log, ...o }, served.link, 'run')
    onTestFinished(() => core[Symbol.asyncDispose]())
    return { core, ...served }
  }

  test('is made in dataDir where it may be, and closed with the sidecar', async () => {
    const dataDir = temporary()
    const missing = begin(dataDir, { mayCreateStore: false })
    await expect(missing).rejects.toMatchObject({ code: 'store-missing' })
    const { core } = await begin(dataDir)
    await expect(begin(dataDir)).rejects.toMatchObject({ code: 'store-in-use' })
    await core[Symbol.asyncDispose]()
    const again = await begin(dataDir, { mayCreateStore: false })
    expect(await flags(again.core.store)).toMatchObject({ bot_id: '1' })
  })

  test('is closed again where the sidecar does not start', async () => {
    const dataDir = temporary()
    const store = await open(dataDir, { protection: 'none', isRequired: true })
    await put(store, 'backup_taken_at', '2026-01-01T00:00:00Z')
    await store[Symbol.asyncDispose]()
    const restored = { code: 'store-restored' }
    await expect(begin(dataDir)).rejects.toMatchObject(restored)
    await expect(begin(dataDir)).rejects.toMatchObject(restored)
    const again = await open(dataDir, { mode: 'existing' })
    const { logged } = await scene({ store: again, purpose: 'look' })
    expect(logged).toEqual(['link.expectBot 1'])
  })

  test('is looked for in the database that is handed in', async () => {
    const unreachable = new OperatorError('store-unreachable', 'gone', 'wait')
    const address = { host: 'h', port: 1, database: 'd', user: 'u' }
    const ask = vi.fn((_query: string) => Promise.reject(unreachable))
    const parts = { database: { address, ask } as never }
    await expect(begin(temporary(), { parts })).rejects.toBe(unreachable)
    expect(ask).toHaveBeenCalledOnce()
  })

  test('that is handed in stays open, and says whose it is and how it is protected', async () => {
    const store = await storeWith(null)
    const nobodys = await scene({ store, key: null })
    expect(nobodys.logged).toEqual(['log.info {"protection":"none"} "the store is open"'])
    await nobodys.core[Symbol.asyncDispose]()
    await put(store, 'bot_id', '7')
    await put(store, 'scrub_due', '1')
    const { logged } = await scene({ store, key: null, purpose: 'begin' })
    expect(logged).toEqual(['link.expectBot 7'])
    expect(await flags(store)).toEqual({ bot_id: '7' })
  })

  test('has an engine of the settings beside it, by the time of the link, where none is handed in', async () => {
    const { core, service } = await begin(temporary())
    const { certificate } = alice
    expect((await core.engine.judge(certificate)).unusable).toBeNull()
    service.passedMs = MADE_MS - DAY_MS - Date.now()
    const other = await begin(temporary())
    Object.assign(other.service, service)
    expect((await other.core.engine.judge(certificate)).unusable).toBe('not-yet-valid')
  })
})
