/** A server at the socket of gpg-agent that does not do what gpg-agent does. */
import { once } from 'node:events'
import { chmodSync, chownSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { AssuanClient } from '../../src/agent/assuan.ts'
import { GpgAgent } from '../../src/agent/gpg-agent.ts'
import { KeyHolderUnavailableError } from '../../src/errors.ts'
import type { HolderState } from '../../src/openpgp/index.ts'
import { temporary } from '../store/support.ts'
import { has } from '../support/lacks.ts'
import { packetFor } from '../support/held-keys.ts'

/** Answers each line; the text goes out as it is. */
type Answer = (line: string, socket: Socket) => string | Buffer | null

const OK = 'OK\n'

/** A server on a socket of its own. */
async function serve(
  answer: Answer,
  greeting = 'OK Pleased to meet you\n',
  path = join(temporary(), 'S.gpg-agent'),
) {
  const lines: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write(greeting)
    let rest = ''
    socket.on('data', (chunk) => {
      const all = (rest + chunk.toString('latin1')).split('\n')
      rest = all.pop() ?? ''
      for (const line of all) {
        lines.push(line)
        const text = line === 'NOP' || line.startsWith('OPTION') ? OK : answer(line, socket)
        if (text !== null) socket.write(text)
      }
    })
  })
  await once(server.listen(path), 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { path, lines, connections: () => sockets.size }
}

const key = { algorithm: 22, createdS: 1, point: Buffer.alloc(32, 9) } as const
const by = { fingerprint: 'ab'.repeat(20), key }
const to = { fingerprint: 'cd'.repeat(20), key: { ...key, algorithm: 18 } } as const
const digest = Buffer.alloc(64)

/** A holder of a server's keys. */
function holderAt(path: string): GpgAgent {
  const holder = new GpgAgent(path)
  onTestFinished(() => holder[Symbol.asyncDispose]())
  return holder
}

const SIGNATURE = `(7:sig-val(5:eddsa(1:r32:${'r'.repeat(32)})(1:s31:${'s'.repeat(31)})))`
/** Answers as gpg-agent does, but for the last command. */
const lastly =
  (last: string): Answer =>
  (line) =>
    /^(PKSIGN|PKDECRYPT)/.test(line) ? last : OK

test('an answer of gpg-agent is read over status lines, comments and several pieces with escapes', async () => {
  const escaped = SIGNATURE.replaceAll('r', '%72')
  const { path, lines } = await serve(
    lastly(
      `S PROGRESS x\n# comment\nD ${escaped.slice(0, 30)}\nD ${escaped.slice(30)}\nOK signed\n`,
    ),
  )
  const numbers = await holderAt(path).sign({ by, digest })
  // an integer that begins with a zero lacks it
  expect(Buffer.from(numbers).toString('latin1')).toBe(`${'r'.repeat(32)}\0${'s'.repeat(31)}`)
  expect(lines.filter((line) => line !== 'NOP')).toEqual([
    'OPTION pinentry-mode=error',
    expect.stringMatching(/^SIGKEY [0-9A-F]{40}$/),
    `SETHASH 10 ${'00'.repeat(64)}`,
    'PKSIGN',
  ])
})

test('an answer after a refused earlier command is not used', async () => {
  const { path } = await serve((line) =>
    line.startsWith('SETHASH')
      ? 'ERR 67108881 No\n'
      : line === 'PKSIGN'
        ? `D ${SIGNATURE}\nOK\n`
        : OK,
  )
  const signing = holderAt(path).sign({ by, digest })
  await expect(signing).rejects.toMatchObject({ detail: 'gpg-agent has no secret key' })
})

test.each([
  ['nothing', 'OK\n', /gave no signature/],
  ['an empty expression', 'D ()\nOK\n', /gave no signature/],
  ['another expression', 'D (7:sig-val(3:rsa(1:s2:ab)))\nOK\n', /gave no signature/],
  ['an integer that is too long', `D (1:r33:${'r'.repeat(33)})(1:s1:s)\nOK\n`, /gave no signature/],
  ['a truncated integer', 'D (1:r32:r\nOK\n', /gave no signature/],
  ['a length beyond its end', 'D (1:r99:r)(1:s1:s)\nOK\n', /gave no signature/],
  ['an unknown error', 'ERR 1 x\n', /refused \(libgpg-error 1\)/],
  ['an error without a number', 'ERR\n', /refused/],
  ['another protocol', 'HELLO\n', /does not speak the protocol/],
  ['a line without end', Buffer.alloc(5000, 'x'), /does not speak the protocol/],
  ['a long line', `${'D'.padEnd(1200, 'x')}\n`, /does not speak the protocol/],
  ['data without end', `D ${'x'.repeat(900)}\n`.repeat(20), /does not speak the protocol/],
  ['more answers than commands', 'OK\nOK\nOK\n', /gave no signature|does not speak/],
  ['binary bytes', Buffer.from([0, 255, 10, 10, 10]), /does not speak the protocol/],
])('an answer of %s to a signature is reported as unavailable key', async (_, last, reason) => {
  const { path } = await serve((line) => (line === 'PKSIGN' ? last : OK))
  const error: unknown = await holderAt(path)
    .sign({ by, digest })
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(KeyHolderUnavailableError)
  expect((error as KeyHolderUnavailableError).detail).toMatch(reason)
})

test.each([
  ['no shared secret', 'OK\n', /gave no shared secret/],
  ['a point of another length', 'D (5:value3:@ab)\nOK\n', null],
  ['a second inquiry', 'INQUIRE PASSPHRASE\n', /refused/],
  ['a closed connection', null, /closed the connection/],
])('an answer of %s to an unwrapping opens nothing', async (_, last, reason) => {
  const { path, lines } = await serve((line, socket) => {
    if (line === 'PKDECRYPT') return 'INQUIRE CIPHERTEXT\n'
    if (line === 'CAN') return 'ERR 99 cancelled\n'
    if (line !== 'END') return line.startsWith('D ') ? null : OK
    if (last === null) socket.destroy()
    return last
  })
  const found = holderAt(path).unwrap({
    to,
    ...packetFor({ ...to, key: { ...to.key, point: POINT } }),
  })
  if (reason === null) await expect(found).resolves.toEqual([])
  else await expect(found).rejects.toBeInstanceOf(KeyHolderUnavailableError)
  expect(lines.filter((line) => line.startsWith('D '))).toHaveLength(1)
})

test('a server without the greeting of gpg-agent is not reachable', async () => {
  for (const greeting of ['', 'ERR 1 go away\n', 'HTTP/1.1 400 Bad Request\n']) {
    const { path } = await serve(() => null, greeting)
    const holder = holderAt(path)
    const signing = holder.sign({ by, digest })
    await expect(signing).rejects.toBeInstanceOf(KeyHolderUnavailableError)
    expect(holder.state.isReachable).toBe(false)
  }
}, 30_000)

test('a server that does not answer fails every waiting command', async () => {
  const { path } = await serve(() => null)
  const holder = holderAt(path)
  const all = await Promise.allSettled([1, 2, 3].map(() => holder.sign({ by, digest })))
  for (const one of all) expect(one).toMatchObject({ reason: { code: 'postern_locked' } })
}, 30_000)

const NO_PINENTRY = 'ERR 67108949 No pinentry\n'
const ASKS =
  'gpg-agent would have to ask for a passphrase: use the key once with gpg, or take the passphrase off'

let last = ''
/** A holder at a server that gives `last` to the last command, and its states in order. */
async function refusing(refusal: string) {
  last = signs
  const { path, lines } = await serve((line) => {
    if (line === 'PKDECRYPT') return 'INQUIRE CIPHERTEXT\n'
    return line === 'PKSIGN' || line === 'END' ? last : line.startsWith('D ') ? null : OK
  })
  const holder = holderAt(path)
  const states: [boolean, string][] = []
  holder.onReachable(({ isReachable, reason }) => states.push([isReachable, reason]))
  await holder.sign({ by, digest })
  last = refusal
  const tries = (): number => lines.filter((line) => /^PK(SIGN|DECRYPT)/.test(line)).length
  return { holder, states, tries }
}
const sealed = () => packetFor({ ...to, key: { ...to.key, point: POINT } })
const signs = `D ${SIGNATURE}\nOK\n`
const another = { ...by, key: { ...key, point: Buffer.alloc(32, 8) } }
const RECOVERED = [
  [true, ''],
  [false, ASKS],
  [true, ''],
]

test('a use of a key that gpg-agent refuses is a reason until another use of that key succeeds', async () => {
  const { holder, states } = await refusing(NO_PINENTRY)
  await expect(holder.sign({ by, digest })).rejects.toThrow()
  expect(holder.state.isReachable).toBe(false)
  last = signs
  await holder.sign({ by: another, digest })
  expect(holder.state.isReachable).toBe(false)
  await holder.sign({ by, digest })
  expect(states).toEqual(RECOVERED)
})

test.each([
  ['signature', (holder: GpgAgent) => holder.sign({ by, digest })],
  ['opening', (holder: GpgAgent) => holder.unwrap({ to, ...sealed() })],
])('a refused %s is tried again every five seconds', async (_, use) => {
  const { holder, states, tries } = await refusing(NO_PINENTRY)
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  await expect(use(holder)).rejects.toThrow()
  await vi.advanceTimersByTimeAsync(4999)
  expect(tries()).toBe(2)
  await vi.advanceTimersByTimeAsync(1)
  await vi.waitUntil(() => vi.getTimerCount() > 0 && tries() === 3)
  last = signs
  await vi.advanceTimersByTimeAsync(5000)
  await vi.waitUntil(() => holder.state.isReachable)
  await vi.advanceTimersByTimeAsync(60_000)
  expect([tries(), vi.getTimerCount()]).toEqual([4, 0])
  expect(states).toEqual(RECOVERED)
})

test('data of a stranger that do not open are no reason, nor is a key that never signed', async () => {
  const { holder, states } = await refusing('ERR 67108922 Invalid data\n')
  await expect(holder.sign({ by: another, digest })).rejects.toThrow()
  await expect(holder.unwrap({ to, ...sealed() })).rejects.toThrow()
  expect(states).toEqual([[true, '']])
  await expect(holder.sign({ by, digest })).rejects.toThrow()
  expect(states.at(-1)).toEqual([false, 'gpg-agent refused (libgpg-error 58)'])
})

const NO_PATH = 'is not asked: its socket file names no path, or one with a variable'

test('a server whose file is removed, replaced or without a pinentry is left for the one that is there, between commands', async () => {
  const waiting: Socket[] = []
  const former = await serve((line, socket) => {
    if (line === 'WAIT') waiting.push(socket)
    return line === 'WAIT' ? null : OK
  })
  const client = new AssuanClient(() => former.path, [])
  onTestFinished(() => client[Symbol.asyncDispose]())
  const first = client.ask({ commands: ['WAIT'] })
  const second = client.ask({ commands: ['NEXT'] })
  await expect.poll(() => waiting).toHaveLength(1)
  renameSync(former.path, `${former.path}.former`)
  const later = await serve((line) => (line === 'NEXT' ? NO_PINENTRY : OK), OK, former.path)
  const states: boolean[] = []
  client.onReachable(({ isReachable }) => states.push(isReachable))
  await sleep(1000)
  waiting[0]?.write(OK)
  await first
  await expect(second).rejects.toMatchObject({ code: 85 })
  expect([former.lines.includes('NEXT'), later.lines, later.connections()]).toEqual([
    false,
    ['NEXT'],
    1,
  ])
  await sleep(1000)
  await expect(client.ask({ commands: ['NEXT'] })).rejects.toMatchObject({ code: 85 })
  await client.ask({ commands: ['OTHER'] })
  expect([later.connections(), states]).toEqual([2, [true]])
  rmSync(former.path)
  await expect.poll(() => client.state.reason).toBe('is not reached (ENOENT)')
})

test.each<[string, (socket: string, next: string) => string, string]>([
  ['names the socket', (socket) => `socket=${socket}\n`, ''],
  ['names it before more lines', (socket) => `socket=${socket}\nmore\n`, ''],
  ['names a variable', (socket) => `socket=${socket}\${HOME}\n`, NO_PATH],
  ['has no last line end', (socket) => `socket=${socket}`, 'is not reached (ECONNREFUSED)'],
  ['names nothing', () => 'socket=\n', 'is not reached (ECONNREFUSED)'],
  [
    'names a file that names the socket',
    (_, next) => `socket=${next}\n`,
    'is not reached (ECONNREFUSED)',
  ],
  ['names no absolute path', () => 'socket=S.gpg-agent\n', NO_PATH],
  ['names nothing that is there', (socket) => `socket=${socket}.none\n`, 'is not reached (ENOENT)'],
])('a file that %s leads as libassuan has it', async (_, lines, reason) => {
  const { path } = await serve(() => OK)
  const [file, next] = [join(temporary(), 'S.gpg-agent'), join(temporary(), 'S.gpg-agent')]
  writeFileSync(next, `%Assuan%\nsocket=${path}\n`)
  writeFileSync(file, `%Assuan%\n${lines(path, next)}`)
  expect(await stateAt(file)).toEqual({ isReachable: reason === '', reason })
})

const isRoot = has(process.getuid?.() === 0, 'these tests do not run as root')
test.skipIf(!isRoot)(
  'a file that others may change, or that names a socket of others, is not followed',
  async () => {
    const { path } = await serve(() => OK)
    const file = join(temporary(), 'S.gpg-agent')
    writeFileSync(file, `%Assuan%\nsocket=${path}\n`)
    chownSync(path, 4321, 4321)
    const reason = /^is not asked: the socket that its file names belongs to user 4321,/
    expect((await stateAt(file)).reason).toMatch(reason)
    expect((await stateAt(path)).isReachable).toBe(true)
    chownSync(path, 0, 0)
    expect((await stateAt(file)).isReachable).toBe(true)
    chmodSync(file, 0o666)
    expect((await stateAt(file)).reason).toMatch(
      /^is not asked: its socket file may be written by others/,
    )
  },
)

/** The state of a client, once it is known. */
async function stateAt(file: string): Promise<HolderState> {
  const client = new AssuanClient(() => file, [])
  onTestFinished(() => client[Symbol.asyncDispose]())
  return await new Promise((resolve) => client.onReachable(resolve))
}

/** A point that anybody may seal to. */
const POINT = Buffer.from('09'.padEnd(64, '0'), 'hex')

test('`AssuanClient` escapes the data of an inquiry and splits it into lines of at most 1000 bytes', async () => {
  const data = Buffer.from(Array.from({ length: 1024 }, (_, at) => at % 256))
  const { path, lines } = await serve((line) =>
    line === 'ASK' ? 'INQUIRE DATA\n' : line.startsWith('D ') ? null : OK,
  )
  const client = new AssuanClient(() => path, [])
  onTestFinished(() => client[Symbol.asyncDispose]())
  await client.ask({ commands: ['ASK'], inquired: data })
  const sent = lines.filter((line) => line.startsWith('D '))
  expect(sent.every(({ length }) => length <= 1000)).toBe(true)
  const undone = sent.map((line) =>
    line
      .slice(2)
      .replace(/%([0-9A-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
  )
  expect(Buffer.from(undone.join(''), 'latin1')).toEqual(data)
})
