/** What somebody gets who listens in the server's place while it is down. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { OperatorError } from '../../../src/errors.ts'
import { lookAtDatabase } from '../../../src/store/postgres/look.ts'
import { freshSchema, SOCKET } from '../../support/postgres.ts'
import { openOn, serverOf } from './scene.ts'
import { has } from '../../support/lacks.ts'

const PASSWORD = 'the-password-of-the-database'
const isRoot = has(process.getuid?.() === 0, 'these tests do not run as root')

/** AuthenticationCleartextPassword, AuthenticationMD5Password, AuthenticationSASL (PostgreSQL, 53.7). */
const ASKS = {
  'the password': message('R', int(3)),
  'its MD5 hash': message('R', int(5), Buffer.from('salt')),
  'SCRAM, and then the password': Buffer.concat([
    message('R', int(10), Buffer.from('SCRAM-SHA-256\0\0')),
    message('R', int(3)),
  ]),
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int(body.length + 4), body])
}

/** Listens as another program does, and keeps what it is sent. */
async function listen(at: string | null, ask: Buffer) {
  const got: Buffer[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      if (got.push(bytes) === 1 || bytes.includes('user\0')) socket.write(ask)
    })
  })
  await new Promise<void>((done) => {
    if (at === null) server.listen(0, '127.0.0.1', done)
    else server.listen(at, done)
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port = 0 } = at === null ? (server.address() as AddressInfo) : {}
  return { port, text: () => Buffer.concat(got).toString('latin1') }
}

const folder = (mode: number): string => {
  const path = mkdtempSync(join(tmpdir(), 'pg-fake-'))
  chmodSync(path, mode)
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const bySocket = (path: string): string =>
  `postgres://postern:${PASSWORD}@/postern?host=${encodeURIComponent(path)}`

async function refusalOf(url: string): Promise<OperatorError> {
  return await openOn(serverOf(url), freshSchema()).then(
    () => Promise.reject(new Error('it opened')),
    (error: OperatorError) => error,
  )
}

describe('a fake server on the address or socket of the database', () => {
  test.each(Object.entries(ASKS))(
    'a fake server that requests %s receives no password over TCP',
    async (_what, ask) => {
      const { port, text } = await listen(null, ask)
      const url = `postgres://postern:${PASSWORD}@127.0.0.1:${port}/postern`
      const error = await refusalOf(url)
      expect(error).toMatchObject({ code: 'store-login', hint: expect.stringContaining('scram') })
      await expect(lookAtDatabase({ url, schema: freshSchema() })).rejects.toMatchObject({
        code: 'store-login',
      })
      expect(text()).toContain('postern')
      expect(text()).not.toContain(PASSWORD)
      expect(text()).not.toMatch(/md5[0-9a-f]{32}/)
    },
  )

  test.each(Object.entries(ASKS))(
    'a fake server that requests %s receives no password over a socket',
    async (_what, ask) => {
      const path = folder(0o755)
      const { text } = await listen(join(path, SOCKET), ask)
      expect(await refusalOf(bySocket(path))).toMatchObject({ code: 'store-login' })
      expect(text()).toContain('postern')
      expect(text()).not.toMatch(/the-password|md5[0-9a-f]{32}/)
    },
  )
})

/** AuthenticationOk, ReadyForQuery. */
const LETS_IN = Buffer.concat([message('R', int(0)), message('Z', Buffer.from('I'))])
const SASL = message('R', int(10), Buffer.from('SCRAM-SHA-256\0\0'))
const STRANGERS = {
  'without authentication': LETS_IN,
  'in the middle of SCRAM': Buffer.concat([SASL, LETS_IN]),
  'after an unrequested signature': Buffer.concat([
    message('R', int(12), Buffer.from('v=AAAA')),
    LETS_IN,
  ]),
  'after a premature signature': Buffer.concat([
    SASL,
    message('R', int(12), Buffer.from('v=AAAA')),
    LETS_IN,
  ]),
}

describe('a fake server that does not know the password', () => {
  test.each(Object.entries(STRANGERS))(
    'a fake server that accepts the login %s receives no SQL',
    async (_how, answer) => {
      const { port, text } = await listen(null, answer)
      const url = `postgres://postern:${PASSWORD}@127.0.0.1:${port}/postern`
      expect(await refusalOf(url)).toBeInstanceOf(Error)
      await expect(lookAtDatabase({ url, schema: freshSchema() })).rejects.toThrow()
      expect(text()).toContain('postern')
      expect(text()).not.toMatch(/SELECT|CREATE|BEGIN/)
    },
  )

  test('a fake server without SCRAM is refused as `store-login` with a hint', async () => {
    const { port } = await listen(null, LETS_IN)
    const url = `postgres://postern:${PASSWORD}@127.0.0.1:${port}/postern`
    expect(await refusalOf(url)).toMatchObject({
      code: 'store-login',
      message: expect.stringContaining('does not prove that it knows the password'),
      hint: expect.stringContaining('scram-sha-256'),
    })
  })

  test('a server without SCRAM is accepted over a checked socket, and without a configured password', async () => {
    const path = folder(0o755)
    const socket = await listen(join(path, SOCKET), LETS_IN)
    await refusalOf(bySocket(path))
    expect(socket.text()).toContain('SELECT')
    const { port, text } = await listen(null, LETS_IN)
    await refusalOf(`postgres://postern@127.0.0.1:${port}/postern`)
    expect(text()).toContain('SELECT')
  })
})

describe('the owner of a database socket', () => {
  const refused = { code: 'store-login', message: expect.stringContaining('socket') }

  /** Listens in a folder; nothing is sent there by who is led to `path`. */
  async function expectUnasked(path: string, change: (socket: string) => void = () => {}) {
    const { text } = await listen(join(path, SOCKET), ASKS['the password'])
    change(join(path, SOCKET))
    expect(await refusalOf(bySocket(path))).toMatchObject(refused)
    expect(text()).toBe('')
  }

  /** The same where it is trusted with the name of the user. */
  async function expectAsked(path: string, change: (socket: string) => void = () => {}) {
    const { text } = await listen(join(path, SOCKET), ASKS['the password'])
    change(join(path, SOCKET))
    await refusalOf(bySocket(path))
    expect(text()).toContain('postern')
  }

  test('a socket in a world-writable folder is refused before anything is sent', async () => {
    await expectUnasked(folder(0o777))
  })

  test('a socket below a world-writable folder is refused before anything is sent', async () => {
    const path = join(folder(0o777), 'in')
    mkdirSync(path, { mode: 0o755 })
    await expectUnasked(path)
  })

  test('a symbolic link, or a plain file, in place of the socket is refused', async () => {
    const [path, elsewhere] = [folder(0o755), folder(0o755)]
    const { text } = await listen(join(elsewhere, SOCKET), ASKS['the password'])
    symlinkSync(join(elsewhere, SOCKET), join(path, SOCKET))
    expect(await refusalOf(bySocket(path))).toMatchObject(refused)
    rmSync(join(path, SOCKET))
    writeFileSync(join(path, SOCKET), '')
    expect(await refusalOf(bySocket(path))).toMatchObject(refused)
    expect(text()).toBe('')
  })

  test.skipIf(!isRoot).each([0o755, 0o1777])(
    'a socket of a foreign user in a folder of mode %o is refused',
    async (mode) => {
      await expectUnasked(folder(mode), (socket) => chownSync(socket, 4321, 4321))
    },
  )

  test.skipIf(!isRoot)('a socket in a sticky folder of a foreign user is refused', async () => {
    const path = folder(0o1777)
    await expectUnasked(path, (socket) => {
      for (const one of [path, socket]) chownSync(one, 4321, 4321)
    })
  })

  test.skipIf(!isRoot)(
    'a socket of the folder owner is used, also in a group-writable setgid folder',
    async () => {
      const path = folder(0o2775)
      await expectAsked(path, (socket) => {
        for (const one of [path, socket]) chownSync(one, 4321, 4322)
      })
    },
  )

  test('a socket in a sticky folder of this user is used', async () => {
    await expectAsked(folder(0o1777))
  })
})
