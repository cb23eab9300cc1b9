/** The image: what is in it, and that it runs with as little as it claims to need. */
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  chmodSync,
  lstatSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runEchoBot } from '../../src/cli/echo-bot.ts'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { readStage } from '../support/dockerfile.ts'
import { until } from '../support/sidecar.ts'
import { startContainer, type Container } from './container.ts'
import { whyNot } from './engine.ts'
import { buildImage, type Image } from './image.ts'
import { has } from '../support/lacks.ts'

const WITHIN_MS = 900_000
/** For what is not about secrets: a passphrase takes each process half a second to stretch. */
const PLAIN = { POSTERN_KEY_PROTECTION: 'none' }
const reason = await whyNot()
has(reason === null, `no image is built: ${reason}`)

describe.skipIf(reason !== null)(`the image${reason === null ? '' : `: ${reason}`}`, () => {
  let image: Image
  beforeAll(async () => {
    image = await buildImage()
  }, WITHIN_MS)
  afterAll(() => image[Symbol.asyncDispose](), WITHIN_MS)

  test('the image starts, checks and stops without a shell, as a user other than root', () => {
    const { User, Entrypoint, Cmd, Healthcheck, Volumes, StopSignal } = image.config
    expect(User).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect([Entrypoint[0], Cmd]).toEqual(['node', ['run']])
    expect(Healthcheck.Test).toEqual(['CMD', 'perl', '/app/healthcheck.pl'])
    expect([Object.keys(Volumes), StopSignal]).toEqual([['/var/lib/postern'], 'SIGTERM'])
  })

  test('the image contains the built files, openpgp.js and an SBOM, and nothing else', () => {
    const app = join(image.root, 'app')
    const parts = ['LICENSE', 'dist', 'healthcheck.pl', 'node_modules', 'package.json']
    expect(readdirSync(app).toSorted()).toEqual(parts)
    expect(readdirSync(join(app, 'node_modules'))).toEqual(['openpgp'])
    const sbom = JSON.parse(readFileSync(join(app, 'dist/sbom.cdx.json'), 'utf8')) as {
      bomFormat: string
      components: { name: string; version: string; hashes: object[] }[]
    }
    expect(sbom.bomFormat).toBe('CycloneDX')
    const inside = join(app, 'node_modules/openpgp')
    expect(readdirSync(inside)).not.toContain('node_modules')
    const own = readFileSync(join(inside, 'package.json'), 'utf8')
    const { version } = JSON.parse(own) as { version: string }
    const listed = sbom.components.map((one) => `${one.name}@${one.version}`)
    expect(listed).toContain(`openpgp@${version}`)
    expect(listed.filter((one) => /^(fastify|undici|zod)@/.test(one))).toHaveLength(3)
    expect(sbom.components.filter(({ hashes }) => hashes.length === 0)).toEqual([])
  })

  test('the image adds only Node to its base, without npm', () => {
    const local = join(image.root, 'usr/local')
    const added = readdirSync(local, { recursive: true, withFileTypes: true })
    const files = added.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
    expect(files).toEqual(['node'])
  })

  test('the image contains no file compiled for one architecture', () => {
    const files = readdirSync(join(image.root, 'app'), { recursive: true, withFileTypes: true })
    const compiled = files
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => readFileSync(path).subarray(0, 4).toString('latin1') === '\x7fELF')
    expect(compiled).toEqual([])
    const last = readFileSync('Dockerfile', 'utf8')
      .split(/^FROM /m)
      .at(-1)
    expect(last).not.toMatch(/^\s*RUN/m)
  })

  test('the volume of the image is private to its user, and other files belong to root', () => {
    const volume = lstatSync(join(image.root, 'var/lib/postern'))
    expect([volume.uid, volume.gid, volume.mode & 0o777]).toEqual([1000, 1000, 0o700])
    const loose = readdirSync(join(image.root, 'app'), { recursive: true, encoding: 'utf8' })
      .map((path) => lstatSync(join(image.root, 'app', path)))
      .filter((file) => file.uid !== 0 || (!file.isSymbolicLink() && (file.mode & 0o022) !== 0))
    expect(loose).toEqual([])
  })

  test('a container runs as process 1 on a read-only root without capabilities, and keeps its key', async () => {
    await using scene = await createScene()
    await using first = scene.start()
    const addresses = await first.listening()
    expect([first.fact('NSpid').split(/\s+/).at(-1), first.fact('NoNewPrivs')]).toEqual(['1', '1'])
    expect([first.fact('Uid'), first.fact('CapEff')]).toEqual([
      ['1000', '1000', '1000', '1000'].join('\t'),
      '0000000000000000',
    ])
    for (const path of ['/app/new', '/tmp/new']) {
      const write = `fs.writeFileSync('${path}', '')`
      const tried = await first.exec(['node', '--eval', write], 'root')
      expect([tried.code, tried.stderr]).toEqual([1, expect.stringContaining('EROFS')])
    }
    await ready(addresses.admin)
    await talk(scene.sandbox, addresses.bot)
    const fingerprint = await publishedKey(scene.sandbox)
    expect(await first.end('SIGTERM')).toBe(0)

    await using second = scene.start()
    await ready((await second.listening()).admin)
    expect(await publishedKey(scene.sandbox)).toBe(fingerprint)
    expect(first.logs() + second.logs()).not.toContain(scene.sandbox.token)
    expect(await second.end('SIGINT')).toBe(0)
  }, 180_000)

  test('a container passes its health check, with --ready only once it is ready', async () => {
    await using scene = await createScene()
    const [, ...check] = image.config.Healthcheck.Test
    await using lonely = scene.start({ ...PLAIN, POSTERN_UPSTREAM_URL: 'http://127.0.0.1:1' })
    await lonely.listening()
    expect(await lonely.exec(check)).toMatchObject({ code: 0, stderr: '' })
    expect(await lonely.exec([...check, '--ready'])).toMatchObject({ code: 1 })
    expect(await lonely.end('SIGTERM')).toBe(0)
    await using container = scene.start(PLAIN)
    await ready((await container.listening()).admin)
    expect(await container.exec([...check, '--ready'])).toMatchObject({ code: 0, stderr: '' })
    expect(await container.end('SIGTERM')).toBe(0)
  }, 180_000)

  test('a container accepts a volume of root that its group can write', async () => {
    await using scene = await createScene()
    chownSync(scene.volume, 0, 1000)
    chmodSync(scene.volume, 0o2775)
    await using container = scene.start({ ...PLAIN, POSTERN_DATA_DIR: '/var/lib/postern/data' })
    await ready((await container.listening()).admin)
    expect(lstatSync(join(scene.volume, 'data')).mode & 0o777).toBe(0o700)
    expect(await container.end('SIGTERM')).toBe(0)
  }, 180_000)

  test('a container runs the sandbox without a writable file system', async () => {
    await using scene = await createScene()
    const settings = readStage('sandbox')
    const args = ['--port', '0', '--control-port', '0', '--allowed-host', 'sandbox', '--json']
    const sandboxImage = { ...image, config: { ...image.config, ...settings } }
    await using container = startContainer(sandboxImage, { ...scene, env: {}, args })
    const line = JSON.parse(await container.printed()) as Record<'url' | 'controlUrl', string>
    expect(new URL(line.url).hostname).toBe('sandbox')
    const controlUrl = new URL(line.controlUrl)
    const { port } = controlUrl
    controlUrl.hostname = '127.0.0.1'
    const people = await createControlClient(controlUrl.href.replace(/\/$/, '')).people()
    expect(people).toMatchObject([{ username: 'alice' }, { username: 'bob' }])
    const [, ...check] = settings.Healthcheck.Test
    const healthy = (at: string) => container.exec(check.map((one) => one.replace('8801', at)))
    expect(await healthy(port)).toMatchObject({ code: 0, stderr: '' })
    expect(await healthy('9')).toMatchObject({ code: 1 })
    expect(await container.end('SIGTERM')).toBe(0)
  }, 180_000)

  /** A service with people, and what a container of the sidecar needs. */
  async function createScene() {
    const folder = mkdtempSync(join(tmpdir(), 'postern-container-'))
    const [volume, secrets] = [join(folder, 'volume'), join(folder, 'secrets')]
    mkdirSync(volume, { mode: 0o700 })
    mkdirSync(secrets, { mode: 0o755 })
    chownSync(volume, 1000, 1000)
    const sandbox = await createSandbox()
    writeFileSync(join(secrets, 'bot-token'), `${sandbox.token}\n`, { mode: 0o444 })
    writeFileSync(join(secrets, 'passphrase'), 'a passphrase for tests alone\n', { mode: 0o444 })
    return {
      sandbox,
      volume,
      secrets,
      start: (env: Record<string, string> = {}): Container =>
        startContainer(image, {
          volume,
          secrets,
          env: {
            POSTERN_UPSTREAM_URL: sandbox.url,
            POSTERN_BOT_TOKEN_FILE: '/run/secrets/bot-token',
            POSTERN_KEY_PASSPHRASE_FILE: '/run/secrets/passphrase',
            POSTERN_LISTEN_PORT: '0',
            POSTERN_ADMIN_PORT: '0',
            ...env,
          },
        }),
      [Symbol.asyncDispose]: async () => {
        await sandbox[Symbol.asyncDispose]()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  }
})

const ready = (admin: string): Promise<boolean> =>
  until(async () => (await fetch(`${admin}/readyz`)).status === 200, 'it is ready', 60_000)

/** Lets a bot answer alice through the sidecar. */
async function talk(sandbox: Sandbox, url: string): Promise<void> {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const { token } = sandbox
  void runEchoBot({ url, token, signal: stop.signal, onMessage: () => {} }).catch(() => {})
  const alice = await sandbox.phone(sandbox.home.alice.id)
  await alice.write(sandbox.home.privateChat, 'are you in there?')
  const answer = await alice.seen(({ text }) => text.includes('you said'), 30_000)
  expect(answer).toMatchObject({ text: 'you said: are you in there?', verdict: 'verified' })
  stop.abort()
}

/** The fingerprint that the service shows for the bot. */
async function publishedKey(sandbox: Sandbox): Promise<string> {
  const headers = { authorization: `Bearer ${sandbox.token}` }
  const answer = await fetch(`${sandbox.url}/bot/v1/me`, { headers })
  const { result } = (await answer.json()) as { result: { fingerprint: string } }
  expect(result.fingerprint).toMatch(/^[0-9a-f]{40}$/i)
  return result.fingerprint
}
