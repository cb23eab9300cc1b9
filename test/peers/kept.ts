/** The answers of the programs, as `npm run peers -- --ask` kept them, with their versions. */
import { readFileSync, writeFileSync } from 'node:fs'
import { QUESTIONS, type Question } from './shape.ts'

const FILE = new URL('answers.json', import.meta.url)

/** The programs of the rule: where three of them take a shape, we take it. */
export const FIVE = ['gpg', 'sqop', 'rnp', 'gosop', 'pgpainless-cli']

/** What a program takes of a shape, of what it was asked. */
export type Answers = Partial<Record<Question, boolean>>

export interface Kept {
  versions: Record<string, string>
  /** By shape and program. */
  shapes: Map<string, Map<string, Answers>>
}

/** A line a shape: each question with a sign for each program, in the order of the versions. */
interface Written {
  versions: Record<string, string>
  shapes: Record<string, string>
}

const isQuestion = (word: string): word is Question => QUESTIONS.some((one) => one === word)

export function readKept(): Kept {
  const { versions, shapes } = JSON.parse(readFileSync(FILE, 'utf8')) as Written
  const parsed = Object.entries(shapes).map(([key, line]): [string, Map<string, Answers>] => {
    const asked = line.split(', ').map((part) => part.split(' '))
    const of = Object.keys(versions).map((program, index): [string, Answers] => {
      const signs = asked.map(([question = '', all = '']) => [question, all[index]] as const)
      const answered = signs.filter(([question, sign]) => isQuestion(question) && sign !== '?')
      return [program, Object.fromEntries(answered.map(([one, sign]) => [one, sign === '+']))]
    })
    return [key, new Map(of)]
  })
  return { versions, shapes: new Map(parsed) }
}

const signOf = (answer: boolean | undefined): string =>
  answer === undefined ? '?' : answer ? '+' : '-'

export function writeKept({ versions, shapes }: Kept): void {
  const programs = Object.keys(versions)
  const lines = [...shapes].map(([key, of]) => {
    const asked = QUESTIONS.filter((one) => programs.some((name) => of.get(name)?.[one] != null))
    const parts = asked.map((one) => {
      const signs = programs.map((name) => signOf(of.get(name)?.[one]))
      return `${one} ${signs.join('')}`
    })
    return [key, parts.join(', ')]
  })
  const written: Written = { versions, shapes: Object.fromEntries(lines.toSorted()) }
  writeFileSync(FILE, `${JSON.stringify(written, null, 2)}\n`)
}

/** Which programs take a shape. */
export function takersOf({ versions, shapes }: Kept, key: string, question: Question): string[] {
  const of = shapes.get(key)
  return Object.keys(versions).filter((name) => of?.get(name)?.[question] === true)
}
