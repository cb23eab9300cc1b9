/**
 * The pages of the documentation (every README.md of the repository) and their tables, which are
 * made from the code. `npm run readme` writes the tables between their `<!-- table NAME -->` and
 * `<!-- end -->` lines; a test fails when one is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { format } from 'prettier'
import { readPages as allPages, ROOT, type Page } from '../../config/site/pages.ts'
import { ENDPOINTS } from '../../src/api/endpoints.ts'
import { createFullProgram } from '../../src/cli/program.ts'
import { RIGHTS } from '../../src/config/client-entry.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { OPERATOR_REFUSALS } from '../../src/operator-refusals.ts'
import { REFUSALS } from '../../src/refusals.ts'
import { FAULT_NAMES, FAULTS } from '../../src/sandbox/faults/table.ts'
import { REASONS } from '../../src/observe/health.ts'
import { TRUST_ALARMS } from '../../src/observe/trust-alarms.ts'
import { METRICS } from '../../src/observe/metric-catalogue.ts'
import { WARNINGS } from '../../src/observe/warnings.ts'
import {
  REASON_DESCRIPTIONS,
  SKIP_REASONS,
} from '../../src/translate/reasons/reason-descriptions.ts'
import { VERDICT_DESCRIPTIONS } from '../../src/translate/verdict-descriptions.ts'
import { NEEDS } from '../../src/clients/may-client.ts'
import callers from '../callers/results.json' with { type: 'json' }
import { PROMISES } from '../peers/promises.ts'
import { VERDICTS, type Verdict } from '../../src/kernel/opening/verdict.ts'

export type { Page }

/** Every README.md, the first page first. */
export const readPages = (): Page[] => allPages().filter(({ path }) => path.endsWith('README.md'))

const row = (cells: string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

function table(head: string[], rows: string[][]): string {
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')
}

const program = await createFullProgram()

const yes = (delivered: boolean): string => (delivered ? 'yes' : 'no')

function commands(): string[][] {
  return program.commands.flatMap((command) => {
    const inner = command.commands.filter((one) => one.name() !== 'help')
    const own = [`\`postern ${usage(command)}\``, command.description()]
    // What only groups others has no options.
    const isCommand = inner.length === 0 || command.options.length > 0
    return [
      ...(isCommand ? [own] : []),
      ...inner.map((one) => [`\`postern ${command.name()} ${usage(one)}\``, one.description()]),
    ]
  })
}

function usage(command: { name(): string; usage(): string }): string {
  return `${command.name()} ${command.usage()}`
    .replace(/\[options\]|\|.*/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Each verdict, and below it the reasons that can stand beside it. */
function verdictReasons(): string[][] {
  return (Object.keys(VERDICTS) as Verdict[]).flatMap((verdict) => {
    const { what, hint } = VERDICT_DESCRIPTIONS[verdict]
    const beside = Object.entries(REASON_DESCRIPTIONS).filter(([, reason]) =>
      reason.with.some((one) => one === verdict),
    )
    return [
      [`\`${verdict}\``, '', what, hint],
      ...beside.map(([code, reason]) => ['', `\`${code}\``, reason.what, reason.hint]),
    ]
  })
}

const WHERE = {
  path: 'in its chats',
  body: 'in its chats',
  press: 'in its chats',
  file: 'of its chats',
  every: 'with `all` chats',
  none: 'the bot',
  each: 'of its chats',
}

/** The calls that a right allows, those of one place in a row; null: those that no right allows. */
function rowsOfRight(right: string | null): string[][] {
  const calls = new Map<string, string[]>()
  for (const [call, need] of Object.entries(NEEDS)) {
    if (need === 'anybody' || (need?.right ?? null) !== right) continue
    const where = need === null ? 'the bot’s own token alone' : WHERE[need.chats]
    calls.set(where, [...(calls.get(where) ?? []), pathOf(call)])
  }
  return [...calls].map(([where, paths]) => [
    right === null ? '' : `\`${right}\``,
    paths.join(', '),
    where,
  ])
}

function pathOf(call: string): string {
  const found = ENDPOINTS.find(({ name }) => name === call)
  const text = found === undefined ? 'GET /media/{id}' : `${found.method} ${found.path}`
  return `\`${text.replace(/:(\w+)/g, '{$1}')}\``
}

/** Every table by its name, in Markdown. */
export const TABLES: Record<string, () => string> = {
  commands: () => table(['command', 'what it does'], commands()),
  settings: () =>
    table(
      ['setting', 'in the environment', 'default', 'meaning'],
      SETTINGS.map(({ path, env, preset, meaning, kind }) => [
        `\`${path}\``,
        kind === 'entries' ? '' : `\`${env}\``,
        preset === undefined ? '' : `\`${JSON.stringify(preset)}\``,
        meaning,
      ]),
    ),
  verdicts: () =>
    table(
      ['verdict', 'text under `flag`', 'under `require`', 'under `off`'],
      Object.entries(VERDICTS).map(([verdict, { flag, require, off }]) => [
        `\`${verdict}\``,
        yes(flag),
        yes(require),
        yes(off),
      ]),
    ),
  'verdict-reasons': () =>
    table(['verdict', 'reason', 'what it means', 'what to do'], verdictReasons()),
  'skip-reasons': () =>
    table(
      ['reason', 'what is the matter', 'what to do'],
      Object.entries(SKIP_REASONS).map(([code, { what, hint }]) => [`\`${code}\``, what, hint]),
    ),
  reasons: () =>
    table(
      ['reason', 'what is the matter', 'what to do'],
      Object.entries(REASONS).map(([code, { what, hint }]) => [`\`${code}\``, what, hint]),
    ),
  warnings: () =>
    table(
      ['warning', 'what it is', 'what to do'],
      Object.entries(WARNINGS).map(([code, { what, hint }]) => [`\`${code}\``, what, hint]),
    ),
  'trust-alarms': () =>
    table(
      ['alert', 'what happened', 'what to do'],
      Object.entries(TRUST_ALARMS).map(([code, { what, hint }]) => [`\`${code}\``, what, hint]),
    ),
  metrics: () =>
    table(
      ['metric', 'labels', 'what it counts or shows'],
      Object.entries(METRICS).map(([name, { labels, help }]) => [
        `\`${name}\``,
        Object.keys(labels)
          .map((label) => `\`${label}\``)
          .join(', '),
        help,
      ]),
    ),
  'client-rights': () => table(['right', 'calls', 'where'], [...RIGHTS, null].flatMap(rowsOfRight)),
  codes: () =>
    table(
      ['code', 'status', 'what happened', 'what to do'],
      Object.entries(REFUSALS).map(([code, { status, what, hint }]) => [
        `\`${code}\``,
        String(status),
        what,
        hint,
      ]),
    ),
  'operator-codes': () =>
    table(
      ['code', 'exit code', 'what happened', 'what to do'],
      Object.entries(OPERATOR_REFUSALS).map(([code, { exitCode, what, hint }]) => [
        `\`${code}\``,
        String(exitCode),
        what,
        hint,
      ]),
    ),
  faults: () =>
    table(
      ['fault', 'kind', 'what it does', 'options of its own'],
      FAULT_NAMES.map((name) => [
        `\`${name}\``,
        FAULTS[name].phase,
        FAULTS[name].does,
        FAULTS[name].options.map((option) => `\`${option}\``).join(', '),
      ]),
    ),
  callers: () =>
    table(
      ['client', 'version', 'same', 'promised', 'headers of an empty POST'],
      Object.entries(callers).map(([name, { version, same, promised, emptyPost }]) => [
        name,
        version,
        String(same),
        String(promised),
        `\`${emptyPost}\``,
      ]),
    ),
  promises: () =>
    table(
      ['promise', 'shapes', 'reason'],
      PROMISES.map(({ promise, shapes, reasons }) => [
        promise,
        `\`${shapes.source.replaceAll('(?:', '(')}\``,
        Object.entries(reasons)
          .map(([question, reason]) => `${question}: \`${reason}\``)
          .join(', '),
      ]),
    ),
}

const PLACE = /(<!-- table (\S+) -->\n)[^]*?(<!-- end -->)/g

/** Names of the tables that a text has a place for. */
export const tablesIn = (text: string): string[] =>
  [...text.matchAll(PLACE)].map(([, , name]) => String(name))

/** A page's text with every table made anew. @throws Error when there is no table of a name */
export async function withTables(text: string): Promise<string> {
  const config = JSON.parse(readFileSync(join(ROOT, 'config/prettier.json'), 'utf8')) as object
  const made = new Map<string, string>()
  for (const name of tablesIn(text)) {
    const make = TABLES[name]
    if (make === undefined) throw new Error(`there is no table ${name}`)
    const options = { ...config, parser: 'markdown', proseWrap: 'never' } as const
    made.set(name, `\n${await format(make(), options)}\n`)
  }
  return text.replace(
    PLACE,
    (_all, begin: string, name: string, end: string) => `${begin}${made.get(name)}${end}`,
  )
}

if (argv[2] === '--write') {
  for (const { path, text } of readPages()) writeFileSync(join(ROOT, path), await withTables(text))
}
