/** What `npm run peers` prints. */
import { SHAPES } from './all.ts'
import { FIVE, takersOf, type Kept } from './kept.ts'
import { engineOf, resultOf } from './ours.ts'
import { promiseOf, verdictOf, type Compared, type Verdict } from './rule.ts'
import { QUESTIONS, type Group, type Question } from './shape.ts'

/** How programs are marked in a cell. */
const LETTERS: Record<string, string> = {
  gpg: 'g',
  sqop: 's',
  rnp: 'r',
  gosop: 'o',
  'pgpainless-cli': 'p',
  'openpgp.js': 'j',
  pgpy: 'y',
}
const MARKS: Record<Verdict, string> = { agreed: ' ', promised: '~', more: '+', short: '!' }

/** Every answer of ours beside those of the programs, natively. */
export async function compare(kept: Kept): Promise<Compared[]> {
  await using engine = engineOf('native')
  const all: Compared[] = []
  for (const [key, shape] of SHAPES) {
    const { answers } = await resultOf(shape, engine)
    for (const [question, ours] of Object.entries(answers) as [Question, string][]) {
      all.push({ key, question, ours, takers: takersOf(kept, key, question) })
    }
  }
  return all
}

const cellOf = (compared: Compared): string => {
  const { takers, ours } = compared
  const letters = Object.entries(LETTERS).map(([name, one]) => (takers.includes(name) ? one : '.'))
  return `${MARKS[verdictOf(compared)]} ${letters.join('')} ${ours}`
}

/** A line a shape, with a cell for each question; below each group, the promises it falls under. */
function tableOf(group: Group, all: readonly Compared[]): string {
  const asked = QUESTIONS.filter((one) => all.some(({ question }) => question === one))
  const keys = [...new Set(all.map(({ key }) => key))]
  const width = Math.max(...keys.map((key) => key.length - group.length)) + 1
  const lines = keys.map((key) => {
    const cells = asked.map((question) => {
      const found = all.find((one) => one.key === key && one.question === question)
      return (found === undefined ? '' : cellOf(found)).padEnd(40)
    })
    return `${key.slice(group.length + 2).padEnd(width)}${cells.join('')}`.trimEnd()
  })
  const head = `${group.padEnd(width)}${asked.map((one) => `  ${one.padEnd(38)}`).join('')}`
  return [head.trimEnd(), ...lines].join('\n')
}

export function tables(all: readonly Compared[]): string {
  const groups = Map.groupBy(all, ({ key }) => key.slice(0, key.indexOf(':')) as Group)
  return [...groups].map(([group, of]) => tableOf(group, of)).join('\n\n')
}

/** How many answers are as three of the five programs give them, and what becomes of the others. */
export function summary(all: readonly Compared[], { versions }: Kept): string {
  const count = (verdict: Verdict): number => all.filter((one) => verdictOf(one) === verdict).length
  const promised = Map.groupBy(
    all.filter((one) => verdictOf(one) === 'promised'),
    (one) => promiseOf(one)?.promise ?? '',
  )
  const letters = Object.entries(LETTERS).map(([name, one]) => `${one} ${versions[name] ?? name}`)
  return [
    letters.join(', '),
    `${new Set(all.map(({ key }) => key)).size} shapes, ${all.length} answers of ours:`,
    `  ${count('agreed')} as three or more of ${FIVE.join(', ')}`,
    `~ ${count('promised')} refused by a promise:`,
    ...[...promised].map(([promise, of]) => `    ${String(of.length).padStart(3)} ${promise}`),
    `+ ${count('more')} taken, though fewer than three do`,
    `! ${count('short')} refused without a promise, or for another reason than it names`,
  ].join('\n')
}
