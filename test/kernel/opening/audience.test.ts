import { describe, expect, test } from 'vitest'
import { PeerPhone } from '../../support/double-phones.ts'
import { useStage, type Person, type Stage } from '../../support/double-stage.ts'
import { graftedKey, readdressed } from '../../support/double-graft.ts'
import type { DoubleChat, ListedPerson } from '../../support/double-world.ts'
import { fetched, named, picture, sealedBy } from '../../attachments/support.ts'

const stage = useStage()
let second: Promise<Person> | undefined
/** Members of groups, beside somebody who is new in each test. */
const members = async () => [await stage.friend(), await (second ??= stage.person())] as const

interface Read {
  verdict: string
  reason?: string
  text?: string
}

async function read(
  at: Stage,
  chat: DoubleChat,
  { from, armored }: { from: ListedPerson; armored: string },
): Promise<Read> {
  const [one] = await at.deliver([at.double.world.message(chat, from, { armored })])
  const { verdict, reason } = one.postern
  return { verdict, ...(reason && { reason }), ...(one.text && { text: one.text }) }
}

const ELSEWHERE = { verdict: 'replayed', reason: 'other-audience' }

/** Sealed as phones do: to the bot, to themselves, and to others. */
async function seal(
  from: Person,
  words: string,
  { to = [], signs = true }: { to?: Person[]; signs?: boolean } = {},
): Promise<string> {
  const all = [
    stage.botCertificate,
    from.phone.certificate,
    ...to.map((one) => one.phone.certificate),
  ]
  return signs ? await from.phone.seal(words, all) : await from.phone.sealUnsigned(words, all)
}

describe.each([true, false])('words (signed: %s)', (signs) => {
  test('private words in a group are withheld, and delivered in the sender’s private chat (signed: %s)', async () => {
    const [alice, mallory] = [await stage.person(), await stage.friend()]
    const group = stage.group([alice, mallory])
    const armored = await seal(alice, 'for the bot alone', { signs })
    expect(await read(stage, group, { from: alice, armored })).toEqual(ELSEWHERE)
    const own = await read(stage, stage.privateChat(alice), { from: alice, armored })
    expect(own.text).toBe('for the bot alone')
  })

  test('words sealed to a part of a group are delivered there (signed: %s)', async () => {
    const [alice, [bob, carol]] = [await stage.person(), await members()]
    const group = stage.group([alice, bob, carol])
    const armored = await seal(alice, 'to Bob, whose key is older than Carol’s', {
      to: [bob],
      signs,
    })
    expect((await read(stage, group, { from: alice, armored })).text).toContain('to Bob')
  })
})

test('words delivered in a group are delivered again after its people changed', async () => {
  const [alice, [bob, carol]] = [await stage.person(), await members()]
  const group = stage.group([alice, bob])
  const armored = await seal(alice, 'to Bob', { to: [bob] })
  const one = stage.double.world.message(group, alice, { armored })
  const [update] = await stage.deliverUpdates([{ kind: 'message', message: one }])
  expect(update.message.text).toBe('to Bob')
  group.people = [alice, carol]
  const left = stage.double.world.message(group, null, { kind: 'left' })
  const again = await stage.askAgain(update.updateId)
  expect(again[0].message.text).toBe('to Bob')
  expect((await stage.deliver([left])).length).toBe(1)
  const words = await seal(carol, 'what?', { to: [alice] })
  const [quoting] = await stage.deliver([
    { ...stage.double.world.message(group, carol, { armored: words }), replyTo: one },
  ])
  expect(quoting.replyTo.text).toBe('to Bob')
})

test('a grafted subkey of the sender or the bot makes its owner no recipient of private words', async () => {
  for (const whose of ['Alice', 'the bot']) {
    const alice = await stage.person()
    const from = whose === 'Alice' ? alice.phone.certificate : stage.botCertificate
    const mallory = stage.double.world.addUser(graftedKey(from, { hasOwn: true }))
    const armored = await seal(alice, `private, ${whose}`)
    const group = stage.group([alice, mallory])
    expect(await read(stage, group, { from: alice, armored })).toEqual(ELSEWHERE)
  }
})

test('a grafted subkey of a person withholds that person’s unsigned words, and no signed ones', async () => {
  const [eve, bob] = [await stage.person(), await stage.friend()]
  const mallory = stage.double.world.addUser(graftedKey(eve.phone.certificate))
  await stage.send(stage.group([mallory, bob]), 'Mallory is known')
  const chat = stage.privateChat(eve)
  const unsigned = await seal(eve, 'whose is this', { signs: false })
  expect(await read(stage, chat, { from: eve, armored: unsigned })).toEqual(ELSEWHERE)
  const armored = await seal(eve, 'my own chat')
  expect((await read(stage, chat, { from: eve, armored })).text).toBe('my own chat')
  const words = await seal(eve, 'to Bob', { to: [bob] })
  const group = stage.group([eve, mallory, bob])
  expect((await read(stage, group, { from: eve, armored: words })).text).toBe('to Bob')
})

test('a file sealed to the bot alone is withheld in a group, and delivered in the private chat', async () => {
  const [alice, mallory] = [await stage.person(), await stage.friend()]
  const group = stage.group([alice, mallory])
  const content = picture()
  const outcome = async (sealed: Buffer, chat: DoubleChat): Promise<string> => {
    const { status, code } = await fetched(stage, await named(stage, sealed, { chat, from: alice }))
    return code ?? String(status)
  }
  const own = await sealedBy(alice, stage, content, { others: [alice] })
  expect(await outcome(own, group)).toBe('postern_replayed')
  expect(await outcome(own, stage.privateChat(alice))).toBe('200')
  expect(await outcome(await sealedBy(alice, stage, picture(), { others: [mallory] }), group)).toBe(
    '200',
  )
})

/** Alice, who has sq, Bob and Mallory, and what she signs for the bot, herself and Bob. */
async function signed() {
  const alice = stage.with(await PeerPhone.make('sq'))
  const [bob, mallory] = await members()
  const [a, b] = [alice.phone.certificate, bob.phone.certificate]
  const armored = await alice.phone.seal('for Bob and the bot', [stage.botCertificate, a, b])
  return { alice, bob, mallory, armored }
}

test('words whose signature names its recipients are delivered after members joined or left', async () => {
  const { alice, bob, mallory, armored } = await signed()
  const group = stage.group([alice, bob, mallory])
  await stage.send(group, 'who is here is known')
  group.people = [alice, bob]
  await stage.deliver([stage.double.world.message(group, null, { kind: 'left' })])
  const meant = await read(stage, group, { from: alice, armored })
  expect(meant).toEqual({ verdict: 'verified', text: 'for Bob and the bot' })
  const { a, b, m } = {
    a: alice.phone.certificate,
    b: bob.phone.certificate,
    m: mallory.phone.certificate,
  }
  const toMallory = await alice.phone.seal('an old list', [stage.botCertificate, a, b, m])
  expect((await read(stage, group, { from: alice, armored: toMallory })).verdict).toBe('verified')
  const carol = await stage.person()
  const again = await alice.phone.seal('before Carol', [stage.botCertificate, a, b])
  group.people = [alice, bob, carol]
  await stage.deliver([stage.double.world.message(group, null, { kind: 'joined' })])
  expect(await read(stage, group, { from: alice, armored: again })).toEqual({
    verdict: 'verified',
    reason: 'not-for-all',
    text: 'before Carol',
  })
})

test('words whose signature names its recipients are withheld elsewhere after any change of their packets', async () => {
  for (const rewrite of [
    (one: string) => one,
    (one: string, { b, m }: Record<'b' | 'm', string>) => readdressed(one, { without: [b], to: m }),
    (one: string) => readdressed(one, { to: 'nobody' }),
    (one: string, { b }: Record<'b' | 'm', string>) => readdressed(one, { without: [b] }),
  ]) {
    const { alice, bob, mallory, armored } = await signed()
    const certificates = { b: bob.phone.certificate, m: mallory.phone.certificate }
    const rewritten = rewrite(armored, certificates)
    const places = [
      stage.group([alice, mallory]),
      stage.group([alice, bob, mallory]),
      stage.privateChat(alice),
    ]
    for (const chat of places) {
      expect(await read(stage, chat, { from: alice, armored: rewritten })).toEqual(ELSEWHERE)
    }
    const own = await read(stage, stage.group([alice, bob]), { from: alice, armored: rewritten })
    expect(own.text).toBe('for Bob and the bot')
  }
})
