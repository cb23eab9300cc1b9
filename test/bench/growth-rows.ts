/** How costs grow with a size: ratios, marks, and the table. */
import { round } from './measure.ts'

/** One cost at several sizes of one thing. */
export interface GrowthRow {
  against: string
  cost: string
  sizes: readonly number[]
  costs: readonly number[]
  /** The largest growth of the cost from one size to the next, by the growth of the size. */
  ratio: number
  /** `FASTER` than linearly, or `GROWS` where it must not. */
  mark: '' | 'FASTER' | 'GROWS'
  /** The cost by the last slope at a size that was not measured; null where no growth is clear. */
  extrapolated?: { size: number; cost: number | null }
}

/** A ratio above it is more than caches and noise do; steps are mostly of ten times, and their square 10. */
const MOST_RATIO = 2
/** The share that does not grow counts as base until a cost is so many times the first. */
const ABOVE_BASE = 2
/** What must not grow may differ so much from the first. */
const SAME = 1.3
/** A difference of so many ms or MiB shows nothing. */
const NOISE = 5
/** What has grown so much between the last two sizes is extrapolated. */
const CLEAR = 2

/** What is known of a cost beside its numbers. */
export interface GrowthRules {
  /** Costs that must not grow, by how their name begins. */
  constant?: readonly string[]
  /** Extrapolate to this size. */
  to?: number
}

/**
 * Compares costs. Linear growth is a ratio of at most 1. Once a cost has left its base, which the first
 * size shows, the base is subtracted: it would hide growth.
 */
export function rowOf(
  against: string,
  cost: string,
  { sizes, costs, constant = [], to }: GrowthRules & Pick<GrowthRow, 'sizes' | 'costs'>,
): GrowthRow {
  const ratios = sizes.slice(1).map((size, index) => {
    const [base = 0, before = 0, now = 0] = [costs[0], costs[index], costs[index + 1]]
    const grown = size / (sizes[index] ?? 1)
    const whole = before > 0 ? now / before : 0
    const aboveBase = before >= ABOVE_BASE * base ? (now - base) / (before - base) : 0
    return Math.max(whole, aboveBase) / grown
  })
  const ratio = round(Math.max(...ratios))
  const isConstant = constant.some((name) => cost.startsWith(name))
  const [first = 0, last = 0] = [costs[0], costs.at(-1)]
  const hasGrown = last > SAME * first && last - first > NOISE
  const mark = ratio > MOST_RATIO ? 'FASTER' : isConstant && hasGrown ? 'GROWS' : ''
  const row = { against, cost, sizes, costs: costs.map(round), ratio, mark } as const
  return to === undefined ? row : { ...row, extrapolated: { size: to, cost: beyond(row, to) } }
}

/** By the line through the last two; null where their difference may be noise. */
function beyond({ sizes, costs }: Pick<GrowthRow, 'sizes' | 'costs'>, to: number): number | null {
  const [from = 0, last = 0] = sizes.slice(-2)
  const [low = 0, high = 0] = costs.slice(-2)
  if (high < CLEAR * low) return null
  return round(high + ((high - low) / (last - from)) * (to - last))
}

/** A table of Markdown for each thing that grows. */
export function growthTable(rows: readonly GrowthRow[]): string[] {
  const byThing = Map.groupBy(rows, ({ against }) => against)
  return [...byThing].flatMap(([against, all]) => {
    const [{ sizes, extrapolated } = { sizes: [] }] = all
    const beyondHead = extrapolated === undefined ? [] : [`${shown(extrapolated.size)}*`]
    const head = [against, ...sizes.map(shown), ...beyondHead, 'cost by size']
    const lines = all.map((row) => [
      row.cost,
      ...row.costs.map(shown),
      ...(row.extrapolated === undefined
        ? []
        : [row.extrapolated.cost === null ? '-' : shown(row.extrapolated.cost)]),
      `${shown(row.ratio)} ${row.mark}`.trim(),
    ])
    const cells = [head, head.map(() => '---'), ...lines]
    return [...cells.map((line) => `| ${line.join(' | ')} |`), '']
  })
}

const shown = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
