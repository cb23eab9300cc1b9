/** The parts between the doors as the settings, the store and the service have them. */
import { describe, expect, test, vi } from 'vitest'
import { alice, bot, mallory } from '../support/openpgp-people.ts'
import { ALICE, CHAT, storeWith, useCore } from './core-scene.ts'

const { engine, scene, readByAlice } = useCore()
const DAY_MS = 86_400_000
const GROUP = { kind: 'group', mode: 'open' }
const resultOf = ({ body }: { body: Buffer }) =>
  (JSON.parse(body.toString()) as { result: unknown }).result

describe('what the bot sends', () => {
  test('is sealed for the person of a protected chat, and answered as it was', async () => {
    const { send, edit, sent, core, store } = await scene()
    expect(resultOf(await send('words'))).toMatchObject({ id: 9, text: 'words' })
    await edit('others')
    expect(sent.map(({ route }) => route)).toEqual(['send', 'edit'])
    expect(await Promise.all(sent.map(readByAlice))).toEqual(['words', 'others'])
    expect(JSON.stringify(sent)).not.toMatch(/words|others/)
    await core[Symbol.asyncDispose]()
    const rows = await store.read((db) => db.selectFrom('sent').selectAll().execute())
    expect(rows).toMatchObject([{ message_id: 9, chat_id: CHAT, recipients: 1 }])
  })

  test('is no longer than the service takes, nor than the engine opens', async () => {
    const { send, sent, service } = await scene()
    service.limits.armoredMax = 100
    await expect(send('words')).rejects.toMatchObject({ code: 'postern_seal_too_large' })
    expect(sent).toEqual([])
    service.limits.armoredMax = 1e9
    const long = 'x'.repeat(2_000_000)
    await expect(send(long)).rejects.toMatchObject({ code: 'postern_seal_too_large' })
  })

  test('is sealed by a key list of keyListSeconds at most', async () => {
    const lists = async (keyListSeconds: number) => {
      const { send, asked } = await scene({ settings: { cache: { keyListSeconds } } })
      await send('words')
      await send('words')
      return asked.filter((call) => call === `chatKeys ${CHAT}`).length
    }
    expect([await lists(60), await lists(0)]).toEqual([1, 2])
  })

  test('is readable in an open group, by an answer of chatSeconds at most', async () => {
    const { send, sent, asked, service } = await scene({ settings: { cache: { chatSeconds: 60 } } })
    Object.assign(service.chat, GROUP)
    await send('words')
    await send('words')
    expect(asked).toEqual([`chat ${CHAT}`])
    service.passedMs = 60_000
    await send('words')
    expect(asked).toEqual([`chat ${CHAT}`, `chat ${CHAT}`])
    expect(sent.map(({ text }) => text)).toEqual(['words', 'words', 'words'])
  })

  test('is refused where a setting refuses it', async () => {
    const refused = async (settings: object, change: object = {}, more: object = {}) => {
      const { send, sent, service } = await scene({ settings })
      Object.assign(service.chat, change)
      if ('people' in change) Object.assign(service, change)
      await expect(send('words', more)).rejects.toMatchObject({
        code: expect.any(String) as string,
      })
      expect(sent).toEqual([])
    }
    await refused({ readableGroups: 'refuse' }, GROUP)
    await refused({ trust: { policy: 'pinned' } })
    await refused({ clearFields: 'refuse' }, {}, { markup: { rows: [[{ text: 'b', data: 'd' }]] } })
    const people = [
      { userId: ALICE, publicKey: alice.certificate },
      { userId: 6, publicKey: 'none' },
    ]
    await refused({ seal: { unusableRecipient: 'refuse' } }, { kind: 'group', people })
  })

  test('goes nowhere while the service shows no key of ours', async () => {
    const { send, sent } = await scene({ key: null })
    await expect(send('words')).rejects.toMatchObject({ code: 'postern_key_unpublished' })
    expect(sent).toEqual([])
  })
})

describe('what the bot gets', () => {
  const seal = async (text: string, o: { from?: typeof alice; to?: string[] } = {}) => {
    const { from = alice, to = [bot.certificate] } = o
    const { unlocked: signer } = from
    return await engine.seal({ text, certificates: to, signer, cipher: 'aes128' })
  }
  const update = (message: object, updateId = 1) => {
    const chat = { id: CHAT, kind: 'private' }
    const date = Math.floor(Date.now() / 1000)
    const whole = { id: 3, chat, from: { id: ALICE }, date, ...message }
    return { updateId, kind: 'message', message: whole }
  }
  const opened = async ({ core }: Awaited<ReturnType<typeof scene>>, ...updates: object[]) => {
    const { updates: given = [] } = (await core.incoming?.open(updates as never)) ?? {}
    return (given as ReturnType<typeof update>[]).map(
      ({ message }) =>
        message as { text?: string; postern?: { verdict: string }; media?: object[] },
    )
  }

  test('is opened and verified, once, with the urls of its files', async () => {
    const bots = await scene()
    const media = [{ url: 'http://x/media/abc' }]
    const armored = await seal('words')
    const [message] = await opened(bots, update({ armored, media }))
    expect(message).toMatchObject({ text: 'words', postern: { verdict: 'verified' } })
    expect(message?.media).toEqual([
      { url: expect.stringMatching(/^\/media\/abc\?chat=50/) as string },
    ])
    const [again] = await opened(bots, update({ armored, id: 4 }, 2))
    expect(again).toMatchObject({ postern: { verdict: 'replayed' } })
    expect(again?.text).toBeUndefined()
  })

  test('is no word of ours that the service gives to another chat', async () => {
    const bots = await scene()
    await bots.send('words')
    const [{ armored } = {}] = bots.sent
    const [message] = await opened(bots, update({ armored, chat: { id: 51, kind: 'private' } }))
    expect(message).toMatchObject({ postern: { verdict: 'replayed' } })
  })

  test('is delivered as the settings of opening want it', async () => {
    const forged = async (open_: object, text = 'words', from = mallory, to = [bot.certificate]) =>
      (
        await opened(
          await scene({ settings: { open: open_ } }),
          update({ armored: await seal(text, { from, to }) }),
        )
      )[0]
    expect((await forged({ verify: 'flag' }))?.text).toBeUndefined()
    expect((await forged({ verify: 'off' }))?.text).toBe('words')
    const twoLines = async (normalizeText: boolean) =>
      (await forged({ normalizeText }, 'one\r\ntwo', alice))?.text
    expect([await twoLines(true), await twoLines(false)]).toEqual(['one\ntwo', 'one\r\ntwo'])
    const toOthers = async (audience: string) =>
      (await forged({ audience }, 'words', alice, [bot.certificate, mallory.certificate]))?.text
    expect([await toOthers('check'), await toOthers('off')]).toEqual([undefined, 'words'])
  })
})

describe('a bot', () => {
  const KEYLESS = { key: { publish: false } }

  test.each([
    ['that publishes a key seals and opens', null, true, [true, true, true, true]],
    [
      'that had a key opens, and sends no readable words',
      'retired',
      false,
      [false, true, true, true],
    ],
    ['without a key passes everything through', null, false, [false, false, false, false]],
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

  test('has recorded up to where its updates are confirmed, where it opens any', async () => {
    const confirmed = async (o: Parameters<typeof scene>[0]) => {
      const { core, store } = await scene(o)
      await core.recordConfirmed(7)
      return await store.read((db) => db.selectFrom('confirmed').select('below').execute())
    }
    expect(await confirmed({})).toEqual([{ below: 7 }])
    expect(await confirmed({ key: null, settings: KEYLESS })).toEqual([])
  })

  test('shows before it has a key what it would do with a text', async () => {
    const preview = async (mode: string, settings: object = {}) => {
      const { core, service, asked } = await scene({ key: null, settings })
      Object.assign(service.chat, { kind: 'group', mode })
      const { body, people } = await core.previewChat(CHAT)
      return [body, people.map(({ skipped }) => skipped), asked.length]
    }
    expect(await preview('protected')).toEqual(['sealed', [null], 2])
    expect(await preview('open')).toEqual(['readable', [], 1])
    const pinned = { trust: { policy: 'pinned' } }
    expect(await preview('protected', pinned)).toEqual(['refused', ['not-accepted'], 2])
  })
})

describe('the bot’s key', () => {
  test('opens for retainDays after another replaced it', async () => {
    const { core } = await scene({ settings: { key: { retainDays: 4 } } })
    const retired = { state: 'retired', retiredAtMs: 5 } as Parameters<
      typeof core.keyring.opensUntilMs
    >[0]
    expect(core.keyring.opensUntilMs(retired)).toBe(5 + 4 * DAY_MS)
  })

  test('is judged by the clocks of this machine and of the service', async () => {
    const { core, service } = await scene()
    const behindMs = () =>
      Math.round(core.keyring.clocks.latestMs() - core.keyring.clocks.earliestMs())
    service.skewMs = 60_000
    expect(behindMs() / 1000).toBeCloseTo(60, 0)
    expect(core.keyring.clocks.latestMs() / 1000).toBeCloseTo(Date.now() / 1000, 0)
    expect(core.keyring.clocks.agree()).toBe(true)
    service.skewMs = null
    expect(core.keyring.clocks.agree()).toBe(false)
    expect(behindMs()).toBeLessThan(1000)
  })

  test.each([
    [2, 1],
    [4, 0],
    [undefined, 0],
  ])(
    'of three days is replaced after rotateEveryDays %s: %s times',
    async (rotateEveryDays, times) => {
      const store = await storeWith('active')
      const publishedAt = Date.now() - 3 * DAY_MS
      await store.write((db) =>
        db.updateTable('own_keys').set({ published_at: publishedAt }).execute(),
      )
      const generate = vi.fn(() => Promise.reject(new Error('no key today')))
      const key = { publish: true, ...(rotateEveryDays !== undefined && { rotateEveryDays }) }
      await scene({ store, settings: { key }, parts: { engine: { ...engine, generate } } })
      expect(generate).toHaveBeenCalledTimes(times)
    },
  )

  test('may be brought, unless another bot of the process has it', async () => {
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
})
