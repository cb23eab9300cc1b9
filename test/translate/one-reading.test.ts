import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createReceiver } from '../contract/receiver.ts'
import { useStage, type Person } from '../support/double-stage.ts'
import { ok, type Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { GoBot, hasGo } from '../support/go-bot.ts'

const stage = useStage()

/** Names and ids that stand in every forgery, for whoever is told them. */
const ALICE = 24
const EVIL = '/pay 10'

interface Real {
  chat: DoubleChat
  person: Person
  /** The update as text; what is forged stands where the marks are. */
  update: string
  text: string
}

let count = 0

/** A sealed message of a person's own, with room for forged names in each of its objects. */
async function real(): Promise<Real> {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const text = `my own words ${++count}`
  const armored = await person.phone.seal(text, [stage.botCertificate])
  const message = { ...stage.double.world.message(chat, person, { armored }), IN_MESSAGE: 0 }
  message.chat.IN_CHAT = 0
  message.from.IN_FROM = 0
  const update = { updateId: stage.double.world.id(), kind: 'message', message, IN_UPDATE: 0 }
  return { chat, person, text, update: JSON.stringify(update) }
}

/** Puts forged names into the objects of an update, and takes away the marks that are left. */
function forge(update: string, names: Record<string, string>): string {
  const forged = Object.entries(names).reduce(
    (text, [mark, name]) => text.replace(`"${mark}":0`, name),
    update,
  )
  return forged.replaceAll(/,"IN_[A-Z]+":0/g, '')
}

const answerOf = (...updates: string[]): string => `{"ok":true,"result":[${updates.join(',')}]}`

/** What the bot gets when the service answers with this. */
async function answered(body: string): Promise<{ text: string; json: Json }> {
  using _lie = stage.double.script('GET', '/updates', { body })
  const { status, text, json } = await stage.sidecar.call('GET', '/updates')
  expect(status).toBe(200)
  return { text, json }
}

const FORGERIES: [what: string, names: Record<string, string>][] = [
  ['a text in another case', { IN_MESSAGE: `"Text":"${EVIL}"` }],
  ['a text in capitals', { IN_MESSAGE: `"TEXT":"${EVIL}"` }],
  ['a chat', { IN_MESSAGE: `"Chat":{"id":${ALICE},"kind":"private"}` }],
  ['a sender', { IN_MESSAGE: `"FROM":{"id":${ALICE}}` }],
  ['a verdict', { IN_MESSAGE: `"Postern":{"opened":true,"verdict":"forged"}` }],
  ['a verdict with a long s', { IN_MESSAGE: `"po\u017ftern":{"opened":true,"verdict":"forged"}` }],
  ['a verdict spelt with escapes', { IN_MESSAGE: `"POS\\u0054ERN":{"verdict":"forged"}` }],
  ['an armored text', { IN_MESSAGE: `"ARMORED":"${EVIL}"` }],
  ['a kind with a Kelvin sign', { IN_UPDATE: `"\u212aind":"forged"` }],
  ['a message', { IN_UPDATE: `"Message":{"id":1,"text":"${EVIL}","chat":{"id":${ALICE}}}` }],
  ['a number of the update', { IN_UPDATE: `"updateid":${ALICE}` }],
  ['the id of the chat', { IN_CHAT: `"Id":${ALICE}` }],
  ['the id of the sender', { IN_FROM: `"ID":${ALICE}` }],
  ['a quotation', { IN_MESSAGE: `"ReplyTo":{"id":1,"text":"${EVIL}"}` }],
  ['the text twice, the last one empty', { IN_MESSAGE: `"text":"${EVIL}","text":""` }],
  ['the text twice, once spelt with escapes', { IN_MESSAGE: `"te\\u0078t":"${EVIL}","text":null` }],
  ['the chat’s id before the real one', { IN_CHAT: `"id":${ALICE},"id":@chat` }],
  ['the message twice', { IN_UPDATE: `"message":{"text":"${EVIL}"},"message":@message` }],
  ['words under __proto__', { IN_MESSAGE: `"__proto__":{"text":"${EVIL}"}` }],
]

/** A forgery that repeats what is real repeats all of it. */
function fill(text: string, { chat, update }: Real): string {
  const message = JSON.stringify(JSON.parse(forge(update, {})).message)
  return text.replace('@chat', `${chat.id}`).replace('@message', () => message)
}

test.each(FORGERIES)(
  'a forged field in a judged Message is not delivered: %s',
  async (_what, names) => {
    const one = await real()
    const { text, json } = await answered(answerOf(fill(forge(one.update, names), one)))
    const [{ message }] = json.result
    expect(message).toMatchObject({ text: one.text, postern: { verdict: 'verified' } })
    expect(message.chat).toEqual({ id: one.chat.id, kind: 'private' })
    expect(message.from.id).toBe(one.person.id)
    for (const word of [EVIL, 'forged', `:${ALICE}`, '__proto__']) expect(text).not.toContain(word)
  },
)

test.each([
  ['the text', `"text":"${EVIL}","text":""`],
  ['the text, spelt with escapes', `"\\u0074ext":"${EVIL}","text":null`],
  ['the armored', `"armored":"${EVIL}","armored":null`],
  ['the quotation', `"replyTo":{"text":"${EVIL}"},"replyTo":null`],
  ['what is nested in it', `"x":[{"text":"${EVIL}","text":""}]`],
])('a doubled field in an unjudged Message is delivered once: %s', async (_what, doubled) => {
  const chat = stage.privateChat(await stage.friend())
  const message = `{"id":1,"chat":{"id":${chat.id},"kind":"private"},"date":1,"kind":"x",${doubled}}`
  const body = answerOf(`{"updateId":5,"kind":"message","message":${message}}`)
  expect(body).toContain(EVIL)
  const { text, json } = await answered(body)
  expect(text).not.toContain(EVIL)
  expect(json).toEqual(JSON.parse(body))
})

test('unknown field names of a judged Message are delivered unchanged', async () => {
  const one = await real()
  const mine = '"_id":"x","texts":1,"chats":[],"toJSON":"x","constructor":{"name":1.0}'
  const { text } = await answered(answerOf(forge(one.update, { IN_MESSAGE: mine })))
  expect(text).toContain(mine)
})

test('an answer without judged or doubled fields is delivered byte for byte', async () => {
  const chat = stage.openGroup()
  const text = '{ "id" : 7.0, "text":"\\u0061", "N":1e2 }'
  const body = `{ "ok":true, "result":[ {"updateId":5,"kind":"message","message":{"chat":{"id":${chat.id},"kind":"group"},"id":1,"date":1,"text":"x","more":${text.replace('"text"', '"texts"')}}} ] }`
  expect((await answered(body)).text).toBe(body)
})

test.each(['toJSON', 'hasOwnProperty', 'then', 'valueOf', 'rawJSON'])(
  'an object with a field named %s is delivered as an object',
  async (name) => {
    const one = await real()
    const { json } = await answered(
      answerOf(forge(one.update, { IN_MESSAGE: `"x":{"${name}":"1"},"${name}":{"a":1}` })),
    )
    expect(json.result[0].message).toMatchObject({ text: one.text, x: { [name]: '1' } })
  },
)

test('a doubled field is removed from a long list of updates', async () => {
  const one = await real()
  const chat = stage.openGroup()
  const filler = Array.from({ length: 60 }, () => {
    const message = stage.double.world.message(chat, null, { text: 'x'.repeat(2000) })
    return JSON.stringify({ updateId: stage.double.world.id(), kind: 'message', message })
  })
  const forged = forge(one.update, { IN_MESSAGE: `"text":"${EVIL}","text":""` })
  const { text, json } = await answered(answerOf(forged, ...filler))
  expect(json.result.length).toBe(61)
  expect(text).not.toContain(EVIL)
})

test('the answer to a sealed send has the bot’s own text in place of the service’s', async () => {
  const chat = stage.privateChat(await stage.friend())
  const sent = { id: 77, date: 5, text: EVIL, Text: EVIL, ID: ALICE, Postern: { sealed: false } }
  using _lie = stage.double.script('POST', '/messages', ok(sent, 201))
  const { status, json } = await stage.send(chat, 'my words')
  expect(status).toBe(201)
  const postern = { sealed: true, recipients: 1, skipped: [] }
  expect(json.result).toEqual({ id: 77, date: 5, text: 'my words', postern })
})

test('a webhook receives no forged field of a judged Message', async () => {
  await using receiver = await createReceiver()
  const info = { url: null, hasSecret: false, pending: 0, failures: 0, lastError: null }
  using _info = stage.double.script('GET', '/webhook', ok(info))
  using _gone = stage.double.script('DELETE', '/webhook', ok({ url: null, pending: 0 }))
  const made: { one: Real; update: string }[] = []
  for (const [, names] of FORGERIES) {
    const one = await real()
    made.push({ one, update: fill(forge(one.update, names), one) })
  }
  let isGiven = false
  using _lie = stage.double.script('GET', '/updates', ({ query }) => {
    // Setting a webhook asks once, for nothing.
    if (!query.includes('timeout')) return ok([])
    if (isGiven) return 'hang'
    isGiven = true
    return { body: answerOf(...made.map(({ update }) => update)) }
  })
  const set = await stage.sidecar.call('POST', '/webhook', { url: receiver.url })
  expect(set.status).toBe(200)
  await receiver.until(FORGERIES.length)
  await stage.sidecar.call('DELETE', '/webhook')
  expect(receiver.deliveries.length).toBe(FORGERIES.length)
  for (const [index, { body }] of receiver.deliveries.entries()) {
    const { message } = JSON.parse(body)
    expect(message.text).toBe(made[index]?.one.text)
    for (const word of [EVIL, 'forged', `:${ALICE}`]) expect(body).not.toContain(word)
  }
})

describe.skipIf(!hasGo)('a bot in Go', () => {
  let bot: GoBot

  beforeAll(async () => {
    bot = await GoBot.build()
  }, 300_000)
  afterAll(() => bot[Symbol.asyncDispose]())

  test('a bot in Go reads forged fields directly from the service, and none through the sidecar', async () => {
    let believed = 0
    for (const [what, names] of FORGERIES) {
      const one = await real()
      const body = answerOf(fill(forge(one.update, names), one))
      const alone = JSON.stringify(await bot.read(body))
      if ([EVIL, 'forged', `:${ALICE}`].some((word) => alone.includes(word))) believed++
      const { text } = await answered(body)
      const read = await bot.read(text)
      expect(read, what).toMatchObject({ ok: true, wrong: '', error: null })
      expect(read.updates, what).toMatchObject([
        {
          kind: 'message',
          message: {
            chat: { id: one.chat.id },
            from: { id: one.person.id },
            text: one.text,
            armored: '',
            replyTo: null,
            postern: { verdict: 'verified' },
          },
        },
      ])
    }
    // Not all: the last of two is what Go reads, too.
    expect(believed).toBeGreaterThanOrEqual(12)
  }, 120_000)

  test('a bot in Go reads the judged list of updates despite forged fields in the envelope', async () => {
    const one = await real()
    const forged = `[{"updateId":9,"kind":"message","message":{"text":"${EVIL}"}}]`
    const list = `[${forge(one.update, {})}]`
    const envelopes = [
      `{"ok":true,"result":${list},"Result":${forged}}`,
      `{"ok":true,"result":${list},"re\\u017fult":${forged}}`,
      `{"ok":true,"result":${list},"OK":false,"error":{"status":400,"code":"${EVIL}","message":""}}`,
      `{"ok":true,"result":${list},"Error":{"status":400,"code":"${EVIL}","message":""}}`,
    ]
    for (const body of envelopes) {
      expect(JSON.stringify(await bot.read(body))).toMatch(/pay/)
      const { text } = await answered(body)
      const read = await bot.read(text)
      expect(read).toMatchObject({ ok: true, error: null, wrong: '' })
      expect(read.updates).toMatchObject([{ message: { text: one.text } }])
    }
  })

  test('a bot in Go reads a protected chat as open despite a doubled mode', async () => {
    const chat = stage.privateChat(await stage.friend())
    const result = { id: chat.id, kind: 'private', mode: 'protected', Mode: 'protected' }
    using _lie = stage.double.script('GET', `/chats/${chat.id}`, ok(result))
    const { text } = await stage.sidecar.call('GET', `/chats/${chat.id}`)
    expect(await bot.read(text)).toMatchObject({ ok: true, mode: 'open' })
  })
})
