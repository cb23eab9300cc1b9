/** A server at the socket of gpg-agent that does not do what gpg-agent does. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AssuanClient } from '../../src/agent/assuan.ts'
import { GpgAgent } from '../../src/agent/gpg-agent.ts'
import { KeyHolderUnavailableError } from '../../src/errors.ts'
import { temporary } from '../store/support.ts'
import { packetFor } from '../support/held-keys.ts'

/** Answers each line; the text goes out as it is. */
type Answer = (line: string, socket: Socket) => string | Buffer | null

const OK = 'OK\n'

/** A server on a socket of its own. */
async function serve(answer: Answer, greeting = 'OK Pleased to meet you\n') {
  const path = join(temporary(), 'S.gpg-agent')
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
  return { path, lines }
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

describe('answers of gpg-agent', () => {
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
    [
      'an integer that is too long',
      `D (1:r33:${'r'.repeat(33)})(1:s1:s)\nOK\n`,
      /gave no signature/,
    ],
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
})

/** A point that anybody may seal to. */
const POINT = Buffer.from('09'.padEnd(64, '0'), 'hex')

test('`AssuanClient` escapes the data of an inquiry and splits it into lines of at most 1000 bytes', async () => {
  const data = Buffer.from(Array.from({ length: 1024 }, (_, at) => at % 256))
  const { path, lines } = await serve((line) =>
    line === 'ASK' ? 'INQUIRE DATA\n' : line.startsWith('D ') ? null : OK,
  )
  const client = new AssuanClient(() => path, [])
  onTestFinished(() => client[Symbol.asyncDispose]())
  await client.ask(['ASK'], data)
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
