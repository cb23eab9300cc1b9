import { expect, test } from 'vitest'
import { useStage, type Person } from '../support/double-stage.ts'
import { no, type Json, type Reply } from '../support/double-wire.ts'
import { openBot } from '../updates/bot.ts'

const stage = useStage({ env: { TESTS_LEAVING: '1' } })

/** A person about whom the service does not answer until this is disposed. */
function hide(person: Person, chatId: number, reply: Reply = no(500, 'internal')): Disposable {
  const list = stage.double.script('GET', `/chats/${chatId}/keys`, reply)
  const own = stage.double.script('GET', `/users/${person.id}/key`, reply)
  return {
    [Symbol.dispose]: () => {
      list[Symbol.dispose]()
      own[Symbol.dispose]()
    },
  }
}

async function said(
  from: Person,
  text: string,
  chat = stage.privateChat(from),
  others: Person[] = [],
): Promise<number> {
  const certificates = others.map(({ phone }) => phone.certificate)
  const armored = await from.phone.seal(text, [stage.botCertificate, ...certificates])
  const message = stage.double.world.message(chat, from, { armored })
  return stage.double.world.push({ kind: 'message', message })
}

const poll = async (offset: number): Promise<Json[]> => {
  const { status, json } = await stage.sidecar.call('GET', `/updates?offset=${offset}&timeout=1`)
  expect(status).toBe(200)
  return json.result
}

/** Lines of the log whose message says so. */
const lines = (text: string): Json[] =>
  stage.sidecar
    .logs()
    .split('\n')
    .filter((line) => line.includes(text))
    .map((line) => JSON.parse(line))

test('a text whose sender’s certificate cannot be read is delivered in its place once it can be read', async () => {
  const [alice, bob] = [await stage.person(), await stage.person()]
  const chat = stage.privateChat(alice)
  const first = await said(bob, 'one')
  const since = stage.double.mark()
  const before = await (async () => {
    using _ = hide(alice, chat.id)
    await said(alice, 'two', chat)
    await said(bob, 'three')
    const answered = await poll(first)
    expect(await poll(first + 1)).toEqual([])
    expect(await poll(first + 1)).toEqual([])
    return answered
  })()
  const after = await poll(first + 1)
  expect([...before, ...after].map(({ message }) => message.text)).toEqual(['one', 'two', 'three'])
  expect(after[0].message.postern).toMatchObject({ verdict: 'verified' })
  expect(lines('is left at the service')).toMatchObject([{ chatId: chat.id, why: 'failed' }])
  expect(lines('left at the service came')).toMatchObject([{ chatId: chat.id }])
  const metrics = await (await fetch(`${stage.sidecar.adminUrl}/metrics`)).text()
  expect(metrics).toMatch(/^postern_updates_left_total\{why="failed"\} 3$/m)
  expect(metrics).toMatch(/^postern_updates_left_total\{why="busy"\} 0$/m)
  const calls = stage.double.calls('GET', /\/keys$/, since)
  expect(calls.length, 'three tries, then one with each poll').toBeLessThan(20)
})

test('a text of a protected group is delivered once the service no longer refuses its key list as open', async () => {
  const [alice, bob] = [await stage.person(), await stage.person()]
  const group = stage.group([alice, bob])
  const first = await said(alice, 'while it is known', group, [bob])
  const answered = await poll(first)
  expect(answered.map(({ message }) => message.text)).toEqual(['while it is known'])
  await stage.restart({ TESTS_LEAVING: '1' })
  {
    const reply = no(400, 'chat_is_open')
    using _ = stage.double.script('GET', `/chats/${group.id}/keys`, reply)
    await said(alice, 'while it is not', group, [bob])
    expect(await poll(first + 1)).toEqual([])
  }
  const [after] = await poll(first + 1)
  expect(after.message).toMatchObject({ text: 'while it is not', postern: { verdict: 'verified' } })
})

test('a webhook receives a deferred text in its place once its sender’s certificate can be read', async () => {
  const alice = await stage.person()
  const bob = await stage.person()
  const chat = stage.privateChat(alice)
  const none = { json: { ok: true, result: { url: null, pending: 0 } } }
  stage.double.script('GET', '/webhook', none)
  stage.double.script('DELETE', '/webhook', none)
  const bot = await openBot((_delivery, response) => {
    response.writeHead(200).end()
  })
  const texts = (): unknown[] => bot.deliveries.map(({ body }) => JSON.parse(body).message.text)
  {
    using _ = hide(alice, chat.id)
    const first = await said(alice, 'two', chat)
    await poll(first).then((left) => expect(left).toEqual([]))
    await said(bob, 'three')
    const since = stage.double.mark()
    const { status } = await stage.sidecar.call('POST', '/webhook', { url: bot.url })
    expect(status).toBe(200)
    const asked = () => stage.double.calls('GET', `/chats/${chat.id}/keys`, since).length
    await expect.poll(asked, { timeout: 20_000 }).toBeGreaterThan(2)
    expect(texts().filter((text) => text === undefined || text === 'three')).toEqual([])
  }
  await expect.poll(() => texts().slice(-2), { timeout: 20_000 }).toEqual(['two', 'three'])
  await stage.sidecar.call('DELETE', '/webhook')
})

test('an update is deferred while the service hangs, cuts or sends no JSON, also across a restart', async () => {
  await stage.restart({ TESTS_LEAVING: '1', TESTS_PATIENCE: '0.2' })
  for (const reply of ['cut', { status: 200, body: 'no JSON' }, 'hang'] satisfies Reply[]) {
    const alice = await stage.person()
    const chat = stage.privateChat(alice)
    let first: number
    {
      using _ = hide(alice, chat.id, reply)
      first = await said(alice, 'late', chat)
      expect(await poll(first), JSON.stringify(reply)).toEqual([])
      if (reply === 'hang') {
        await stage.restart()
        expect(await poll(first)).toEqual([])
      }
    }
    const [update] = await poll(first)
    expect(update.message).toMatchObject({ text: 'late', postern: { verdict: 'verified' } })
  }
}, 60_000)
