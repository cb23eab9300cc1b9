import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from '../support/programs.ts'
import { once } from 'node:events'
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { FastifyInstance } from 'fastify'
import { OperatorError } from '../../src/errors.ts'
import { listenAt } from '../../src/http/listen.ts'
import { adminDoor, openDoor } from './support.ts'

const someDoor = () => adminDoor().door

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'door-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

function askOver(socketPath: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path: '/healthz', agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

it('a listener listens on a host name', async () => {
  const door = someDoor()
  const url = await door.listen({ setting: 'admin', host: 'localhost', port: 0 })
  expect(url).toMatch(/^http:\/\/localhost:\d+$/)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})

it('a port in use is refused with code, message and hint', async () => {
  const { port } = await openDoor()
  const opening = someDoor().listen({ setting: 'admin', host: '127.0.0.1', port })
  await expect(opening).rejects.toBeInstanceOf(OperatorError)
  await expect(opening).rejects.toMatchObject({
    code: 'listen',
    exitCode: 1,
    message: expect.stringContaining(`127.0.0.1:${port}: something else listens there`),
    hint: expect.stringContaining('`admin.port`'),
  })
})

it('a listener cannot listen on an address of another machine', async () => {
  const opening = someDoor().listen({ setting: 'admin', host: '192.0.2.1', port: 0 })
  await expect(opening).rejects.toThrow('it is no address of this machine')
})

it('a Unix socket has mode 0600 and serves', async () => {
  const path = join(await folder(), 's')
  const before = process.umask()
  expect(await someDoor().listen({ setting: 'listen', socket: path })).toBe(`unix:${path}`)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(process.umask()).toBe(before)
  expect(await askOver(path)).toBe(200)
})

it('opening a Unix socket leaves the umask of the process unchanged', async () => {
  const path = await folder()
  const opening = someDoor().listen({ setting: 'listen', socket: join(path, 's') })
  let isOpen = false
  void opening.then(() => (isOpen = true))
  const umasks = new Set<number>()
  while (!isOpen) {
    umasks.add(process.umask())
    await immediate()
  }
  expect([...umasks]).toEqual([process.umask()])
  expect((await stat(join(path, 's'))).mode & 0o777).toBe(0o600)
})

it('a Unix socket is removed once its listener has drained', async () => {
  const path = join(await folder(), 's')
  const door = someDoor()
  await door.listen({ setting: 'listen', socket: path })
  await door.drain()
  await expect(stat(path)).rejects.toThrow('ENOENT')
})

it('a Unix socket left by a dead process is replaced', async () => {
  const path = join(await folder(), 's')
  const script = `require('net').createServer().listen(${JSON.stringify(path)},()=>process.kill(process.pid,'SIGKILL'))`
  spawnSync(process.execPath, ['-e', script])
  expect((await stat(path)).isSocket()).toBe(true)
  await someDoor().listen({ setting: 'listen', socket: path })
  expect(await askOver(path)).toBe(200)
})

it('a Unix socket with a live server is refused and kept', async () => {
  const path = join(await folder(), 's')
  const other: Server = createServer((socket) => socket.destroy()).listen(path)
  await once(other, 'listening')
  onTestFinished(() => void other.close())
  const opening = someDoor().listen({ setting: 'listen', socket: path })
  await expect(opening).rejects.toThrow('something else listens there')
  expect((await stat(path)).isSocket()).toBe(true)
})

it.each([
  ['EADDRINUSE', 'something else listens there', 'stop what listens there, or choose'],
  ['EACCES', 'this user may not', 'choose'],
  ['EADDRNOTAVAIL', 'it is no address of this machine', 'choose'],
  ['ENOTFOUND', 'the name has no address', 'choose'],
  ['ENOENT', 'its folder is not there', 'choose'],
  ['EMFILE', 'the system says EMFILE', 'choose'],
])('a listener that cannot listen because of %s is refused: %s', async (code, why, hint) => {
  const cause = Object.assign(new Error('x'), { code })
  const app = { ready: async () => {}, listen: () => Promise.reject(cause) }
  const opening = (host: string) =>
    listenAt(app as unknown as FastifyInstance, { setting: 'listen', host, port: 80 })
  await expect(opening('::1')).rejects.toMatchObject({
    code: 'listen',
    message: `cannot listen on [::1]:80: ${why}`,
    hint: `${hint} another place with \`listen.port\``,
    exitCode: code === 'EACCES' ? 2 : 1,
    cause,
  })
  await expect(opening('sidecar')).rejects.toThrow(`cannot listen on sidecar:80: ${why}`)
})

it('a Unix socket at the path of a file is refused with a hint, and the file stays', async () => {
  const path = await folder()
  await writeFile(join(path, 'file'), '')
  const open = (...names: string[]) =>
    someDoor().listen({ setting: 'listen', socket: join(path, ...names) })
  await expect(open('file')).rejects.toMatchObject({
    code: 'listen',
    message: `${path}/file is there already and is not a socket`,
    hint: 'move it away, or choose another path with `listen.socket`',
  })
  expect((await stat(join(path, 'file'))).isFile()).toBe(true)
  await expect(open('file', 's')).rejects.toMatchObject({
    message: `cannot listen on ${path}/file/s: its folder is not there`,
    hint: 'choose another place with `listen.socket`',
  })
})
