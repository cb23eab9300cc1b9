/**
 * The service of a fault run as a process of its own: a sandbox that keeps its world in a file and
 * counts no calls. Takes its options as JSON, prints where it is as one line, and ends when its
 * stdin does.
 */
import { createSandbox, type Home } from '../../src/sandbox/create.ts'

export interface ServiceLine {
  url: string
  controlUrl: string
  home: Home
}

const options = JSON.parse(process.argv[2] ?? '{}') as {
  data: string
  port: number
  controlPort: number
}
const sandbox = await createSandbox({ ...options, rates: 'off', transcriptCalls: 1_000_000 })
process.stdin.once('end', () => process.exit(0)).resume()
const { url, controlUrl, home } = sandbox
process.stdout.write(`${JSON.stringify({ url, controlUrl, home } satisfies ServiceLine)}\n`)
