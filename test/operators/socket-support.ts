/** Sockets and folders that are somebody else's. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { VERSION } from '../../src/config/version.ts'
import { has } from '../support/lacks.ts'

/** A user who is not this one. */
export const NOBODY = 65_534
export const isRoot = has(process.getuid?.() === 0, 'these tests do not run as root')

const ANSWER = '{"result":{"protection":"passphrase","message":"moved"}}'

/** Somebody who listens and keeps what is sent. Answers as a sidecar would. */
export async function listener(path: string, mode = 0o600): Promise<{ heard: () => string }> {
  let heard = ''
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      heard += bytes.toString()
      socket.write(
        `HTTP/1.1 200 OK\r\npostern-version: ${VERSION}\r\ncontent-length: ${ANSWER.length}\r\n\r\n${ANSWER}`,
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  chmodSync(path, mode)
  onTestFinished(() => void server.close())
  return { heard: () => heard }
}

/** A folder as a sidecar makes one for its socket, gone after the test. */
export function socketFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-control-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes the pointer of a data directory. */
export const point = (dataDir: string, path: string): void =>
  writeFileSync(join(dataDir, 'control.path'), `${path}\n`, { mode: 0o600 })
