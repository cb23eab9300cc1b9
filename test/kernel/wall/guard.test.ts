import { OvertakenError } from '../../../src/errors.ts'
import { ALLOWED, denied } from '../../../src/kernel/decision.ts'
import { sightingsOf, unseen } from '../../support/unseen.ts'
import { SYSTEM_TIME } from '../../../src/util/clock.ts'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { KnownChats } from '../../../src/kernel/wall/known-chats.ts'
import { Modes } from '../../../src/service/lookups/modes.ts'
import { Guard, type GuardParts } from '../../../src/kernel/wall/guard.ts'
import { storeForFile } from '../../store/support.ts'
import { encryptedMessage } from '../../translate/support.ts'
import { memoryOf } from '../../../src/store/memory.ts'
import { Sealed } from '../../../src/openpgp/format/armor-writer.ts'

const store = storeForFile()

/** What the service says of every chat; a test changes it. */
const OPEN_GROUP = { kind: 'group', mode: 'open', historyVisible: true }
const target = { route: 'send', path: '/messages', later: null } as const
const REFUSED = expect.objectContaining({ code: 'postern_downgrade_refused' }) as unknown

/** A guard that knows no chat, before a service that says of each chat what it is told to. */
async function scene(options: Partial<GuardParts> = {}, says: object = OPEN_GROUP) {
  const service = { says }
  await store().write((db) => db.deleteFrom('chats').execute())
  const knownChats = await KnownChats.load(memoryOf(store()))
  const chat = vi.fn((id: number) => Promise.resolve({ id, memberCount: 2, ...service.says }))
  const modes = new Modes({ sightings: sightingsOf({ knownChats }), chat: unseen(chat) })
  const parts: GuardParts = {
    time: SYSTEM_TIME,
    fresh: () => Promise.resolve(),
    freshForMs: Infinity,
    knownChats,
    modes,
    ownsKey: () => true,
    sealsForBot: true,
    readableGroups: 'allow',
    chatMaxAgeMs: 60_000,
    ...options,
  }
  return { guard: new Guard(parts), knownChats, modes, chat, service }
}

describe('the rule of a chat', () => {
  test('a rule for readable text is refused once the last reading of the store is too old', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const fresh = vi.fn(() => Promise.resolve())
    const { guard } = await scene({ fresh, freshForMs: 2000 })
    const rule = await guard.rule(5)
    vi.advanceTimersByTime(1999)
    expect(rule.require).not.toThrow()
    vi.advanceTimersByTime(1)
    expect(rule.require).toThrow(expect.objectContaining({ code: 'postern_store_unwritable' }))
    await rule.renew()
    expect(rule.require).not.toThrow()
    expect(fresh).toHaveBeenCalledTimes(2)
  })

  test('a chat that was protected once is sealed without a lookup', async () => {
    const { guard, knownChats, chat } = await scene()
    await knownChats.saw([{ chatId: 5, isProtected: true }])
    const rule = await guard.rule(5)
    expect([rule.body, rule.chatId, rule.isByMemory]).toEqual(['sealed', 5, true])
    expect(chat).not.toHaveBeenCalled()
    expect((await guard.rule(6)).body).toBe('readable')
  })

  test('a rule that was guessed permits nothing before the store shows the same epoch again', async () => {
    const shared = { epoch: 1, read: 1 }
    const fresh = (): Promise<void> => Promise.resolve(void (shared.read = shared.epoch))
    const { guard, knownChats } = await scene({ fresh, epoch: () => shared.read })
    expect(guard.guess(5)).toBeNull()
    await knownChats.saw([{ chatId: 5, isProtected: true }])
    const [first, second] = [guard.guess(5)!, guard.guess(5)!]
    expect(first.require).toThrow(REFUSED)
    await first.confirm()
    expect(first.require).not.toThrow()
    shared.epoch = 2
    await expect(second.confirm()).rejects.toThrow(OvertakenError)
    expect(second.require).toThrow(REFUSED)
  })

  test('an answer with mode protected is obeyed although it was not latched', async () => {
    const { knownChats } = await scene()
    const modes = { get: () => Promise.resolve({ ...OPEN_GROUP, mode: 'protected' }) }
    const { guard } = await scene({ knownChats, modes: modes as unknown as Modes })
    expect((await guard.rule(5)).body).toBe('sealed')
  })

  test.each([
    ['a group without an open history', { historyVisible: false }, 'open history'],
    ['a group without `historyVisible`', { historyVisible: undefined }, 'open history'],
    ['a chat of unknown kind', { kind: 'bazaar' }, 'kind'],
  ])('%s is refused readable text, and recorded as refused', async (_name, says, why) => {
    const { guard, knownChats } = await scene({}, { ...OPEN_GROUP, ...says })
    await expect(guard.rule(5)).rejects.toMatchObject({
      code: 'postern_downgrade_refused',
      message: expect.stringContaining(why) as unknown,
    })
    expect(knownChats.get(5)?.refusedAtMs).not.toBeNull()
  })

  test('a channel accepts readable text, and a chat that was a group before is judged as a group', async () => {
    const { guard, knownChats } = await scene({}, { kind: 'channel', mode: 'open' })
    expect((await guard.rule(5)).body).toBe('readable')
    await knownChats.saw([{ chatId: 6, kind: 'group' }])
    await expect(guard.rule(6)).rejects.toThrow(REFUSED)
  })

  test.each([
    { kind: 'group', mode: 'open' },
    { kind: 'bazaar', mode: 'open' },
  ])('a bot without a key accepts the mode of the service: %j', async (says) => {
    const { guard } = await scene({ sealsForBot: false }, says)
    expect((await guard.rule(5)).body).toBe('readable')
  })

  test('a latch that another sidecar wrote counts after a slow reading of the store', async () => {
    const latches: (() => Promise<void>)[] = []
    const fresh = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      for (const latch of latches) await latch()
    }
    const { guard, knownChats, chat } = await scene({ fresh, freshForMs: 0 })
    const readable = await guard.rule(6)
    latches.push(() => knownChats.saw([5, 6].map((chatId) => ({ chatId, isProtected: true }))))
    expect((await guard.rule(5)).body).toBe('sealed')
    expect(chat).toHaveBeenCalledTimes(1)
    expect(guard.permitReadable(readable, target, { chatId: 6 }).ground.require).toThrow()
  })

  test('a rule is refused while the store cannot be read, also when it is renewed', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const fresh = vi.fn(() => Promise.resolve())
    const { guard } = await scene({ fresh })
    const rule = await guard.rule(5)
    vi.advanceTimersByTime(500)
    fresh.mockRejectedValue(new Error('out of reach'))
    await expect(rule.renew()).rejects.toThrow('out of reach')
    await expect(guard.rule(5)).rejects.toThrow('out of reach')
  })

  test.each<[string, object, boolean]>([
    ['a chat that is reported as protected', { chatId: 5, mode: 'protected' }, true],
    ['an open group', { chatId: 5, mode: 'open' }, false],
    ['a private chat', { chatId: 1, mode: 'open' }, true],
    ['a chat that was seen protected', { chatId: 2, mode: 'open' }, true],
  ])('the guard predicts the sealing of %s for a bot with a key', async (_name, says, expected) => {
    const { guard, knownChats } = await scene({ ownsKey: () => false })
    await knownChats.saw([
      { chatId: 1, kind: 'private' },
      { chatId: 2, isProtected: true },
    ])
    const { chatId, mode } = says as { chatId: number; mode: 'open' | 'protected' }
    expect(guard.willSeal(chatId, { mode })).toBe(expected)
    await knownChats.setPrivateReadable({ readable: true })
    expect(guard.willSeal(1, { mode: 'open' })).toBe(false)
    await knownChats.setPrivateReadable({ readable: false })
  })

  test('the guard predicts a refusal of readable text that a key will cause', async () => {
    const { guard } = await scene({ sealsForBot: false })
    const answer = { kind: 'group', mode: 'open' as const, historyVisible: false }
    const decide = (of: object) => guard.mayBeReadable(5, { ...answer, ...of }, true)
    expect(decide({})).toEqual(denied(expect.stringContaining('open history')))
    expect(decide({ historyVisible: true })).toEqual(ALLOWED)
    expect(decide({ kind: 'bazaar' })).toEqual(denied(expect.stringContaining('kind')))
    expect((await guard.rule(5)).body).toBe('readable')
  })
})

describe('a rule for readable text', () => {
  test('a rule for readable text is void once the chat was protected', async () => {
    const { guard, knownChats } = await scene()
    const rule = await guard.rule(5)
    await knownChats.saw([{ chatId: 6, isProtected: true }])
    expect(rule.require).not.toThrow()
    await knownChats.saw([{ chatId: 5, isProtected: true }])
    expect(rule.require).toThrow(REFUSED)
    const { ground } = guard.permitReadable(rule, target, { chatId: 5, text: 'words' })
    expect(ground.require).toThrow(REFUSED)
  })

  test('a rule for readable text is void once a channel was a group', async () => {
    const { guard, knownChats } = await scene({}, { kind: 'channel', mode: 'open' })
    const rule = await guard.rule(5)
    expect(rule.require).not.toThrow()
    await knownChats.saw([{ chatId: 5, kind: 'group' }])
    expect(rule.require).toThrow(REFUSED)
  })
})

describe('permits', () => {
  const fields = { chatId: 5, text: 'words', replyTo: 3 }
  const bodyOf = ({ body }: { body: Buffer }) => JSON.parse(body.toString()) as unknown

  test('a permit for readable text needs a rule for its own chat, and a call that was not given as sealed', async () => {
    const { guard } = await scene()
    const rule = await guard.rule(5)
    const permit = guard.permitReadable(rule, target, fields)
    permit.ground.require()
    expect([permit.route, permit.path]).toEqual(['send', '/messages'])
    expect(bodyOf(permit)).toEqual(fields)
    expect(() => guard.permitReadable(rule, target, { ...fields, chatId: 6 })).toThrow(REFUSED)
    const ground = { require: () => {}, renew: async () => {} }
    const forSealed = { ...target, later: { ...ground, isForSealed: true } }
    expect(() => guard.permitReadable(rule, forSealed, fields)).toThrow('readable since')
  })

  test('a copy of a rule gives no permit for readable text', async () => {
    const { guard } = await scene()
    const rule = await guard.rule(5)
    const looks = [
      { ...rule },
      Object.create(rule) as unknown,
      Object.assign(Object.create(null) as object, { chatId: 5, body: 'readable' }),
      JSON.parse('{"chatId":5,"body":"readable","#judged":true}') as unknown,
      null,
      'readable',
    ]
    for (const copy of looks as (typeof rule)[]) {
      expect(() => guard.permitReadable(copy, target, fields)).toThrow(REFUSED)
    }
  })

  const held = (): void => {}
  const digests = { dataDigest: '', statementDigest: '' }

  /** A guard with the rule of a chat that was seen protected. */
  async function sealedScene(options: Partial<GuardParts> = {}) {
    const { guard, knownChats } = await scene(options)
    await knownChats.saw([{ chatId: 5, isProtected: true }])
    return { guard, rule: await guard.rule(5) }
  }

  test.each([
    ['without a key may send any armor', false, false, null],
    ['with protected private chats must send an encrypted message', false, true, 'bad_request'],
    ['with a sidecar that seals must send an encrypted message', true, false, 'bad_request'],
  ])('`permitOwnSealing`: a bot %s', async (_what, sealsForBot, isProtected, code) => {
    const { guard, rule } = await sealedScene({ sealsForBot, ownsKey: () => isProtected })
    const give = (armored: string): unknown =>
      bodyOf(guard.permitOwnSealing(rule, target, { fields: { chatId: 5, replyTo: 3 }, armored }))
    expect(guard.passesAll).toBe(code === null)
    if (code === null) expect(give('words')).toEqual({ chatId: 5, replyTo: 3, armored: 'words' })
    else expect(() => give('words')).toThrow(expect.objectContaining({ code }))
    const armored = encryptedMessage()
    expect(give(armored)).toEqual({ chatId: 5, replyTo: 3, armored })
    const { ground } = guard.permitOwnSealing(rule, target, { fields: { chatId: 5 }, armored })
    expect([ground.require(), await ground.renew()]).toEqual([undefined, undefined])
  })

  test.each([
    ['words alone', 'words'],
    ['no packet', '-----BEGIN PGP MESSAGE-----\n\nd29yZHM=\n-----END PGP MESSAGE-----\n'],
    ['words before it', `words\n${encryptedMessage()}`],
    ['words after it', `${encryptedMessage()}\nwords`],
    ['another armor header', encryptedMessage().replace('MESSAGE', 'PUBLIC KEY BLOCK')],
  ])('a message that the bot sealed itself is refused with %s', async (_what, armored) => {
    const { guard, rule } = await sealedScene()
    const given = { fields: { chatId: 5 }, armored }
    expect(() => guard.permitOwnSealing(rule, target, given)).toThrow(
      expect.objectContaining({ code: 'bad_request' }),
    )
  })

  test('a permit for sealed text has the armor and the other fields', async () => {
    const { guard, rule } = await sealedScene()
    const sealed = Sealed.of('a\nb\n', digests)
    const given = { fields: { chatId: 5, replyTo: 3 }, sealed, requireHeld: held }
    const permit = guard.permitSealed(rule, target, given)
    expect(bodyOf(permit)).toEqual({ chatId: 5, replyTo: 3, armored: 'a\nb\n' })
    permit.ground.require()
    expect([permit.route, permit.path]).toEqual(['send', '/messages'])
  })

  test('a permit for sealed text is void once its signing key may be replaced', async () => {
    const { guard, rule } = await sealedScene()
    const lost = new Error('not held')
    const state = { isHeld: true }
    const requireHeld = (): void => {
      if (!state.isHeld) throw lost
    }
    const sealed = Sealed.of('a', digests)
    const { ground } = guard.permitSealed(rule, target, {
      fields: { chatId: 5 },
      sealed,
      requireHeld,
    })
    ground.require()
    state.isHeld = false
    expect(ground.require).toThrow(lost)
  })

  test('the guard gives no permit for sealed text beside another text or armor', async () => {
    const { guard, rule } = await sealedScene()
    const sealed = Sealed.of('a', digests)
    for (const more of [{ text: 'words' }, { text: undefined }, { armored: 'words' }]) {
      const beside = { chatId: 5, ...more }
      const refused = expect.objectContaining({ code: 'bad_request' }) as unknown
      const given = { fields: beside, sealed, requireHeld: held }
      expect(() => guard.permitSealed(rule, target, given)).toThrow(refused)
      const own = { fields: beside, armored: encryptedMessage() }
      expect(() => guard.permitOwnSealing(rule, target, own)).toThrow(refused)
    }
  })

  test('a permit for sealed text needs a sealed rule for its own chat', async () => {
    const { guard, rule } = await sealedScene()
    const readable = await guard.rule(6)
    const sealed = Sealed.of('a', digests)
    const own = { fields: { chatId: 6 }, armored: encryptedMessage() }
    for (const other of [rule, readable, { ...rule } as typeof rule]) {
      const given = { fields: { chatId: 6 }, sealed, requireHeld: held }
      expect(() => guard.permitSealed(other, target, given)).toThrow(REFUSED)
      expect(() => guard.permitOwnSealing(other, target, own)).toThrow(REFUSED)
    }
  })

  test('the guard gives no permit for a forged `Sealed`', async () => {
    const { guard, rule } = await sealedScene()
    const fake = { json: [Buffer.from('words')] }
    const given = { fields: { chatId: 5 }, sealed: fake as never, requireHeld: held }
    expect(() => guard.permitSealed(rule, target, given)).toThrow(
      expect.objectContaining({
        code: 'bad_request',
        message: 'armored: must be an OpenPGP message',
      }),
    )
  })

  test('a permit for an edit of buttons contains the buttons alone', async () => {
    const { guard } = await scene()
    const permit = guard.permitMarkup(target, { ...fields, markup: { rows: [] } })
    expect(bodyOf(permit)).toEqual({ chatId: 5, markup: { rows: [] } })
    expect(permit.ground.require).not.toThrow()
  })
})
