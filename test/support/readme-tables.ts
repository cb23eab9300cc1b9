/**
 * The tables of the README, made from the code. `npm run readme` writes them between their
 * `<!-- table NAME -->` and `<!-- end -->` lines; a test says when they are out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { createFullProgram } from '../../src/cli/program.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { REFUSALS } from '../../src/errors.ts'
import { Health, REASONS } from '../../src/observe/health.ts'
import { KeyMetrics } from '../../src/observe/key-metrics.ts'
import { showLoad } from '../../src/observe/load-metrics.ts'
import { MediaMetrics } from '../../src/observe/media-metrics.ts'
import { Metrics } from '../../src/observe/metrics.ts'
import { VERDICTS } from '../../src/translate/verdict.ts'

const README = new URL('../../README.md', import.meta.url)

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
    if (inner.length === 0) return [[`\`postern ${usage(command)}\``, command.description()]]
    return inner.map((one) => [`\`postern ${command.name()} ${usage(one)}\``, one.description()])
  })
}

function usage(command: { name(): string; usage(): string }): string {
  return `${command.name()} ${command.usage()}`.replace('[options]', '').replace(/\s+/g, ' ').trim()
}

/** A registry with every metric that a sidecar has. */
export function everyMetric(): Metrics['registry'] {
  const { registry } = new Metrics(new Health())
  void new KeyMetrics(registry, { keys: () => [], situation: () => null })
  void new MediaMetrics(registry, { openings: () => 0, spoolOctets: () => 0 })
  showLoad(registry, {
    threads: () => ({}),
    connections: () => ({}),
    caches: () => ({}),
  })
  return registry
}

/** Every table by its name, in Markdown. */
export const TABLES: Record<string, () => string> = {
  commands: () => table(['command', 'what it does'], commands()),
  settings: () =>
    table(
      ['setting', 'in the environment', 'default', 'meaning'],
      SETTINGS.map(({ path, env, preset, meaning }) => [
        `\`${path}\``,
        `\`${env}\``,
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
  reasons: () =>
    table(
      ['reason', 'what is the matter', 'what to do'],
      Object.entries(REASONS).map(([code, { what, hint }]) => [`\`${code}\``, what, hint]),
    ),
  metrics: () =>
    table(
      ['metric', 'labels', 'what it counts or shows'],
      everyMetric()
        .getMetricsAsArray()
        .filter(({ name }) => !/^postern_(?:process|nodejs)_/.test(name))
        .map((metric) => metric as typeof metric & { labelNames?: string[] })
        .map(({ name, help, labelNames }) => [
          `\`${name}\``,
          (labelNames ?? []).map((label) => `\`${label}\``).join(', '),
          help,
        ]),
    ),
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
}

/** The README with every table made anew. @throws Error when a table has no place in it */
export function withTables(readme: string): string {
  let text = readme
  for (const [name, make] of Object.entries(TABLES)) {
    const place = new RegExp(`(<!-- table ${name} -->\n)[^]*?(<!-- end -->)`)
    if (!place.test(text)) throw new Error(`the README has no place for the table ${name}`)
    text = text.replace(place, (_all, begin: string, end: string) => `${begin}${make()}\n${end}`)
  }
  return text
}

export const readReadme = (): string => readFileSync(README, 'utf8')

if (argv[2] === '--write') writeFileSync(README, withTables(readReadme()))
