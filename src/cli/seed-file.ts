/** Reads a seed for the sandbox (YAML or JSON), and names file, line and column of each mistake. */
import { isMap, type Document, type Node } from 'yaml'
import { readBounded } from '../config/files.ts'
import { parseYaml } from '../config/parse-yaml.ts'
import { describeProblem, describeRefusal, nearestName } from '../config/problems.ts'
import { OperatorError, resultOr, usageError } from '../errors.ts'
import type { LimitsInput } from '../sandbox/limits.ts'
import { toSeedProblems } from '../sandbox/seed/problem.ts'
import type { SeedError, SeedPath, SeedProblem } from '../sandbox/seed/problem.ts'

const MAX_BYTES = 8 * 1024 * 1024
const MAX_PROBLEMS = 50
const HINT =
  'config/sandbox-seed.schema.json defines a seed file, config/examples/sandbox-seed.yaml is one'

/** A file's content, not yet checked, and how to refuse it. */
export type SeedFile = ReturnType<typeof readSeedFile>

/**
 * @param file relative to the working directory, or absolute; at most 8 MiB
 * @throws OperatorError `settings` when it cannot be read, or is neither YAML nor JSON
 */
export function readSeedFile(file: string) {
  const read = readBounded(file, MAX_BYTES)
  if ('problem' in read) throw refused([`${file}: ${read.problem}`])
  const tooDeep = refused([`${file}: is nested too deep, or holds aliases, which are not taken`])
  const parsed = resultOr(() => parseYaml(read.text), null)
  if (parsed === null) throw tooDeep
  const { document, at } = parsed
  const place = (offset: number): string => `${file}:${at(offset)}`
  const [error] = document.errors
  if (error !== undefined) throw refused([`${place(error.pos[0])}: is not YAML (${error.message})`])
  // Aliases can unfold to gigabytes, and a seed needs none.
  const content: unknown = resultOr(() => document.toJS({ maxAliasCount: 0 }) as unknown, undefined)
  if (content === undefined) throw tooDeep
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw refused([`${place(0)}: expected a seed: people, bots, chats and what happens`])
  }
  return {
    content,
    refusal: ({ problems }: SeedError): OperatorError => {
      const lines = problems
        .slice(0, MAX_PROBLEMS)
        .map((problem) => describeAt(place(offsetOf(document, problem.path)), problem))
      return refused(lines, problems.length)
    },
  }
}

function describeAt(place: string, { path, message, candidates = [] }: SeedProblem): string {
  const nearest = nearestName(String(path.at(-1)), candidates)
  return describeProblem({ place, path: path.join('.'), message, nearest })
}

/** Reads the value of `--limits`. @throws OperatorError `usage` for a name or a value that is none */
export async function readLimits(text: string | undefined): Promise<LimitsInput | undefined> {
  if (text === undefined) return undefined
  const { LimitsInput } = await import('../sandbox/limits.ts')
  const pairs = text.split(',').map((pair) => pair.split('='))
  const given = Object.fromEntries(pairs.map(([name = '', value]) => [name.trim(), Number(value)]))
  const { data, error } = LimitsInput.safeParse(given)
  if (error === undefined) return data
  const problems = toSeedProblems(error, () => Object.keys(LimitsInput.shape))
  const lines = problems.map((problem) => describeAt('--limits', problem))
  throw usageError(lines.join('\n'), 'such as --limits textMax=1000,pollLimitMax=10')
}

/** Where the value at a path begins, or the nearest value around it that exists. */
function offsetOf(document: Document, path: SeedPath): number {
  const above = path.length === 0 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (isMap(above)) {
    const pair = above.items.find(({ key }) => String(key) === String(path.at(-1)))
    const node = (pair?.key ?? above) as Node
    return node.range?.[0] ?? 0
  }
  const node = document.getIn(path, true) as Node | undefined
  if (node?.range != null) return node.range[0]
  return path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1))
}

/** @param shown at most 50 lines @param count of all */
const refused = (shown: string[], count = shown.length): OperatorError =>
  new OperatorError('settings', describeRefusal('the seed is refused', shown, count), HINT)
