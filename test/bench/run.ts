/**
 * `npm run bench`: what is fast and what is not, side by side in one run.
 * With `--json` one line `{"results": [{"job", "ms", "vs": {PEER: {"ms", "ratio"}}}]}`;
 * `--only` with the name of a part or of a job runs that alone, `--beside FOLDER` also the program
 * of another checkout.
 */
import { applyProfile } from '../../src/openpgp/library/profile.ts'
import { agentJobs } from './agent.ts'
import { runBeside } from './beside.ts'
import { botJobs } from './bots.ts'
import { checkJobs } from './check.ts'
import { commandJobs } from './commands.ts'
import { databaseJobs } from './database.ts'
import { footprintJobs } from './footprint.ts'
import type { Result } from './measure.ts'
import { openJobs } from './open.ts'
import { passthroughJobs } from './passthrough.ts'
import { restartJobs } from './restart.ts'
import { sealJobs } from './seal.ts'
import { sidecarJobs } from './sidecars.ts'
import { testingJobs } from './testing.ts'
import { streamingJobs } from './streaming.ts'
import { wholePathJobs } from './whole-path.ts'

/** A part leaves out what is not wanted where that saves much. */
type Part = (wanted: (job: string) => boolean) => Promise<Result[]>

const PARTS: Record<string, Part> = {
  seal: sealJobs,
  open: openJobs,
  agent: agentJobs,
  check: checkJobs,
  passthrough: passthroughJobs,
  'whole-path': wholePathJobs,
  footprint: footprintJobs,
  commands: commandJobs,
  restart: restartJobs,
  testing: testingJobs,
  streaming: streamingJobs,
  bots: botJobs,
  sidecars: sidecarJobs,
  database: databaseJobs,
}

const args = process.argv.slice(2)
const valueOf = (flag: string): string | undefined =>
  args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined
const [only, folder] = [valueOf('--only'), valueOf('--beside')]
const names = Object.keys(PARTS)
const part = names.find((name) => only === name || only?.startsWith(`${name}-`))
if (only !== undefined && part === undefined) {
  process.stderr.write(`bench: no part ${only}; there are ${names.join(', ')}\n`)
  process.exit(2)
}
const wanted = (job: string): boolean => only === undefined || only === part || only === job

applyProfile()
const results: Result[] = []
for (const [name, jobs] of Object.entries(PARTS)) {
  if (only !== undefined && name !== part) continue
  const measured = folder ? await runBeside(name, only ?? name, folder) : await jobs(wanted)
  results.push(...measured.filter(({ job }) => wanted(job)))
}
const lines = args.includes('--json') ? [JSON.stringify({ results })] : table(results)
for (const line of lines) process.stdout.write(`${line}\n`)

function stallLines({ stallMs, idleStallMs }: Partial<Result>): string[] {
  return stallMs === undefined ? [] : [`longest stall ${stallMs} ms (idle ${idleStallMs} ms)`]
}

function slowestLines(slowest: Result['slowest'] = {}): string[] {
  const all = Object.entries(slowest).map(([name, ms]) => `${name} ${ms} ms`)
  return all.length === 0 ? [] : [`one in a hundred exceeds: ${all.join(', ')}`]
}

function table(rows: Result[]): string[] {
  if (rows.length === 0) return []
  const cells = rows.flatMap(({ job, ms, vs, memory, slowest, notes = [], ...stalls }) => {
    const ours = [job, `${ms} ms`]
    const against = Object.entries(vs).map(([peer, theirs]) => [
      ...ours,
      peer,
      `${theirs.ms} ms`,
      `${theirs.ratio} times`,
      memory?.[peer] === undefined ? '' : `${memory['ours']} against ${memory[peer]} MiB`,
    ])
    return [
      ...against,
      ...[...stallLines(stalls), ...slowestLines(slowest), ...notes].map((line) => [...ours, line]),
    ]
  })
  const head = ['job', 'ours', 'peer', 'theirs', 'we are faster', 'memory']
  const widths = head.map((_, column) =>
    Math.max(...[head, ...cells].map((row) => row[column]?.length ?? 0)),
  )
  return [head, ...cells].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
