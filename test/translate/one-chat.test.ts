import { expect, test } from 'vitest'
import { useStage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat, ListedPerson } from '../support/double-world.ts'
import { fetched, picture, sealedBy, BEARER } from '../attachments/support.ts'

const stage = useStage()

const message = (chat: DoubleChat, from: ListedPerson, body: Json): Json =>
  stage.double.world.message(chat, from, body)

const sealed = async (person: Person, words: string): Promise<string> =>
  await person.phone.seal(words, [stage.botCertificate])

/** Every object in a value that has a verdict, with what the bot reads of it. */
function judgedIn(value: Json): Json[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(judgedIn)
  return value.postern === undefined ? inner : [value, ...inner]
}

interface Attack {
  alice: Person
  mallory: Person
  /** The chat that the update speaks of, where a bot that quotes answers. */
  chat: DoubleChat
  /** A Message that Alice wrote to the bot alone, truthfully labelled. */
  secret: Json
}

const carriers: [string, (o: Attack) => Promise<Json>][] = [
  [
    'as a quotation',
    async ({ chat, mallory, secret }) => ({
      kind: 'message',
      message: message(chat, mallory, {
        armored: await sealed(mallory, 'what did she say?'),
        replyTo: secret,
      }),
    }),
  ],
  [
    'as a quotation in a quotation of this chat',
    async ({ chat, mallory, secret }) => ({
      kind: 'message',
      message: message(chat, mallory, {
        armored: await sealed(mallory, 'what?'),
        replyTo: { id: 5, from: { id: mallory.id }, text: '', replyTo: secret },
      }),
    }),
  ],
  [
    'as something forwarded',
    async ({ chat, mallory, secret }) => ({
      kind: 'message',
      message: message(chat, mallory, { text: '', forwarded: { original: [secret] } }),
    }),
  ],
  [
    'as the message of a press beside one of this chat',
    async ({ chat, mallory, secret }) => ({
      kind: 'callback_query',
      callbackQuery: { id: 'p', from: { id: mallory.id }, data: 'x', message: secret },
      message: message(chat, mallory, { text: '' }),
    }),
  ],
  [
    'as a sibling that stands first',
    async ({ chat, mallory, secret }) => ({
      aside: secret,
      kind: 'message',
      message: message(chat, mallory, { text: '' }),
    }),
  ],
]

const places: [string, (mallory: Person) => DoubleChat][] = [
  ['a private chat', (mallory) => stage.privateChat(mallory)],
  ['a protected group', (mallory) => stage.group([mallory])],
  ['an open group', () => stage.openGroup()],
]

for (const [how, carried] of carriers) {
  for (const [where, chatWith] of places) {
    test(`a private message of Alice, copied into ${where} ${how}, stays sealed, and opens in her own chat`, async () => {
      const [alice, mallory] = [await stage.friend(), await stage.person()]
      const own = stage.privateChat(alice)
      const words = `a secret ${how} in ${where}`
      const secret = message(own, alice, { armored: await sealed(alice, words) })
      const chat = chatWith(mallory)
      const [update] = await stage.deliverUpdates([await carried({ alice, mallory, chat, secret })])
      expect(JSON.stringify(update)).not.toContain(words)
      const hers = judgedIn(update).filter(({ from }) => from?.id === alice.id)
      expect(hers.map(({ postern }) => postern)).toEqual([
        { opened: false, verdict: 'replayed', reason: 'other-chat' },
      ])
      expect(hers[0].armored).toBe(secret.armored)
      const [read] = await stage.deliver([secret])
      expect(read).toMatchObject({ text: words, postern: { verdict: 'verified' } })
    })
  }
}

test('a file of another chat’s quoted Message has no url for the bot, and is served by its own update', async () => {
  const [alice, mallory] = [await stage.friend(), await stage.person()]
  const [hers, chat] = [stage.privateChat(alice), stage.privateChat(mallory)]
  const content = picture()
  const item = stage.double.world.store(await sealedBy(alice, stage, content))
  const attached = message(hers, alice, { text: '', media: [item] })
  const armored = await sealed(mallory, 'show me')
  const [read] = await stage.deliver([message(chat, mallory, { armored, replyTo: attached })])
  const { url } = read.replyTo.media[0]
  expect(url).toBe(item.url)
  for (const headers of [{}, BEARER]) {
    const { status } = await fetched(stage, url, { headers })
    expect([401, 404]).toContain(status)
  }
  const [own] = await stage.deliver([attached])
  expect((await fetched(stage, own.media[0].url)).body).toEqual(content)
})

test('a sealed quotation and a pressed message of the same chat are opened', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const quoted = message(chat, person, { armored: await sealed(person, 'quoted here') })
  const pressed = message(chat, person, { armored: await sealed(person, 'pressed here') })
  const updates = await stage.deliverUpdates([
    {
      kind: 'message',
      message: message(chat, person, {
        armored: await sealed(person, 'look here'),
        replyTo: quoted,
      }),
    },
    {
      kind: 'callback_query',
      callbackQuery: { id: 'q', from: { id: person.id }, data: 'x', message: pressed },
    },
  ])
  expect(updates[0].message.replyTo.text).toBe('quoted here')
  expect(updates[1].callbackQuery.message.text).toBe('pressed here')
})

test('another person’s texts, files and presses in a private chat are withheld, also after a restart', async () => {
  const [alice, mallory] = [await stage.person(), await stage.person()]
  const chat = stage.privateChat(alice)
  const first = message(chat, alice, { armored: await sealed(alice, 'mine') })
  expect((await stage.deliver([first]))[0].text).toBe('mine')
  for (let restarts = 0; restarts < 2; restarts++) {
    const forged = message(chat, mallory, { armored: await sealed(mallory, 'let me in') })
    const [read] = await stage.deliver([forged])
    expect(read.postern).toMatchObject({ verdict: 'bad-signature', reason: 'other-person' })
    expect(read).not.toHaveProperty('text')
    const item = stage.double.world.store(await sealedBy(mallory, stage, picture()))
    const [named] = await stage.deliver([message(chat, mallory, { text: '', media: [item] })])
    const { status, code } = await fetched(stage, named.media[0].url)
    expect({ status, code }).toEqual({ status: 422, code: 'postern_bad_signature' })
    const [press] = await stage.deliverUpdates([
      {
        kind: 'callback_query',
        callbackQuery: { id: 'p', from: { id: mallory.id }, data: 'x', message: first },
      },
    ])
    expect(press.callbackQuery.message.postern).toMatchObject({ reason: 'other-person' })
    expect(press.callbackQuery.message).not.toHaveProperty('text')
    await stage.restart()
  }
  const [own] = await stage.deliver([
    message(chat, alice, { armored: await sealed(alice, 'still mine') }),
  ])
  expect(own.text).toBe('still mine')
})
