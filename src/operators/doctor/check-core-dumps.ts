/** Checks core dumps: a crash could write the memory, with the keys in it, to disk. */
import { readFileSync } from 'node:fs'
import { resultOr } from '../../errors.ts'
import { pass, warn, type CheckLine } from './check-line.ts'

const HINT =
  'set the limit to 0: LimitCORE=0 in the systemd unit, `ulimit -c 0` in the shell before ' +
  '`postern run`, `--ulimit core=0` with docker run, `ulimits: { core: 0 }` in a compose file'

/**
 * Checks the limit of this process, where the system is Linux.
 * @param proc where /proc is mounted
 * @returns no line where the limit is not known
 */
export function checkCoreDumps(proc = '/proc'): CheckLine[] {
  const limits = read(`${proc}/self/limits`)
  const limit = /^Max core file size +(\S+)/m.exec(limits ?? '')?.[1]
  if (limit === undefined) return []
  // A service that is confined may not see it, and then it may be anything.
  const pattern = read(`${proc}/sys/kernel/core_pattern`)?.trim()
  const takenBy = pattern?.startsWith('|') === true ? pattern.slice(1).split(' ')[0] : undefined
  if (limit === '0') {
    const also = takenBy === undefined ? '' : `, which ${takenBy} also gets`
    return [pass('core dumps', `a crash leaves none: the limit is 0${also}`)]
  }
  if (pattern === '') return [pass('core dumps', 'a crash leaves none: core_pattern is empty')]
  const message = `a crash may write the memory, with the secret keys, to disk (the limit is ${limit})`
  return [warn('core dumps', message, HINT)]
}

const read = (file: string): string | null => resultOr(() => readFileSync(file, 'utf8'), null)
