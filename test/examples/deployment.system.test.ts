/** The examples of a deployment, held against the tools that would read them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadAll } from '../../src/config/load.ts'
import { isInstalled, run } from '../support/programs.ts'
import { sourcesOf } from '../support/sources.ts'

const EXAMPLES = 'config/examples'
const TSC = resolve('node_modules/.bin/tsc')

function folderIn(parent: string): string {
  const folder = mkdtempSync(join(parent, 'postern-examples-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const compose = (env: Record<string, string>) =>
  run('docker-compose', ['--file', `${EXAMPLES}/compose.yaml`, 'config'], {
    env: { PATH: process.env['PATH'], ...env },
  })

test('compose.yaml with the URL of the service starts the bot in the network of the ready sidecar', async ({
  skip,
}) => {
  skip(!isInstalled('docker-compose'), 'not installed: docker-compose')
  const refused = await compose({})
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('say where the service is'),
  ])
  const { code, stdout, stderr } = await compose({ UPSTREAM_URL: 'https://chat.example.org' })
  expect([code, stderr]).toEqual([0, ''])
  const { services } = parse(String(stdout)) as { services: Record<string, object> }
  const least = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }
  expect(services['postern']).toMatchObject({
    ...least,
    environment: { POSTERN_UPSTREAM_URL: 'https://chat.example.org' },
    healthcheck: { test: ['CMD', 'perl', '/app/healthcheck.pl', '--ready'] },
  })
  expect(services['postern']).not.toHaveProperty('ports')
  expect(services['bot']).toMatchObject({
    ...least,
    network_mode: 'service:postern',
    depends_on: { postern: { condition: 'service_healthy' } },
    secrets: [{ source: 'bot-token' }],
  })
})

test('compose-several-bots.yaml starts two sidecars with the same bots and separate data folders', async ({
  skip,
}) => {
  skip(!isInstalled('docker-compose'), 'not installed: docker-compose')
  const file = `${EXAMPLES}/compose-several-bots.yaml`
  const { code, stdout, stderr } = await run('docker-compose', ['--file', file, 'config'], {
    env: { PATH: process.env['PATH'], UPSTREAM_URL: 'https://chat.example.org' },
  })
  expect([code, stderr]).toEqual([0, ''])
  const { services } = parse(String(stdout)) as {
    services: Record<string, { environment: object; volumes: unknown[] }>
  }
  const { 'postern-a': one, 'postern-b': other, news } = services
  expect(one?.environment).toEqual(other?.environment)
  expect(one?.environment).toMatchObject({ POSTERN_BOTS: '/run/bots/bots.d' })
  // a string or an object, as the version of Compose has it
  const dataOf = (service: typeof one) => JSON.stringify(service?.volumes.at(-1))
  expect([dataOf(one), dataOf(other)]).toEqual([
    expect.stringContaining('data-a'),
    expect.stringContaining('data-b'),
  ])
  expect(news?.environment).toMatchObject({ BASE_URL: 'http://postern:8700' })
})

test('the settings in compose-several-bots.yaml are accepted by Postern', () => {
  const root = folderIn(tmpdir())
  const text = readFileSync(`${EXAMPLES}/compose-several-bots.yaml`, 'utf8')
  const { 'x-postern': common } = parse(text) as {
    'x-postern': { environment: Record<string, string> }
  }
  const files: Record<string, string> = {
    'news-token': `bot_7.${'t'.repeat(43)}`,
    'news-client-token': 'presented',
    passphrase: 'words',
    'store-url': 'postgres://postern:word@database/postern',
    'database.crt': '-----BEGIN CERTIFICATE-----',
  }
  mkdirSync(join(root, 'bots.d'))
  const bot = /printf '(tokenFile[^']*)'/.exec(text)?.[1]?.replaceAll('\\n', '\n') ?? ''
  files['bots.d/news.yaml'] = bot.replaceAll('/run/bots', root)
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(root, name), content, { mode: 0o600 })
  }
  const env = Object.fromEntries(
    Object.entries(common.environment).map(([name, value]) => [
      name,
      value.startsWith('${') ? 'https://chat.example.org' : value.replace('/run/bots', root),
    ]),
  )
  const loaded = loadAll({ ...sourcesOf(env, root), home: '/nowhere' })
  const bots = 'several' in loaded ? loaded.several.bots : []
  expect(bots.map(({ name, settings }) => [name, settings.store.schema])).toEqual([
    ['news', 'postern_news'],
  ])
})

/** The unit with a program that is surely here, since its absence would be found too. */
function unit(name = 'postern.service'): string {
  const file = join(folderIn(tmpdir()), basename(name))
  const text = readFileSync(`${EXAMPLES}/${name}`, 'utf8')
  writeFileSync(file, text.replace('=/usr/bin/node', `=${process.execPath}`))
  return file
}
const verify = (file: string) => run('systemd-analyze', ['verify', '--man=no', file])
const isHere = () => isInstalled('systemd-analyze')

test.for(['postern.service', 'key-agent/postern-agent.service'])(
  '%s is accepted by systemd',
  async (name, { skip }) => {
    skip(!isHere(), 'not installed: systemd')
    expect(await verify(unit(name))).toMatchObject({ code: 0, stderr: '' })
  },
)

test('postern.service has an exposure level below 2', async ({ skip }) => {
  skip(!isHere(), 'not installed: systemd')
  const security = ['security', '--offline=yes', '--threshold=20']
  const { code, stdout } = await run('systemd-analyze', [...security, unit()])
  expect([code, String(stdout)]).toEqual([0, expect.stringMatching(/exposure level .*: 1\.\d/)])
})

const MANIFESTS = ['kubernetes.yaml', 'kubernetes-replicas.yaml', 'kubernetes-job.yaml'] as const

/** The documents of a manifest. Kubernetes reads YAML 1.1, in which 0440 is octal. */
const documentsOf = (name: string) =>
  parseAllDocuments(readFileSync(`${EXAMPLES}/${name}`, 'utf8'), { version: '1.1' })
const objectsOf = (name: string): KubernetesObject[] =>
  documentsOf(name).map((document) => document.toJS() as KubernetesObject)

describe('manifests for Kubernetes', () => {
  let errors: Record<string, string>
  beforeAll(async () => {
    errors = await typecheck(Object.fromEntries(MANIFESTS.map((name) => [name, objectsOf(name)])))
  })

  describe.each(MANIFESTS)('%s', (name) => {
    const objects = objectsOf(name)

    test('a manifest for Kubernetes contains only known fields', () => {
      const problems = documentsOf(name).flatMap((one) => [...one.errors, ...one.warnings])
      expect(problems).toEqual([])
      expect(errors[name]).toBe('')
    })

    test('a manifest for Kubernetes starts the sidecar before the bot, with a read-only root', () => {
      const pod = objects.at(-1)?.spec.template?.spec
      const [sidecar] = pod?.initContainers ?? []
      expect(sidecar).toMatchObject({ restartPolicy: 'Always', startupProbe: expect.anything() })
      expect(pod?.containers[0]).not.toHaveProperty('ports')
      for (const container of [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]) {
        expect(container).toMatchObject({
          securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        })
      }
    })

    test('a manifest for Kubernetes mounts every declared volume and no other', () => {
      const spec = objects.at(-1)?.spec
      const pod = spec?.template?.spec
      const claims = spec?.volumeClaimTemplates ?? []
      const declared = [...(pod?.volumes ?? []), ...claims.map(({ metadata }) => metadata)]
      const containers = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]
      const mounted = containers.flatMap(({ volumeMounts }) => volumeMounts.map((one) => one.name))
      expect(new Set(mounted)).toEqual(new Set(declared.map((one) => one.name)))
      const secrets = declared.flatMap((one) => ('secret' in one ? [one.secret] : []))
      expect(secrets).toEqual(secrets.map(() => expect.objectContaining({ defaultMode: 0o440 })))
    })
  })
})

interface Container {
  volumeMounts: { name: string }[]
}

interface Volume {
  name: string
  secret?: { defaultMode: number }
}

interface KubernetesObject {
  apiVersion: string
  kind: string
  spec: {
    template?: { spec: { initContainers: Container[]; containers: Container[]; volumes: Volume[] } }
    volumeClaimTemplates?: { metadata: { name: string } }[]
  }
}

/**
 * Holds objects against the types made from Kubernetes' own description of its interface: an
 * unknown field, a missing one or one of the wrong type is an error.
 * @returns the errors of the compiler, by the name of the manifest
 */
async function typecheck(manifests: Record<string, KubernetesObject[]>) {
  const folder = mkdtempSync(join('node_modules', 'postern-examples-'))
  const files = Object.entries(manifests).map(([name, objects]) => {
    const constants = objects.map((object, at) => {
      const module = object.apiVersion === 'v1' ? 'core/v1' : object.apiVersion
      const type = `import('kubernetes-types/${module}').${object.kind}`
      return `export const object${at}: ${type} = ${JSON.stringify(object, null, 1)}`
    })
    const file = join(folder, `${name}.ts`)
    writeFileSync(file, constants.join('\n'))
    return file
  })
  const options = ['--noEmit', '--strict', '--module', 'preserve', '--types', '']
  const { stdout } = await run(process.execPath, [TSC, '--ignoreConfig', ...options, ...files])
  rmSync(folder, { recursive: true, force: true })
  const lines = String(stdout).split('\n')
  const errorsOf = (file: string) => lines.filter((line) => line.startsWith(`${file}(`)).join('\n')
  return Object.fromEntries(
    Object.keys(manifests).map((name, at) => [name, errorsOf(files[at] ?? '')]),
  )
}
