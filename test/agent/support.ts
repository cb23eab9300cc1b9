/** Agents for tests: in this process, as a process of its own, and one that answers as a test says. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { FrameReader, writeFrame, type Frame } from '../../src/agent/frames.ts'
import { JOURNAL } from '../../src/agent/journal.ts'
import { startAgent, type AgentOptions } from '../../src/agent/run.ts'
import { spawnPostern } from '../support/postern-process.ts'
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
