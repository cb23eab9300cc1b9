/**
 * `npm run faults -- --seed N --runs M`: M runs from seed N on. Prints one line a run and a
 * summary; ends with 1 when a promise was broken, and says the seed that repeats it.
 * `npm run faults -- --replicas 3`: the same with so many sidecars on one PostgreSQL.
 * `npm run faults -- --takeover [--runs N]`: stops the sidecar that delivers, of two on one PostgreSQL,
 * and prints how long it takes until the other one does.
 * `npm run faults -- --patroni`: two sidecars on three nodes under Patroni, behind HAProxy, whose primary
 * is changed, killed and paused, with synchronous standbys and without.
 * `npm run faults -- --kills [--points N]`: every point at which a rotation or a command on secrets
 * can be struck, or N of each.
 * `npm run faults -- --health [--only CODE]… [--hold S] [--times N] [--at-once M]`: each reason for not
 * being ready, N times on an idle sidecar, with the seconds until `/readyz` says so and until it is over.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build, nameBundle } from '../support/build.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
    replicas: { type: 'string', default: '1' },
    takeover: { type: 'boolean', default: false },
    patroni: { type: 'boolean', default: false },
    kills: { type: 'boolean', default: false },
    health: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    hold: { type: 'string', default: '15' },
    times: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '1' },
    points: { type: 'string', default: 'all' },
    help: { type: 'boolean', default: false },
  },
})

/** The first show what broke; the rest stands in the file. */
const MOST_BREACHES = 12

const print = (line: string): void => void process.stdout.write(`${line}\n`)

if (values.help) {
  print(`npm run faults -- [--seed 1] [--runs 5] [--seconds 10] [--replicas 1]
Each run lets things go wrong for so many seconds, then heals and is checked.
With more than one replica, so many sidecars share a PostgreSQL, which must be installed.
npm run faults -- --takeover [--runs 5]
Stops the one of two sidecars that delivers, and prints when the other one does.
npm run faults -- --patroni
Changes, kills and pauses the primary of a cluster under Patroni, behind HAProxy.
npm run faults -- --kills [--points all]
Strikes a rotation and each command on secrets at every system call, or at so many of each.
npm run faults -- --health [--only REASON]... [--hold 15] [--times 1] [--at-once 1]
Provokes each reason of /readyz on an idle sidecar, and prints when it came and went.`)
  process.exit(0)
}

// before what starts sidecars is loaded: all of a run are of the sources as they stand now
nameBundle()
await build()

if (values.takeover) {
  const { measureTakeover } = await import('./takeover.ts')
  await measureTakeover(Number(values.runs), print)
  process.exit(0)
}

if (values.patroni) {
  const { runPatroni } = await import('./patroni.ts')
  process.exit((await runPatroni(print)) ? 0 : 1)
}

if (values.health) {
  const { runHealthFaults } = await import('./health-run.ts')
  const holdMs = Number(values.hold) * 1000
  const [times, atOnce] = [Number(values.times), Number(values['at-once'])]
  process.exit(
    await runHealthFaults({
      holdMs,
      only: values.only,
      times,
      atOnce,
      seed: Number(values.seed),
      print,
    }),
  )
}

if (values.kills) {
  const points = values.points === 'all' ? Infinity : Number(values.points)
  if (points !== Infinity && !(Number.isSafeInteger(points) && points > 0)) {
    process.stderr.write('faults: --points takes a whole number above 0, or all\n')
    process.exit(2)
  }
  // the checks open stores that the bundle wrote
  await import('../support/low-cost.ts')
  const { killEverywhere } = await import('./kill-everywhere.ts')
  process.exit(await killEverywhere({ points, print }))
}

const { seed, runs, seconds, replicas } = values
const numbers = [seed, runs, seconds, replicas].map(Number)
if (!numbers.every((value) => Number.isSafeInteger(value) && value >= 0)) {
  process.stderr.write('faults: --seed, --runs, --seconds and --replicas take whole numbers\n')
  process.exit(2)
}

// a run cleans up after itself, so it is ended rather than left; it is not judged then
let isCut = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isCut = true))

const { runOnce } = await import('./one-run.ts')
const { runOnReplicas } = await import('./replica-run.ts')

const broken: number[] = []
for (let at = Number(seed); at < Number(seed) + Number(runs); at++) {
  const [count, troubleMs] = [Number(replicas), Number(seconds) * 1000]
  const run = count > 1 ? runOnReplicas(at, { count, troubleMs }) : runOnce(at, { troubleMs })
  // the seeds after one whose world did not even come up are run all the same
  const outcome = await run.catch((error: unknown) => ({
    breaches: [String(error)],
    line: 'it could not be run',
    log: '',
  }))
  if (isCut) process.exit(1)
  const kept = outcome.breaches.length === 0
  print(`seed ${at}: ${kept ? 'kept' : 'BROKEN'}; ${outcome.line}`)
  if (kept) continue
  for (const breach of outcome.breaches.slice(0, MOST_BREACHES)) print(`  ${breach}`)
  const more = outcome.breaches.length - MOST_BREACHES
  if (more > 0) print(`  and ${more} more`)
  broken.push(at)
  const file = join(mkdtempSync(join(tmpdir(), 'postern-broken-')), `${at}.log`)
  writeFileSync(file, [...outcome.breaches, outcome.log].join('\n'))
  print(`  troubles and log: ${file}`)
}
print(`${Number(runs) - broken.length} of ${runs} runs kept every promise`)
for (const at of broken)
  print(
    `repeat: npm run faults -- --seed ${at} --runs 1 --seconds ${seconds} --replicas ${replicas}`,
  )
process.exit(broken.length === 0 ? 0 : 1)
