import { execFile } from '../../support/programs.ts'
import { globSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startCollector } from '../../support/collector.ts'

const script = new URL('../../support/traces-loaded.ts', import.meta.url).pathname
const ofTraces = /^observe\/traces\/|^wiring\/reports\/spans\.ts$/

/** Files of `src` that a process has loaded once its sidecar sent and received. */
async function loadedWith(endpoint: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, endpoint])
  return JSON.parse(stdout) as string[]
}

test(
  'a sidecar without a traces endpoint loads no module of traces',
  { timeout: 60_000 },
  async () => {
    const loaded = await loadedWith('')
    expect(loaded).toContain('translate/outgoing.ts')
    expect(loaded.filter((file) => ofTraces.test(file))).toEqual([])
  },
)

test(
  'a sidecar with a traces endpoint loads the modules of traces, and exports spans',
  { timeout: 60_000 },
  async () => {
    const collector = await startCollector()
    const loaded = await loadedWith(collector.url)
    expect(loaded.filter((file) => ofTraces.test(file)).length).toBe(3)
    expect(collector.spans.map(({ name }) => name)).toContain('seal')
  },
)

test('no module but the tracer uses `AsyncLocalStorage`', () => {
  const holding = globSync('src/**/*.ts').filter((file) =>
    /async_hooks|AsyncLocalStorage\(/.test(readFileSync(file, 'utf8')),
  )
  expect(holding).toEqual(['src/observe/traces/tracer.ts'])
})
