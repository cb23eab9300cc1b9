/** Each script of a folder as a test, with verbs about a service and a sidecar. */
import { globSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { generateKey } from 'openpgp'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { canaries } from '../support/canaries.ts'
import { runScript, sentenceOf, type Script, type Verb } from '../support/script.ts'
import { silentService, start, TOKENS } from './support.ts'

const services = new WeakMap<Script, Sandbox>()

function serviceOf(script: Script): Sandbox {
  const sandbox = services.get(script)
  if (!sandbox) throw new Error('there is no service')
  return sandbox
}

/** A call of the bot's, at the service or at a sidecar. */
async function call(url: string, token: string, route: string, body = ''): Promise<Response> {
  const [method = '', path = ''] = route.split(' ')
  return await fetch(`${url}/bot/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== '' && { body }),
  })
}

const VERBS: Record<string, Verb> = {
  settings: (s) => void Object.assign(s.env, TOKENS),
  silent: async (s) => void Object.assign(s.env, await silentService()),
  service: async (s) => {
    const sandbox = await createSandbox({ rates: 'off' })
    onTestFinished(() => sandbox[Symbol.asyncDispose]())
    services.set(s, sandbox)
    const { url, token } = sandbox
    Object.assign(s.env, TOKENS, { POSTERN_UPSTREAM_URL: url, POSTERN_BOT_TOKEN: token })
    s.env['CONTROL'] = sandbox.controlUrl
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
    const { url, token } = serviceOf(s)
    const shown = async (): Promise<string> => {
      const answer = await call(url, token, 'GET /me')
      const { result } = (await answer.json()) as { result: { fingerprint: string | null } }
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
    const token = s.read(name!)
    const ask = async () => (await call(s.expand('$SIDECAR'), token, 'GET /me')).status
    await expect.poll(ask).toBe(Number(status?.raw))
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
