import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { Instead } from './front.ts'
import { useScene } from './scene.ts'

const scene = useScene({ env: { TESTS_PATIENCE: '0.2' } })

/** Between two bytes of who is slow: well below the bound of silence, a fifth of ten seconds. */
const PAUSE_MS = 200

/** A body that comes a byte at a time and never ends. */
const dripping: Instead = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.write(' '), PAUSE_MS)
  response.once('close', () => clearInterval(timer))
}
/** Headers, and then nothing. */
const silent: Instead = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
  response.flushHeaders()
}

/** Everything that a door says to a request whose body never ends. */
async function slowBot(more: () => string): Promise<string> {
  const { hostname, port } = new URL(scene.sidecar.bot)
  const socket = connect({ host: hostname, port: Number(port) })
  let text = ''
  socket.on('data', (piece: Buffer) => (text += piece.toString('latin1')))
  socket.on('error', () => {})
  await once(socket, 'connect')
  const head = [
    'POST /bot/v1/messages HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${scene.sandbox.token}`,
    'Content-Type: application/json',
    'Content-Length: 200',
    '',
    '{"chatId":',
  ]
  socket.write(head.join('\r\n'))
  const timer = setInterval(() => socket.write(more()), PAUSE_MS)
  // a write to a closed socket may be an error before it
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(timer)
  return text
}

async function outcome(method: string, path: string, body?: unknown): Promise<string> {
  const { status, json } = await scene.call(method, path, body)
  return `${status} ${json.error?.code}`
}

test('slow answers and slow bodies end by a timeout, and other calls are served meanwhile', async () => {
  const { privateChat, encryptedGroup, alice } = scene.sandbox.home
  scene.front.instead.set('GET /updates', dripping)
  scene.front.instead.set('GET /commands', dripping)
  scene.front.instead.set(`GET /chats/${encryptedGroup}/members`, silent)
  scene.front.instead.set(`GET /users/${alice.id}/key`, dripping)
  const slow = Promise.all([
    outcome('GET', '/updates'),
    outcome('GET', '/commands'),
    outcome('GET', `/chats/${encryptedGroup}/members`),
    ...Array.from({ length: 20 }, () => outcome('GET', `/users/${alice.id}/key`)),
    ...Array.from({ length: 20 }, () => slowBot(() => '1')),
  ])
  const [poll, commands, members, ...others] = await scene.meanwhile(slow)
  expect(poll).toBe('504 postern_upstream_timeout')
  expect(commands).toBe('504 postern_upstream_timeout')
  expect(members).toBe('504 postern_upstream_timeout')
  for (const answer of others.slice(0, 20)) expect(answer).toBe('504 postern_upstream_timeout')
  for (const answer of others.slice(20)) expect(answer).toMatch(/^HTTP\/1\.1 4\d\d |^$/)
  const sent = scene.sandbox.transcript.search('"chatId":1')
  expect(sent).toEqual([])
  scene.front.instead.clear()
  expect((await scene.call('POST', '/messages', { chatId: privateChat, text: 'hi' })).status).toBe(
    201,
  )
})
