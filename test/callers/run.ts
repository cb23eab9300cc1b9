/**
 * `npm run callers`: plays every call with every client that is installed, keeps the results in
 * `results.json`, from which `npm run readme` writes the table, and ends with 1 where an answer differs
 * without a promise.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLIENTS, compareCaller, installCallers, type CallerResult } from './clients.ts'

await using folder = await installCallers()
const results: Record<string, CallerResult> = {}
for (const name of Object.keys(CLIENTS)) {
  try {
    results[name] = await compareCaller(name, folder.path)
  } catch (error) {
    process.stderr.write(`${name}: ${String(error)}\n`)
    continue
  }
  const { version, same, promised, differing } = results[name]
  const line = `${name} ${version}: ${same} same, ${promised} by a promise, ${differing.length} other`
  process.stdout.write(`${[line, ...differing].join('\n  ')}\n`)
  if (differing.length > 0) process.exitCode = 1
}
writeFileSync(join(import.meta.dirname, 'results.json'), `${JSON.stringify(results, null, 2)}\n`)
