/** Arbitrary bodies, from the bot and from the service: each has an answer, and none does harm. */
import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'
import type { Reply } from '../support/double-wire.ts'
import { BOT_TOKEN } from '../support/double-world.ts'
import { isUsual, runs } from '../support/chance.ts'
import { fc } from '../support/property.ts'

/** Every send looks up the chat and its keys anew. */
const stage = useStage({
  env: {
    POSTERN_CACHE_KEY_LIST_SECONDS: '0',
    POSTERN_CACHE_CHAT_SECONDS: '0',
    TESTS_PATIENCE: '0.1',
  },
})

const OF_BODIES = ['chatId', 'text', 'armored', 'replyTo', 'sendId', 'silent', 'Text', 'caption']
/** What the spec lists for a send or an edit into a protected chat, but for `armored`. */
const LISTED = ['chatId', 'text', 'markup', 'replyTo', 'sendId', 'silent']
const OF_ANSWERS = ['ok', 'result', 'error', 'code', 'status', 'message', 'retryAfter', 'expected']
const OF_RESULTS = 'keys publicKey fingerprint userId user id mode kind historyVisible'.split(' ')
const OF_NOBODY = ['__proto__', 'constructor', 'x']

/** JSON of names that mean something, with values that do. */
const jsonOf = (names: string[], ...values: unknown[]): fc.Arbitrary<unknown> =>
  fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(...values, null, true, 0, -1, 2 ** 53, '', 'x', [], {}),
      fc.array(tie('json'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...names, ...OF_NOBODY), tie('json'), {
        maxKeys: 6,
        noNullPrototype: true,
      }),
    ),
  })).json

/** The same as bytes: mostly whole, else cut, doubled, or with bytes in it that are no text. */
const onWire = (json: fc.Arbitrary<unknown>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(json, fc.nat({ max: 9 }), fc.nat(), fc.uint8Array({ maxLength: 3 }))
    .map(([value, way, at, bytes]) => {
      const whole = Buffer.from(JSON.stringify(value))
      const cut = at % (whole.length + 1)
      const [head, tail] = [whole.subarray(0, cut), whole.subarray(cut)]
      if (way === 0) return head
      if (way === 1) return Buffer.concat([whole, whole])
      return way === 2 ? Buffer.concat([head, bytes, tail]) : whole
    })

interface Answered {
  status: number
  code: string | undefined
}

/** A call of the bot's, answered in the service's envelope whatever happens. */
async function call(method: string, path: string, body?: Buffer): Promise<Answered> {
  const response = await fetch(`${stage.sidecar.url}/bot/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${BOT_TOKEN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: new Uint8Array(body) }),
  })
  const { status } = response
  const json = await response.json()
  expect([json.ok, json.error?.status], `${method} ${path}`).toEqual(
    status < 300 ? [true, undefined] : [false, status],
  )
  return { status, code: json.error?.code }
}

test('an arbitrary body of the bot is refused or sealed, and its text never reaches the service', async () => {
  const friend = await stage.friend()
  const chat = stage.privateChat(friend)
  await stage.show(chat)
  const words = canary()
  const some = jsonOf(OF_BODIES, words, chat.id)
  const fields = fc.dictionary(fc.constantFrom(...OF_BODIES), some, { maxKeys: 3 })
  const right = fc.constant({ chatId: chat.id, text: words })
  // Buttons are in the clear by the service's own design: no words stand there.
  const markup = fc.option(fc.record({ markup: jsonOf(['rows', 'text']) }), { nil: {} })
  const sent = fc
    .tuple(fc.option(right, { nil: {} }), markup, fc.option(fields, { nil: {}, freq: 1 }))
    .map((parts) => Object.assign({}, ...parts) as unknown)
  const body = onWire(fc.oneof({ arbitrary: sent, weight: 4 }, some))
  const statuses = new Set<number>()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('POST /messages', 'PATCH /messages/7'),
      body,
      async (to, bytes) => {
        const [method = '', path = ''] = to.split(' ')
        const since = stage.double.mark()
        const { status, code } = await call(method, path, bytes)
        statuses.add(status)
        expect(status, code).toBeLessThan(500)
        const left = stage.bodies(since)
        expect(left.length).toBe(status < 300 ? 1 : left.length)
        for (const one of left) expect(one).not.toHaveProperty('text')
        if (status >= 300) return
        const given = Object.keys(JSON.parse(bytes.toString()))
        expect(given.filter((field) => !LISTED.includes(field))).toEqual([])
      },
    ),
    { numRuns: runs(200) },
  )
  stage.expectNowhere(words)
  if (isUsual) expect([...statuses]).toEqual(expect.arrayContaining([201, 400]))
  expect((await stage.send(chat, canary())).status).toBe(201)
})

test('an arbitrary answer of the service to a send ends in an answer to the bot, and leaks no text', async () => {
  const [friend, other] = [await stage.friend(), await stage.person()]
  const chat = stage.group([friend])
  await stage.show(chat)
  // Of a group never heard of before, the service's first word is taken; from here on it is latched.
  expect((await stage.send(chat, canary())).status).toBe(201)
  const words = canary()
  const values = [
    friend.id,
    chat.id,
    friend.key,
    other.key,
    friend.phone.certificate,
    'open',
    'group',
  ]
  const open = { id: chat.id, kind: 'group', mode: 'open', historyVisible: true, title: 'x' }
  const mine = { userId: friend.id, ...friend.key }
  const records = [mine, { userId: other.id, ...other.key }, { userId: friend.id, ...other.key }]
  const list = fc.array(fc.constantFrom(...records, {}, null), { maxLength: 3 })
  const result = fc.oneof(
    jsonOf(OF_RESULTS, ...values),
    list.map((keys) => ({ keys })),
    fc.constant(open),
  )
  const good = result.map((one) => ({ status: 200, json: { ok: true, result: one } }))
  const odd = fc.record({
    status: fc.constantFrom(200, 201, 400, 404, 409, 500),
    body: onWire(jsonOf([...OF_ANSWERS, ...OF_RESULTS], ...values)),
  })
  const reply: fc.Arbitrary<Reply | undefined> = fc.oneof(good, odd, fc.constant(undefined))
  const codes = new Set<string | undefined>()
  await fc.assert(
    fc.asyncProperty(reply, reply, reply, async (toKeys, toChat, toSend) => {
      using _keys = stage.double.script('GET', `/chats/${chat.id}/keys`, () => toKeys)
      using _chat = stage.double.script('GET', `/chats/${chat.id}`, () => toChat)
      using _send = stage.double.script('POST', '/messages', () => toSend)
      const body = Buffer.from(JSON.stringify({ chatId: chat.id, text: words }))
      const { code } = await call('POST', '/messages', body)
      codes.add(code)
    }),
    // Look-ups have a budget for each minute.
    { numRuns: runs(80) },
  )
  stage.expectNowhere(words)
  expect(codes).not.toContain('internal')
  if (isUsual) expect(codes.size).toBeGreaterThan(2)
  // What is said of a person's key sticks; of others nothing was said.
  const beside = stage.group([await stage.person()])
  await stage.show(beside)
  const last = await stage.send(beside, canary())
  expect(last.status, last.text).toBe(201)
})

test('arbitrary updates of the service are delivered, or refused with 502', async () => {
  const friend = await stage.friend()
  const chat = stage.privateChat(friend)
  const sealed = await friend.phone.seal('hello', [stage.botCertificate])
  const message = stage.double.world.message(chat, friend, { armored: sealed })
  const names = 'updateId message from chat armored text replyTo media url'.split(' ')
  const update = jsonOf([...names, ...OF_RESULTS], message, chat.id, friend.id, sealed, '/media/a')
  const body = onWire(fc.array(update, { maxLength: 4 }).map((result) => ({ ok: true, result })))
  await fc.assert(
    fc.asyncProperty(body, async (bytes) => {
      using _ = stage.double.script('GET', '/updates', { status: 200, body: bytes })
      const { status, code } = await call('GET', '/updates?timeout=0')
      expect([200, 502], code).toContain(status)
    }),
    // A poll that failed is answered a while later, so that no bot spins.
    { numRuns: runs(40) },
  )
  const [read] = await stage.deliver([message])
  expect(read).toMatchObject({ text: 'hello' })
})
