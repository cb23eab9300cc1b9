/** Each script of a folder as a test, with verbs about a service and a sidecar. */
import { globSync, mkdtempSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { basename, join } from 'node:path'
import { generateKey } from 'openpgp'
import { expect, onTestFinished, test, vi } from 'vitest'
import { OperatorError, Refusal } from '../../src/errors.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { operations, serve } from '../operators/support.ts'
import { canaries } from '../support/canaries.ts'
import { runScript, sentenceOf, type Script, type Verb } from '../support/script.ts'
import { silentService, start, TOKENS } from './support.ts'

const services = new WeakMap<Script, Sandbox>()

function serviceOf(script: Script): Sandbox {
  const sandbox = services.get(script)
  if (!sandbox) throw new Error('there is no service')
  return sandbox
}

const ports = new WeakMap<Script, Server>()

/** Takes a port that no program gets which asks for any: it stays free when it is free again. */
async function takePort(port = 21_000 + (process.pid % 10_000)): Promise<[number, Server]> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return [port, server]
  } catch {
    return await takePort(port + 1)
  }
}

/** What a stub of a sidecar gives in place of its fixed answers, in turn; the last one stands. */
interface Stub {
  answers: Map<string, object[]>
  asked: string[]
}

const stubs = new WeakMap<Script, Stub>()

function stubOf(script: Script): Stub {
  const found = stubs.get(script)
  if (!found) throw new Error('there is no stub')
  return found
}

/** Answers as `operations()` does; an object changes some fields of that, an error is thrown. */
async function stub(script: Script): Promise<void> {
  const given: Stub = { answers: new Map(), asked: [] }
  const stubbed = Object.entries(operations()).map(([name, fixed]) => [
    name,
    async (input: never) => {
      given.asked.push(name)
      const left = given.answers.get(name) ?? []
      const answer = left.length > 1 ? left.shift() : left[0]
      if (answer instanceof Error) throw answer
      const usual = await fixed(input)
      return Array.isArray(answer) ? answer : answer ? { ...usual, ...answer } : usual
    },
  ])
  const dataDir = mkdtempSync(join(script.work, 'stub-'))
  await serve(dataDir, Object.fromEntries(stubbed))
  stubs.set(script, given)
  script.env['POSTERN_DATA_DIR'] = dataDir
}

/** Asks for an address; the status is how the script's last command ended. */
async function ask(script: Script, url: string, init: RequestInit): Promise<boolean> {
  const answer = await fetch(url, { redirect: 'manual', ...init })
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}\n`).join('')
  script.last = { code: answer.status, stdout: await answer.text(), stderr: headers }
  return answer.ok
}

/** A call of the bot whose token is `$TOKEN`, at `$URL`. */
function call(script: Script, method: string, path: string, body = ''): Promise<boolean> {
  const authorization = `Bearer ${script.expand('$TOKEN')}`
  const headers = { authorization, 'content-type': 'application/json' }
  const init = { method, headers, ...(body !== '' && { body: script.expand(body) }) }
  return ask(script, script.expand(`$URL/bot/v1${path}`), init)
}

const VERBS: Record<string, Verb> = {
  taken: async (s) => {
    const [port, server] = await takePort()
    onTestFinished(() => void server.close())
    ports.set(s, server)
    s.env['TAKEN'] = String(port)
  },
  free: async (s) => {
    const server = ports.get(s)!.close()
    await once(server, 'close')
  },
  get: (s, [url, header]) => {
    const [name = 'accept', value = '*/*'] = header ? s.expand(header.raw).split(': ') : []
    return ask(s, s.text(url!), { headers: { [name]: value } })
  },
  call: (s, _words, rest) => {
    const [, method = '', path = '', body] = /^(\w+) (\S+) ?(.*)$/.exec(rest) ?? []
    return call(s, method, path, body)
  },
  stub,
  answers: (s, [name], rest) => {
    stubOf(s).answers.set(name!.raw, JSON.parse(rest.slice(name!.raw.length)) as object[])
  },
  refuses: (s, [name], rest) => {
    const { code, message, hint } = JSON.parse(rest.slice(name!.raw.length)) as Refusal
    const error = code.startsWith('postern_')
      ? new Refusal(code, message)
      : new OperatorError(code as OperatorError['code'], message, hint)
    stubOf(s).answers.set(name!.raw, [error])
  },
  asked: (s, [name]) => stubOf(s).asked.includes(name!.raw),
  settings: (s) => void Object.assign(s.env, TOKENS),
  silent: async (s) => void Object.assign(s.env, await silentService()),
  service: async (s) => {
    const sandbox = await createSandbox({ rates: 'off' })
    onTestFinished(() => sandbox[Symbol.asyncDispose]())
    services.set(s, sandbox)
    const { url, token } = sandbox
    Object.assign(s.env, TOKENS, { POSTERN_UPSTREAM_URL: url, POSTERN_BOT_TOKEN: token })
    Object.assign(s.env, { URL: url, TOKEN: token, CONTROL: sandbox.controlUrl })
  },
  up: async (s, words) => {
    const more = Object.fromEntries(words.map((word) => s.text(word).split('=', 2)))
    const env = { ...s.env, POSTERN_LOG_LEVEL: 'info', ...more }
    const sidecar = start(['run'], { cwd: s.work, env })
    s.background.set('sidecar', sidecar)
    const [, admin = ''] = await sidecar.waitForStderr(/"admin":"([^"]+)"/)
    await vi.waitUntil(async () => (await fetch(`${admin}/readyz`)).ok, { timeout: 25_000 })
  },
  down: async (s) => {
    const sidecar = s.background.get('sidecar')
    sidecar?.process.kill('SIGTERM')
    expect(await sidecar?.ended).toMatchObject({ code: 0 })
  },
  shows: async (s, [key]) => {
    const shown = async (): Promise<string> => {
      await call(s, 'GET', '/me')
      const { result } = JSON.parse(s.last.stdout) as { result: { fingerprint: string | null } }
      return result.fingerprint?.toLowerCase() ?? 'nothing'
    }
    await expect.poll(shown).toBe(s.text(key!))
  },
  token: async (s, [name]) => {
    const { token } = await serviceOf(s).control.addBot({ username: `${name?.raw}_bot` })
    canaries()?.secret(token)
    writeFileSync(s.path(name!), token, { mode: 0o600 })
  },
  serves: async (s, [name, status]) => {
    Object.assign(s.env, { URL: s.env['SIDECAR'], TOKEN: s.read(name!) })
    const code = () => call(s, 'GET', '/me').then(() => s.last.code)
    await expect.poll(code).toBe(Number(status?.raw))
  },
  foreign: async (s, [file, life, age]) => {
    const date = new Date(Date.now() - Number(age?.raw ?? 0) * 1000)
    const { privateKey } = await generateKey({
      type: 'ecc',
      curve: 'curve25519Legacy',
      userIDs: [{ name: 'bot' }],
      passphrase: s.expand('$POSTERN_EXPORT_PASSPHRASE'),
      keyExpirationTime: Number(life?.raw ?? 0),
      date,
      format: 'object',
    })
    writeFileSync(s.path(file!), privateKey.armor())
    s.env['FOREIGN'] = privateKey.getFingerprint()
  },
}

/** Makes a test of each script that is called so. */
export function testScripts(pattern: string): void {
  for (const file of globSync(join(import.meta.dirname, 'scripts', pattern)).toSorted()) {
    test(
      `${basename(file, '.txt')}: ${sentenceOf(file)}`,
      { timeout: 120_000 },
      async (context) => {
        const missing = await runScript(file, VERBS)
        context.skip(missing !== null, `needs ${missing}`)
      },
    )
  }
}
