import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { homeScene, still } from './support.ts'

/** The lines of each event or comment, as they arrive. */
async function* blocks(response: Response): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString('utf8')
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    yield* parts
  }
}

async function follow(sandbox: Sandbox, path = '', headers: Record<string, string> = {}) {
  const reader = new AbortController()
  onTestFinished(() => reader.abort())
  const { signal } = reader
  const response = await fetch(`${sandbox.controlUrl}/events${path}`, { headers, signal })
  return { response, next: blocks(response), stop: () => reader.abort() }
}

const tick = (sandbox: Sandbox) => sandbox.control.advance({ ms: 1 })
/** One event more. */
const record = (sandbox: Sandbox, path = '/') =>
  sandbox.transcript.open({ at: 0, by: 'api', method: 'GET', path, headers: [] })
const idOf = (block: string | undefined) => Number(/^id: (\d+)$/m.exec(block ?? '')?.[1])

test('the event stream sends each event with its id, kind and data', async () => {
  await using sandbox = await still()
  const { last } = await sandbox.control.events()
  const { response, next } = await follow(sandbox)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  await tick(sandbox)
  const block = (await next.next()).value ?? ''
  const [id, kind, data] = block.split('\n')
  expect([id, kind]).toEqual([`id: ${last + 1}`, 'event: clock'])
  const event = JSON.parse(data?.replace('data: ', '') ?? '') as object
  expect(event).toEqual({ id: last + 1, at: sandbox.now(), kind: 'clock' })
})

test('a reader of the event stream resumes after Last-Event-ID or `after` without a gap', async () => {
  await using sandbox = await still()
  const { last } = await sandbox.control.events()
  const first = await follow(sandbox)
  await tick(sandbox)
  expect(idOf((await first.next.next()).value)).toBe(last + 1)
  first.stop()
  await tick(sandbox)
  await tick(sandbox)
  const byHeader = await follow(sandbox, '?after=0', { 'last-event-id': String(last + 1) })
  expect(idOf((await byHeader.next.next()).value)).toBe(last + 2)
  expect(idOf((await byHeader.next.next()).value)).toBe(last + 3)
  const byQuery = await follow(sandbox, `?after=${last + 2}`)
  expect(idOf((await byQuery.next.next()).value)).toBe(last + 3)
})

test('the event stream sends only the requested kinds', async () => {
  const { sandbox, alice, privateChat: chatId } = await homeScene()
  const { next } = await follow(sandbox, '?kinds=queued,key')
  await tick(sandbox)
  await sandbox.control.post({ userId: alice.id, chatId, text: 'x' })
  expect((await next.next()).value).toContain('event: queued')
})

test('the event stream announces how many events were missed, and sends the held ones', async () => {
  await using sandbox = await still()
  const { last } = await sandbox.control.events()
  for (let n = 0; n < 10_004 - last; n++) record(sandbox)
  const { next } = await follow(sandbox, '?after=1')
  expect((await next.next()).value).toBe('event: missed\ndata: {"missed":3}')
  expect(idOf((await next.next()).value)).toBe(5)
})

test('the event stream refuses a wrong id, kind or parameter, and a web page', async () => {
  await using sandbox = await still()
  const refused = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${sandbox.controlUrl}/events${path}`, { headers })
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    return { status: response.status, ...error }
  }
  const bad = { status: 400, code: 'bad_control' }
  expect(await refused('?after=-1')).toMatchObject(bad)
  expect(await refused('?kinds=call,lunch')).toMatchObject(bad)
  expect((await refused('?since=1')).message).toContain('since')
  expect((await refused('?after=x')).message).toBe('after: expected the id of an event, got "x"')
  expect((await refused('?kinds=lunch')).message).toMatch(
    /^kinds\.0: expected some of call, message, .*, separated by commas, got "lunch"$/,
  )
  expect((await refused('', { 'last-event-id': 'x' })).message).toBe(
    'Last-Event-ID: expected the id of an event, got "x"',
  )
  expect(await refused('', { 'last-event-id': 'x' })).toMatchObject(bad)
  expect(await refused('', { origin: 'https://evil.example' })).toMatchObject({ status: 403 })
})

test('the event stream drops a reader that does not read, and sends the reason', async () => {
  await using sandbox = await still()
  const { hostname, port } = new URL(sandbox.controlUrl)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'data')
  socket.pause()
  for (let round = 0; round < 40; round++) {
    for (let n = 0; n < 400; n++) record(sandbox, `/${'x'.repeat(8000)}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  let text = ''
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.on('data', (chunk: Buffer) => (text = text.slice(-200) + chunk.toString('utf8')))
  socket.resume()
  await expect.poll(() => text).toContain(': dropped, since you read too slowly')
  socket.end()
  await closed
})

test('an idle event stream sends a comment every 15 seconds, and no more once closed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  await using sandbox = await still()
  const { next, stop } = await follow(sandbox)
  vi.advanceTimersByTime(15_000)
  expect((await next.next()).value).toBe(': nothing happened')
  expect(vi.getTimerCount()).toBe(1)
  stop()
  await expect.poll(() => vi.getTimerCount()).toBe(0)
})

test('a closing sandbox ends its event streams', async () => {
  const sandbox = await still()
  const { next } = await follow(sandbox)
  const end = next.next()
  await sandbox[Symbol.asyncDispose]()
  expect(await end).toMatchObject({ done: true })
})

test('an event stream continues across a reset, and ends with the removal of its world', async () => {
  await using sandbox = await still()
  const { next } = await follow(sandbox, '?kinds=restored,clock')
  await sandbox.reset()
  expect((await next.next()).value).toContain('event: restored')
  await tick(sandbox)
  expect((await next.next()).value).toContain('event: clock')
  const { controlUrl } = await sandbox.control.addWorld({ name: 'other', clock: 'still' })
  const response = await fetch(`${controlUrl}/events?after=0`)
  const other = blocks(response)
  expect(idOf((await other.next()).value)).toBe(1)
  await sandbox.control.removeWorld({ name: 'other' })
  let rest = await other.next()
  while (rest.done !== true) rest = await other.next()
  await tick(sandbox)
  expect((await next.next()).value).toContain('event: clock')
})
