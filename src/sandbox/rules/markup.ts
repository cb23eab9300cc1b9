import { firstProblem } from '../../api/common.ts'
import { Markup } from '../../api/markup.ts'
import { no } from '../failure.ts'

/** Takes `markup` as it came, present and not null. @throws ServiceNo `bad_markup` */
export function readMarkup(markup: unknown): Markup {
  const parsed = Markup.safeParse(markup)
  if (!parsed.success) throw no('bad_markup', `markup: ${firstProblem(parsed.error)}`)
  return parsed.data
}
