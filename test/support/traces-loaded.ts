/**
 * Starts a sidecar before a sandbox, which sends and receives a message; its argument is an endpoint for
 * traces. Prints a JSON list of all source files that the process has loaded.
 */
import { Session } from 'node:inspector'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandbox } from '../../src/sandbox/create.ts'
import { callAt } from './bot-call.ts'
import { startSidecarInside } from './sidecar-inside.ts'
import { untilReady } from './sidecar-process.ts'

const loaded = new Set<string>()
const session = new Session()
session.connect()
session.on('Debugger.scriptParsed', ({ params: { url } }) => {
  if (url.includes('/src/')) loaded.add(url.replace(/^.*\/src\//, ''))
})
session.post('Debugger.enable')

const dataDir = mkdtempSync(join(tmpdir(), 'postern-loaded-'))
const sandbox = await createSandbox({ rates: 'off' })
const sidecar = await startSidecarInside({
  POSTERN_UPSTREAM_URL: sandbox.url,
  POSTERN_BOT_TOKEN: sandbox.token,
  POSTERN_KEY_PROTECTION: 'none',
  POSTERN_LISTEN_PORT: '0',
  POSTERN_ADMIN_PORT: '0',
  POSTERN_DATA_DIR: dataDir,
  OTEL_EXPORTER_OTLP_ENDPOINT: process.argv[2] ?? '',
})
await untilReady(sidecar.admin)
const { alice, privateChat: chatId } = sandbox.home
const phone = await sandbox.phone(alice.id)
await phone.write(chatId, 'good day')
const body = { chatId, text: 'hello' }
const sent = await callAt(sidecar.bot, sandbox.token, { method: 'POST', path: '/messages', body })
if (sent.status !== 201) throw new Error(`sent with ${sent.status}`)
await callAt(sidecar.bot, sandbox.token, { method: 'GET', path: '/updates?timeout=5' })
await sidecar.stop('SIGTERM')
await sandbox[Symbol.asyncDispose]()
rmSync(dataDir, { recursive: true, force: true })
process.stdout.write(JSON.stringify([...loaded]))
