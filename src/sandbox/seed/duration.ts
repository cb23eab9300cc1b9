import { z } from 'zod'

const UNITS_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const PATTERN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

/** A duration as text, such as `10s`. */
export const Duration = z
  .string()
  .regex(PATTERN, 'expected a time like 500ms, 10s, 1.5m, 2h or 3d')
  .meta({ id: 'Duration', description: 'a length of time: 500ms, 10s, 1.5m, 2h, 3d' })

/** @param duration one that `Duration` accepts. @returns whole milliseconds */
export function parseDurationMs(duration: string): number {
  const [, count, unit] = PATTERN.exec(duration) ?? []
  return Math.round(Number(count) * (UNITS_MS[unit ?? ''] ?? 0))
}
