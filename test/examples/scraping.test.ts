/** Whether the examples' scrapers and probes get an answer from the examples' sidecars. */
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts'
import { startSidecar, type TestSettings, type TestSidecar } from '../../src/testing/index.ts'

const EXAMPLES = 'config/examples'
const read = (name: string): string => readFileSync(join(EXAMPLES, name), 'utf8')

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await createSandbox()))
afterAll(() => sandbox[Symbol.asyncDispose]())

/** Starts a sidecar that makes no key, and ends with the test. */
async function start(settings: TestSettings): Promise<TestSidecar> {
  const sidecar = await startSidecar({
    upstream: sandbox.url,
    token: sandbox.token,
    settings: { ...settings, key: { publish: false } },
  })
  onTestFinished(() => sidecar.stop())
  return sidecar
}

/** @returns the status with which a listener answers under a Host */
function statusOf(url: string, path: string, host: string): Promise<number | undefined> {
  const headers = { host, authorization: `Bearer ${sandbox.token}` }
  return new Promise((resolve, reject) => {
    get(url + path, { headers }, (response) => resolve(response.resume().statusCode)).on(
      'error',
      reject,
    )
  })
}

/** Starts one. @returns how its operator's listener answers, at an address */
async function sidecarWith(settings: TestSettings) {
  const { adminUrl } = await start(settings)
  return (path: string, host: string, address = '127.0.0.1') =>
    statusOf(`http://${address}:${new URL(adminUrl).port}`, path, host)
}

interface Prometheus {
  rule_files: string[]
  scrape_configs: { static_configs?: { targets: string[] }[]; kubernetes_sd_configs?: object[] }[]
}

test('Prometheus of compose.yaml reaches the sidecar by the name of its service', async () => {
  const { services } = parse(read('compose.yaml')) as {
    services: Record<string, { environment: Record<string, string> }>
  }
  const { POSTERN_ADMIN_HOST: host = '', POSTERN_ADMIN_ALLOWED_HOSTS: names = '' } =
    services['postern']?.environment ?? {}
  const { scrape_configs: jobs } = parse(read('prometheus.yaml')) as Prometheus
  const targets = jobs.flatMap((job) => job.static_configs?.flatMap((one) => one.targets) ?? [])
  expect(targets).toEqual(['postern:8701'])
  const ask = await sidecarWith({ admin: { host, allowedHosts: names.split(',') } })
  for (const target of targets) {
    expect(Object.keys(services)).toContain(target.split(':')[0])
    expect(await ask('/metrics', target)).toBe(200)
  }
  expect(await ask('/metrics', 'elsewhere:8701')).toBe(421)
})

test('the sidecar of kubernetes.yaml is reached by the address of its pod and the name of its Service', async () => {
  const [service, set] = parseAllDocuments(read('kubernetes.yaml')).map(
    (document) => document.toJS() as KubernetesObject,
  )
  const [container] = set?.spec.template?.spec.initContainers ?? []
  const valueOf = (name: string) => container?.env.find((one) => one.name === name)
  const names = String(valueOf('POSTERN_ADMIN_ALLOWED_HOSTS')?.value).split(',')
  const port = service?.spec.ports?.[0]
  expect([service?.kind, service?.metadata.name]).toEqual(['Service', set?.spec.serviceName])
  expect(container?.ports).toContainEqual({ name: port?.targetPort, containerPort: 8701 })
  expect(names).toContain(service?.metadata.name)

  const podAddress = '127.0.0.2'
  const ask = await sidecarWith({ admin: { host: podAddress, allowedHosts: names } })
  for (const name of [...names, podAddress]) {
    expect(await ask('/metrics', `${name}:8701`, podAddress)).toBe(200)
  }
  expect(await ask('/status', 'elsewhere', podAddress)).toBe(421)
  expect(await ask('/readyz', 'elsewhere', podAddress)).toBe(200)
})

interface KubernetesObject {
  kind: string
  metadata: { name: string }
  spec: {
    serviceName?: string
    ports?: { targetPort: string }[]
    template?: {
      spec: { initContainers: { env: { name: string; value?: string }[]; ports: object[] }[] }
    }
  }
}
