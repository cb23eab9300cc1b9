/**
 * `npm run bench`: what is fast and what is not, side by side in one run.
 * With `--json` one line `{"results": [{"job", "ms", "vs": {PEER: {"ms", "ratio"}}}]}`;
 * `--only seal|open|doors` runs a part.
 */
import { applyProfile } from '../../src/pgp/profile.ts'
import { doorJobs } from './doors.ts'
import type { Result } from './measure.ts'
import { openJobs } from './open.ts'
import { sealJobs } from './seal.ts'

const PARTS: Record<string, () => Promise<Result[]>> = {
  seal: sealJobs,
  open: openJobs,
  doors: doorJobs,
}

const args = process.argv.slice(2)
const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : undefined
if (only !== undefined && !Object.hasOwn(PARTS, only)) {
  process.stderr.write(`bench: no part ${only}; there are ${Object.keys(PARTS).join(', ')}\n`)
  process.exit(2)
}

applyProfile()
const results: Result[] = []
for (const [name, jobs] of Object.entries(PARTS)) {
  if (only === undefined || only === name) results.push(...(await jobs()))
}
if (args.includes('--json')) process.stdout.write(`${JSON.stringify({ results })}\n`)
else for (const line of table(results)) process.stdout.write(`${line}\n`)

function table(rows: Result[]): string[] {
  const cells = rows.flatMap(({ job, ms, vs }) =>
    Object.entries(vs).map(([peer, theirs]) => [
      job,
      `${ms} ms`,
      peer,
      `${theirs.ms} ms`,
      `${theirs.ratio} times`,
    ]),
  )
  const head = ['job', 'ours', 'peer', 'theirs', 'we are faster']
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
