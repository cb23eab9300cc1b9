/** Agents for tests (in this process, as a process of its own, a liar), and a sidecar that uses one. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { FrameReader, writeFrame, type Frame } from '../../src/agent/frames.ts'
import { JOURNAL } from '../../src/agent/journal.ts'
import { startAgent, type AgentOptions } from '../../src/agent/run.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { postern } from '../cli/support.ts'
import { callAt } from '../support/bot-call.ts'
import { spawnPostern } from '../support/postern-process.ts'
import { startSidecarProcess, untilReady } from '../support/sidecar-process.ts'
import { watchedLog } from '../support/watched-log.ts'

/** A folder that goes with the test. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ag-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Where an agent listens, and what is in its journal. */
export interface TestAgent {
  dataDir: string
  /** Setting `key.agent`. */
  address: string
  journal: () => Record<string, unknown>[]
}

const placesIn = (folder: string): TestAgent & { socket: string } => {
  const dataDir = join(folder, 'agent')
  const socket = join(folder, 'a.sock')
  const lines = (): string[] =>
    readFileSync(join(dataDir, JOURNAL), 'utf8').split('\n').slice(0, -1)
  const journal = (): Record<string, unknown>[] =>
    lines().map((line) => JSON.parse(line) as Record<string, unknown>)
  return { dataDir, socket, address: `unix:${socket}`, journal }
}

/** Starts an agent in this process. */
export async function startAgentInside(
  options: Partial<AgentOptions> = {},
  folder = freshFolder(),
): Promise<TestAgent & AsyncDisposable> {
  const places = placesIn(folder)
  const agent = await startAgent({
    ...places,
    passphrase: null,
    protection: 'none',
    perMinute: { signatures: 6000, sessionKeys: 60_000 },
    log: watchedLog(),
    ...options,
  })
  const resources = new AsyncDisposableStack()
  resources.use(agent)
  onTestFinished(() => resources.disposeAsync())
  return { ...places, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

export interface AgentProcess extends TestAgent {
  process: ChildProcess
  stop: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>
}

/** Starts `postern agent run`, and waits until it listens. */
export async function startAgentProcess(folder = freshFolder()): Promise<AgentProcess> {
  const places = placesIn(folder)
  const child = spawnPostern(['agent', 'run', '--socket', places.socket], {
    cwd: folder,
    env: {
      PATH: '/usr/bin:/bin',
      HOME: folder,
      POSTERN_DATA_DIR: places.dataDir,
      POSTERN_KEY_PROTECTION: 'none',
    },
  })
  const ended = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('the key agent listens')) resolve()
    })
    child.once('exit', () => reject(new Error(`the agent ended:\n${text}`)))
  })
  return {
    ...places,
    process: child,
    stop: async (signal) => {
      child.kill(signal)
      await ended
    },
  }
}

/** An agent that answers each question as the test says; none where that gives null. */
export async function startLiar(
  answer: (frame: Frame) => { kind: number; body: Uint8Array } | null,
): Promise<{ address: string; sockets: Socket[] }> {
  const path = join(freshFolder(), 'l.sock')
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    const reader = new FrameReader()
    socket.on('error', () => {})
    socket.on('data', (chunk) =>
      reader.read(chunk, (frame) => {
        const given = answer(frame)
        if (given !== null) socket.write(writeFrame({ id: frame.id, ...given }))
      }),
    )
  }).listen(path)
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { address: `unix:${path}`, sockets }
}

/** A sandbox without rate windows, which ends with the test. */
export async function sandboxOf(): Promise<Sandbox> {
  const sandbox = await createSandbox({ rates: 'off' })
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  return sandbox
}

/** The environment of a sidecar in a folder before a sandbox. */
export const envOf = (sandbox: Sandbox, folder: string, more: Record<string, string> = {}) => ({
  POSTERN_UPSTREAM_URL: sandbox.url,
  POSTERN_BOT_TOKEN: sandbox.token,
  POSTERN_DATA_DIR: join(folder, 'sidecar'),
  POSTERN_KEY_PROTECTION: 'none',
  ...more,
})

/** Starts a sidecar process, after a command on its store where `first` is given. */
export async function startSidecar(
  sandbox: Sandbox,
  more: Record<string, string>,
  folder = freshFolder(),
  first?: string[],
) {
  const env = envOf(sandbox, folder, more)
  const command = (...args: string[]) =>
    postern(args, { cwd: folder, env: { PATH: '/usr/bin:/bin', HOME: folder, ...env } })
  const done = first && (await command(...first))
  const sidecar = await startSidecarProcess({ cwd: folder, env })
  onTestFinished(() => sidecar[Symbol.asyncDispose]())
  await untilReady(sidecar.admin)
  return {
    ...sidecar,
    folder,
    done,
    command,
    call: (method: string, path: string, body?: unknown) =>
      callAt(sidecar.bot, sandbox.token, { method, path, body }),
    readiness: async () => {
      const response = await fetch(`${sidecar.admin}/readyz`)
      const { reasons = [] } = (await response.json()) as { reasons?: { code: string }[] }
      return { status: response.status, reasons: reasons.map(({ code }) => code) }
    },
  }
}

/** Alice of a sandbox writes to the bot and reads what it writes; each message verifies. */
export async function talk(
  sandbox: Sandbox,
  { call }: Pick<Awaited<ReturnType<typeof startSidecar>>, 'call'>,
) {
  const { alice, privateChat: chatId } = sandbox.home
  const phone = await sandbox.phone(alice.id)
  return {
    hear: async (words: string): Promise<void> => {
      await phone.write(chatId, words)
      const polled = await call('GET', '/updates?timeout=5')
      const { updateId, message } = polled.json.result.at(-1)
      expect(message).toMatchObject({ text: words, postern: { verdict: 'verified' } })
      await call('GET', `/updates?timeout=0&offset=${updateId + 1}`)
    },
    say: async (words: string): Promise<void> => {
      const sent = await call('POST', '/messages', { chatId, text: words })
      expect(sent.status).toBe(201)
      const { messages } = await sandbox.control.screen({ userId: alice.id, chatId })
      expect(messages.find(({ text }) => text === words)).toMatchObject({ verdict: 'verified' })
    },
  }
}
