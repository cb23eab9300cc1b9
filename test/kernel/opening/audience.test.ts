import { describe, expect, test } from 'vitest'
import { SqPhone } from '../../support/double-phones.ts'
import { useStage, type Person, type Stage } from '../../support/double-stage.ts'
import { graftedKey, readdressed, withStranger } from '../../support/double-graft.ts'
import type { DoubleChat, ListedPerson } from '../../support/double-world.ts'
import { fetched, named, picture, sealedBy } from '../../media/support.ts'

const stage = useStage()

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
  { to = [], signs = true, more = [] }: { to?: Person[]; signs?: boolean; more?: string[] } = {},
): Promise<string> {
  const all = [
    stage.botCertificate,
    from.phone.certificate,
    ...to.map((one) => one.phone.certificate),
  ]
  return signs ? await from.phone.seal(words, all, more) : await from.phone.sealUnsigned(words, all)
}

describe.each([true, false])('with words that are signed: %s', (signs) => {
  test('private words that are put into a group are withheld, and hers in her own chat', async () => {
    const [alice, mallory] = [await stage.person(), await stage.person()]
    const group = stage.group([alice, mallory])
    const armored = await seal(alice, 'for the bot alone', { signs })
    expect(await read(stage, group, { from: alice, armored })).toEqual(ELSEWHERE)
    const own = await read(stage, stage.privateChat(alice), { from: alice, armored })
    expect(own.text).toBe('for the bot alone')
  })

  test('words of another group are withheld, and so are those sealed to the bot alone', async () => {
    const [alice, mallory, carol] = [
      await stage.person(),
      await stage.person(),
      await stage.person(),
    ]
    await stage.send(stage.group([alice, carol]), 'who is here is known')
    const group = stage.group([alice, mallory])
    const elsewhere = await seal(alice, 'for Carol', { to: [carol], signs })
    expect(await read(stage, group, { from: alice, armored: elsewhere })).toEqual(ELSEWHERE)
    const { phone } = alice
    const toBot = [stage.botCertificate]
    const alone = signs
      ? await phone.seal('alone', toBot)
      : await phone.sealUnsigned('alone', toBot)
    expect(await read(stage, group, { from: alice, armored: alone })).toEqual(ELSEWHERE)
  })

  test('words to the group are delivered, also to a part of it', async () => {
    const [alice, bob, carol] = [await stage.person(), await stage.person(), await stage.person()]
    const group = stage.group([alice, bob, carol])
    const armored = await seal(alice, 'to Bob, whose key is older than Carol’s', {
      to: [bob],
      signs,
    })
    expect((await read(stage, group, { from: alice, armored })).text).toContain('to Bob')
  })

  test('in a group where nobody else has a key that can be used, words to the bot are delivered', async () => {
    const alice = await stage.person()
    const group = stage.group([alice, stage.double.world.addUser(null)])
    const armored = await seal(alice, 'just us', { signs })
    expect((await read(stage, group, { from: alice, armored })).text).toBe('just us')
  })

  test('words of one private chat that are put into another, under its person’s name, are withheld', async () => {
    const [alice, eve] = [await stage.person(), await stage.person()]
    await stage.send(stage.privateChat(alice), 'Alice is known')
    const armored = await seal(alice, 'for the bot alone', { signs })
    const verdict = await read(stage, stage.privateChat(eve), { from: eve, armored })
    expect(verdict).toEqual(signs ? { verdict: 'bad-signature' } : ELSEWHERE)
  })
})

test('a recipient who is not named, and a key that nobody was seen with, tell nothing', async () => {
  const [alice, mallory, stranger] = [
    await stage.person(),
    await stage.person(),
    await stage.person(),
  ]
  const group = stage.group([alice, mallory])
  const unseen = await seal(alice, 'to somebody unseen', { to: [stranger] })
  expect((await read(stage, group, { from: alice, armored: unseen })).text).toContain('unseen')
  const hidden = await seal(alice, 'to nobody by name', { more: ['--throw-keyids'] })
  expect((await read(stage, group, { from: alice, armored: hidden })).text).toContain('by name')
})

test('somebody who has just joined is found by a list that is asked for afresh', async () => {
  const [alice, bob, carol] = [await stage.person(), await stage.person(), await stage.person()]
  const group = stage.group([alice, bob])
  await stage.send(group, 'the list is known')
  await stage.send(stage.privateChat(carol), 'Carol is known')
  group.people = [alice, bob, carol]
  const armored = await seal(alice, 'hello Carol', { to: [carol] })
  expect((await read(stage, group, { from: alice, armored })).text).toBe('hello Carol')
})

test('what was delivered in a group stays what it was when its people have changed', async () => {
  const [alice, bob, carol] = [await stage.person(), await stage.person(), await stage.person()]
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

test('a member who lists Alice’s or the bot’s subkey beside her own is no reader of Alice’s private words', async () => {
  for (const whose of ['Alice', 'the bot']) {
    const alice = await stage.person()
    const from = whose === 'Alice' ? alice.phone.certificate : stage.botCertificate
    const mallory = stage.double.world.addUser(graftedKey(from, { hasOwn: true }))
    const armored = await seal(alice, `private, ${whose}`)
    const group = stage.group([alice, mallory])
    expect(await read(stage, group, { from: alice, armored })).toEqual(ELSEWHERE)
  }
})

test('a member who lists a copy of Alice’s or of the bot’s certificate does not silence Alice', async () => {
  for (const whose of ['Alice', 'the bot']) {
    const alice = await stage.person()
    const { fingerprint = '', publicKey: certificate = '' } = stage.double.world.published ?? {}
    const key = whose === 'Alice' ? alice.key : { certificate, fingerprint }
    const group = stage.group([alice, stage.double.world.addUser(key)])
    const armored = await seal(alice, `to all, ${whose}`)
    expect((await read(stage, group, { from: alice, armored })).text).toBe(`to all, ${whose}`)
  }
})

test('a member who lists Eve’s subkey as her own before Eve is known does not silence Eve, who signs', async () => {
  const [eve, bob] = [await stage.person(), await stage.person()]
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

test('recipients that the signature names count, whatever recipient packets were added', async () => {
  const alice = stage.with(await SqPhone.make())
  const group = stage.group([alice, await stage.person()])
  await stage.send(group, 'who is here is known')
  const toBot = await alice.phone.seal('intended for the bot', [stage.botCertificate])
  const added = withStranger(toBot)
  expect(await read(stage, group, { from: alice, armored: added })).toEqual(ELSEWHERE)
})

test('when the people of a group cannot be asked for, its words are withheld and not lost', async () => {
  const [alice, mallory] = [await stage.person(), await stage.person()]
  const group = stage.group([alice, mallory])
  const error = { status: 403, code: 'forbidden', message: 'no' }
  const armored = await seal(alice, 'to all', { to: [mallory] })
  {
    using _ = stage.double.script('GET', `/chats/${group.id}/keys`, {
      status: 403,
      json: { ok: false, error },
    })
    const verdict = await read(stage, group, { from: alice, armored })
    expect(verdict).toEqual({ verdict: 'signer-unavailable', reason: 'audience-unavailable' })
  }
  expect((await read(stage, group, { from: alice, armored })).text).toBe('to all')
})

test('a file is for its chat as words are', async () => {
  const [alice, mallory] = [await stage.person(), await stage.person()]
  const group = stage.group([alice, mallory])
  const content = picture()
  const outcome = async (sealed: Buffer, chat: DoubleChat): Promise<string> => {
    const { status, code } = await fetched(stage, await named(stage, sealed, { chat, from: alice }))
    return code ?? String(status)
  }
  const own = await sealedBy(alice, stage, content, ['--sign'], [alice])
  expect(await outcome(own, group)).toBe('postern_replayed')
  expect(await outcome(own, stage.privateChat(alice))).toBe('200')
  expect(await outcome(await sealedBy(alice, stage, picture(), ['--sign'], [mallory]), group)).toBe(
    '200',
  )
})

describe('with open.audience off', () => {
  const lax = useStage({ env: { POSTERN_OPEN_AUDIENCE: 'off' } })

  test('what was sealed to nobody of its group is opened all the same', async () => {
    const [alice, mallory] = [await lax.person(), await lax.person()]
    const group = lax.group([alice, mallory])
    const armored = await alice.phone.seal('to the bot', [lax.botCertificate])
    expect((await read(lax, group, { from: alice, armored })).text).toBe('to the bot')
  })
})

test('a group that is said to have more people than any message fits is no way past its people', async () => {
  const [alice, mallory] = [await stage.person(), await stage.person()]
  const group = stage.group([alice, mallory])
  const armored = await seal(alice, 'for the bot alone')
  const keys = Array.from({ length: 3000 }, (_, n) => ({ userId: 10_000 + n, publicKey: 'x' }))
  using _ = stage.double.script('GET', `/chats/${group.id}/keys`, {
    status: 200,
    json: { ok: true, result: { keys } },
  })
  expect(await read(stage, group, { from: alice, armored })).toEqual(ELSEWHERE)
})

test('a member whose only key is Alice’s or the bot’s subkey gets no private word: that counts more than words to her', async () => {
  for (const whose of ['Alice', 'the bot']) {
    const alice = await stage.person()
    const from = whose === 'Alice' ? alice.phone.certificate : stage.botCertificate
    const mallory = stage.double.world.addUser(graftedKey(from))
    const armored = await seal(alice, `private, ${whose}`)
    const group = stage.group([alice, mallory])
    expect(await read(stage, group, { from: alice, armored })).toEqual(ELSEWHERE)
    const bob = await stage.person()
    const wider = stage.group([alice, mallory, bob])
    const words = await seal(alice, `to all, ${whose}`, { to: [bob] })
    expect((await read(stage, wider, { from: alice, armored: words })).text).toBe(
      `to all, ${whose}`,
    )
  }
})

describe('words whose signature names their recipients', () => {
  /** Alice, who has sq, Bob and Mallory, and what she signs for the bot, herself and Bob. */
  async function signed() {
    const alice = stage.with(await SqPhone.make())
    const [bob, mallory] = [await stage.person(), await stage.person()]
    const [a, b] = [alice.phone.certificate, bob.phone.certificate]
    const armored = await alice.phone.seal('for Bob and the bot', [stage.botCertificate, a, b])
    return { alice, bob, mallory, armored }
  }

  test('are delivered where they belong, also when somebody joined or left since', async () => {
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

  test('are withheld in another group and in private, however their packets were rewritten', async () => {
    for (const rewrite of [
      (one: string) => one,
      (one: string, { b, m }: Record<'b' | 'm', string>) =>
        readdressed(one, { without: [b], to: m }),
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
})

describe('words whose signature names nobody', () => {
  test('are withheld in a group that their sender is not in, signed or not', async () => {
    for (const signs of [true, false]) {
      const [alice, bob, mallory] = [
        await stage.person(),
        await stage.person(),
        await stage.person(),
      ]
      const armored = await seal(alice, 'for Bob', { to: [bob], signs })
      const group = stage.group([bob, mallory])
      expect(await read(stage, group, { from: alice, armored })).toEqual(ELSEWHERE)
    }
  })

  test('and that nobody signed are withheld where they could be any one member’s private ones', async () => {
    const [alice, mallory] = [await stage.person(), await stage.person()]
    const group = stage.group([alice, mallory])
    const armored = await seal(alice, 'for the bot alone', { signs: false })
    expect(await read(stage, group, { from: mallory, armored })).toEqual(ELSEWHERE)
    const words = await seal(mallory, 'to Alice', { to: [alice], signs: false })
    expect((await read(stage, group, { from: mallory, armored: words })).text).toBe('to Alice')
  })

  test('and that nobody signed are the first lister’s of a key, in private', async () => {
    const alice = await stage.person()
    await stage.send(stage.privateChat(alice), 'Alice is known')
    const mallory = stage.double.world.addUser(
      graftedKey(alice.phone.certificate, { hasOwn: true }),
    )
    const chat = stage.privateChat(mallory)
    await stage.send(chat, 'Mallory is known')
    const armored = await seal(alice, 'for the bot alone', { signs: false })
    expect(await read(stage, chat, { from: mallory, armored })).toEqual(ELSEWHERE)
    const own = await read(stage, stage.privateChat(alice), { from: alice, armored })
    expect(own.text).toBe('for the bot alone')
  })
})
