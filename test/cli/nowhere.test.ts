/** Secrets as canaries, searched for in everything that leaves a sidecar or lies about. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { generateKey } from 'openpgp'
import { describe, expect, test } from 'vitest'
import { spellings } from '../support/spellings.ts'
import { Stage } from './secrets-stage.ts'
import { start } from './support.ts'

const NEXT = 'canary-of-the-next-passphrase'
const OUT = 'canary-of-the-way-out'
const CLIENT = 'canary-of-the-client-token'

/** Where one of the secrets stands in a text, by the place's name. */
function found(places: Record<string, string>, secrets: readonly string[]): string[] {
  return Object.entries(places).flatMap(([place, text]) => {
    const bytes = Buffer.from(text, 'latin1')
    return secrets
      .filter((secret) => spellings(secret).some((spelling) => bytes.includes(spelling)))
      .map((secret) => `${place} holds ${secret}`)
  })
}

const filesBelow = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
      const path = join(folder, name)
      return statSync(path).isFile() ? [[path, readFileSync(path, 'latin1')]] : []
    }),
  )

/** A sidecar with a script before it, which is signalled to act once the sidecar is ready. */
async function signalled(stage: Stage, script: string, env = stage.env()) {
  const node = ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
  const sidecar = start(['run'], { cwd: stage.cwd, env, node })
  await sidecar.waitForStderr(/"listening"/)
  sidecar.process.kill('SIGUSR2')
  return sidecar
}

describe('secrets', () => {
  test('no secret is in the outputs, files, arguments or child processes of a sidecar', async () => {
    const stage = await Stage.make()
    stage.passphrase = 'canary-of-the-passphrase'
    const more = { POSTERN_BOT_CLIENT_TOKEN: CLIENT }
    const secrets = [stage.passphrase, NEXT, OUT, CLIENT, stage.sandbox.token]
    const sidecar = await stage.up({ ...more, POSTERN_LOG_LEVEL: 'trace' })
    const [, admin = ''] = await sidecar.waitForStderr(/"admin":"([^"]+)"/)
    const outputs: Record<string, string> = {}
    const note = async (line: string, env: Record<string, string> = {}, input?: string) => {
      const { stdout, stderr } = await stage.run(line, { ...more, ...env }, input)
      outputs[`postern ${line}`] = stdout + stderr
    }
    const { privateKey } = await generateKey({
      type: 'ecc',
      curve: 'curve25519Legacy',
      userIDs: [{ name: 'bot' }],
      passphrase: OUT,
      format: 'object',
    })
    const out = { POSTERN_EXPORT_PASSPHRASE: OUT }
    await note('config show')
    await note('check')
    await note('check --json')
    await note('status')
    await note('key export', out)
    await note('key import', { POSTERN_EXPORT_PASSPHRASE: `${OUT}-not` }, privateKey.armor())
    await note('key import', out, privateKey.armor())
    await note('key protect passphrase', { POSTERN_NEW_PASSPHRASE: NEXT })
    await note('key protect passphrase', { POSTERN_NEW_PASSPHRASE: `${NEXT}\n` })
    await note('backup create b')
    await note('backup verify b', { POSTERN_KEY_PASSPHRASE: NEXT })
    await note('backup verify b')
    for (const path of ['status', 'readyz', 'healthz', 'metrics']) {
      const answer = await fetch(`${admin}/${path}`)
      outputs[`/${path}`] = `${JSON.stringify([...answer.headers])}${await answer.text()}`
    }
    const { pid = 0 } = sidecar.process
    outputs['its arguments'] = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
    outputs['what it started'] = readdirSync(`/proc/${pid}/task`)
      .map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1'))
      .join('')
    expect(outputs['what it started']).toBe('')
    Object.assign(outputs, filesBelow(stage.dataDir), {
      b: readFileSync(stage.path('b'), 'latin1'),
    })
    await stage.down(sidecar)
    Object.assign(outputs, filesBelow(stage.dataDir))
    outputs['its log'] = (await sidecar.ended).stderr
    expect(found(outputs, secrets)).toEqual([])
    expect(found({ itself: `x ${OUT} x` }, secrets)).toEqual([`itself holds ${OUT}`])
  }, 240_000)

  test('a crash report contains no secret of the error', async () => {
    const stage = await Stage.make()
    const crash = `const secret = process.env.POSTERN_KEY_PASSPHRASE
      const { inspect } = await import('node:util')
      process.on('SIGUSR2', () => { throw Object.assign(new Error(secret), { secret }) })`
    const { code, stdout, stderr } = await (await signalled(stage, crash)).ended
    expect(code).toBe(1)
    expect(stderr).toContain('internal failure (Error)')
    expect(found({ stdout, stderr }, [stage.passphrase])).toEqual([])
  })

  test('the environment of child processes contains no secret', async () => {
    const stage = await Stage.make()
    const spy = `process.on('SIGUSR2', () => process.stdout.write(JSON.stringify(process.env) + '\\n'))`
    const env = {
      ...stage.env({ POSTERN_BOT_CLIENT_TOKEN: CLIENT }),
      POSTERN_NEW_PASSPHRASE: NEXT,
      POSTERN_EXPORT_PASSPHRASE: OUT,
    }
    const sidecar = await signalled(stage, spy, env)
    const [inherited = ''] = await sidecar.waitForStdout(/\{.*\}\n/)
    expect(inherited).toContain('POSTERN_DATA_DIR')
    expect(
      found({ inherited }, [stage.passphrase, NEXT, OUT, CLIENT, stage.sandbox.token]),
    ).toEqual([])
    sidecar.process.kill('SIGTERM')
    await sidecar.ended
  })
})
